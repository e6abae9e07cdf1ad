// SPDX-License-Identifier: Apache-2.0
// Coroutines: a loop in the body is left at each co_yield and re-entered in its middle. Where every iteration yields,
// no cycle is left in the code: nothing is required there.
#include <coroutine>
#include <cstdio>
#include <cstdlib>

#define KEEP __attribute__((noinline))

template <typename T> struct generator {
	struct promise_type {
		T value;
		generator get_return_object() { return { std::coroutine_handle<promise_type>::from_promise(*this) }; }
		std::suspend_always initial_suspend() { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		std::suspend_always yield_value(T next)
		{
			value = next;
			return {};
		}
		void return_void() {}
		void unhandled_exception() { std::abort(); }
	};
	std::coroutine_handle<promise_type> body;
	bool next()
	{
		body.resume();
		return !body.done();
	}
	T value() const { return body.promise().value; }
};

generator<long> squares(long n)
{
	for (long i = 0; i < n; i++) // loops
		co_yield i * i;
}

generator<int> cells(int height, int width)
{
	for (int y = 0; y < height; y++) // loop 1 in cells
		for (int x = 0; x < width; x++) // loops
			co_yield y * width + x;
}

generator<unsigned> collatz(unsigned n)
{
	while (n != 1) { // loops
		co_yield n;
		if (n & 1)
			n = 3 * n + 1;
		else
			n /= 2;
	}
}

generator<long> primes(long limit)
{
	for (long n = 2; n < limit; n++) { // loop 1 in primes
		bool is_prime = true;
		for (long d = 2; d * d <= n; d++) // loop 2 in primes
			if (n % d == 0) {
				is_prime = false;
				break;
			}
		if (is_prime)
			co_yield n;
	}
}

KEEP long total(long n)
{
	auto all = squares(n);
	long sum = 0;
	while (all.next()) // loop 1 in total
		sum += all.value() / (sum + 1);
	return sum;
}

KEEP long mixed(int n)
{
	auto grid = cells(n, n);
	auto steps = collatz(27);
	long sum = 0;
	for (int i = 0; i < n; i++) { // loop 1 in mixed
		while (grid.next()) // loop 2 in mixed
			sum += grid.value();
		while (steps.next()) // loop 2 in mixed
			sum ^= steps.value();
	}
	return sum;
}

KEEP long last(long limit)
{
	auto found = primes(limit);
	long prime = 0;
	while (found.next()) // loop 1 in last
		prime = found.value();
	return prime;
}

int main(int n, char **)
{
	std::printf("%ld %ld %ld\n", total(1000 * n), mixed(n + 8), last(100 * n));
}
