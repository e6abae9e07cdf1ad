using System;
using System.Collections.Generic;

class Work {
    static int Fib(int n) { return n < 2 ? n : Fib(n - 1) + Fib(n - 2); }

    static int Sorted(int n) {
        var list = new List<int>();
        for (int i = 0; i < n; i++) list.Add(i * 7919 % 1009);
        list.Sort((a, b) => a.CompareTo(b));
        return list[0] + list[n - 1];
    }

    static void Main() {
        long sum = 0;
        for (int i = 0; i < 400; i++) {
            sum += Fib(18) + Sorted(5000);
            try { if (i % 7 == 0) throw new ArgumentException("seven"); } catch (ArgumentException e) { sum += e.Message.Length; }
        }
        Console.WriteLine(sum);
    }
}
