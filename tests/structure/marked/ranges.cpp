// SPDX-License-Identifier: Apache-2.0
// Range-for, algorithms with lambdas, an execution policy that takes a body, templates called twice.
#include <cstdio>
#include <vector>

#define KEEP __attribute__((noinline))

template <typename Body> static inline void parallel_for(int n, const Body &body)
{
	for (int i = 0; i < n; ++i) // loop 1 in parallel_for
		body(i);
}

KEEP double total(const std::vector<double> &values)
{
	double sum = 0;
	for (double value : values) // loop 1 in total
		sum += value / (sum * sum + 1);
	return sum;
}

KEEP void scale(std::vector<double> &values, double by)
{
	parallel_for((int)values.size(), [&](int i) { values[i] = values[i] * by + i; });
}

KEEP long count(const std::vector<std::vector<int>> &rows)
{
	long n = 0;
	for (const auto &row : rows) // loop 1 in count
		for (int cell : row) // loop 2 in count
			if (cell % 3 == 1)
				n += cell;
	return n;
}

KEEP void spread(std::vector<double> &values, int times)
{
	for (int t = 0; t < times; t++) // loop 1 in spread
		parallel_for((int)values.size() - 1, [&](int i) { values[i + 1] += values[i] * 0.25; });
}

int main(int argc, char **)
{
	std::vector<double> values(argc * 1000, 1.5);
	std::vector<std::vector<int>> rows(argc * 10, std::vector<int>(100, argc));
	scale(values, 0.75);
	spread(values, argc);
	std::printf("%f %ld\n", total(values), count(rows));
}
