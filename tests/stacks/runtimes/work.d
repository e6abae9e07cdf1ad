// SPDX-License-Identifier: Apache-2.0
// Recursion in threads and in fibers that are resumed many times, with exceptions, objects and delegates.
import core.thread;
import std.stdio;

class Node
{
    int value;
    this(int value) { this.value = value; }
    int twice() { return 2 * value; }
}

int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

int thrower(int depth)
{
    if (depth == 0)
        throw new Exception("end");
    return thrower(depth - 1) + 1;
}

long inFibers(int rounds)
{
    long sum;
    Fiber[] fibers;
    foreach (i; 0 .. 8)
        fibers ~= new Fiber({
            foreach (round; 0 .. rounds)
            {
                sum += fib(20 + round % 4);
                Fiber.yield();
            }
        });
    foreach (round; 0 .. rounds)
        foreach (fiber; fibers)
            fiber.call();
    return sum;
}

void main()
{
    long sum;
    auto thread = new Thread({ writeln(fib(42)); }).start();
    foreach (i; 0 .. 1_000_000)
        sum += new Node(i).twice();
    foreach (i; 0 .. 3000)
        try
            thrower(20);
        catch (Exception e)
            sum += e.msg.length;
    writeln(sum + inFibers(4000));
    thread.join();
}
