// SPDX-License-Identifier: Apache-2.0
// C++20 ranges: the loops of adaptors are the library's, the loops around them the program's.
#include <algorithm>
#include <cstdio>
#include <ranges>
#include <vector>

#define KEEP __attribute__((noinline))

KEEP long odd(const std::vector<int> &values)
{
	long sum = 0;
	for (int value : values | std::views::filter([](int v) { return v & 1; })) // loop 1 in odd
		sum += value;
	return sum;
}

KEEP long squares(const std::vector<int> &values)
{
	long sum = 0;
	for (long value : values | std::views::transform([](int v) { return (long)v * v; })) // loop 1 in squares
		sum ^= value + (sum >> 3);
	return sum;
}

KEEP void fill(std::vector<int> &values, int seed)
{
	for (int i : std::views::iota(0, (int)values.size())) // loop 1 in fill
		values[i] = (values[i] + seed) / (i + 1);
}

KEEP long pairs(int n)
{
	long sum = 0;
	for (int i : std::views::iota(0, n)) // loop 1 in pairs
		for (int j : std::views::iota(i, n)) // loop 2 in pairs
			sum += i % (j + 1);
	return sum;
}

KEEP long first(const std::vector<int> &values, int n)
{
	long sum = 0;
	for (int value : values | std::views::take(n) | std::views::reverse) // loop 1 in first
		sum = sum * 31 + value;
	return sum;
}

KEEP long counts(const std::vector<int> &values, int rounds)
{
	long sum = 0;
	for (int round = 0; round < rounds; round++) // loop 1 in counts
		sum += std::ranges::count_if(values, [=](int v) { return v % (round + 2) == 1; });
	return sum;
}

int main(int n, char **)
{
	std::vector<int> values(1000 * n, n);
	fill(values, n);
	std::printf("%ld %ld %ld %ld %ld\n", odd(values), squares(values), pairs(n + 20), first(values, n + 5), counts(values, n + 2));
}
