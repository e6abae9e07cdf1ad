// SPDX-License-Identifier: Apache-2.0
// Several instances of one generic lambda or template on one line.
#include <cstdio>
#include <vector>

#define KEEP __attribute__((noinline))
#define ALWAYS static inline __attribute__((always_inline))

template <typename T> ALWAYS T sum_of(const std::vector<T> &values)
{
	T sum = 1;
	for (const T &value : values) // loop 1 in sum_of
		sum += value / (sum + 1);
	return sum;
}

KEEP double three(const std::vector<int> &a, const std::vector<double> &b, const std::vector<long> &c)
{
	return sum_of(a) + sum_of(b) + sum_of(c); // instances 3
}

template <typename... Ts> ALWAYS double all(const std::vector<Ts> &...values)
{
	auto one = [](const auto &list) __attribute__((always_inline)) {
		double sum = 1;
		for (auto value : list) // loop 1 in }::operator()|$_0::operator()
			sum += value / (sum + 1);
		return sum;
	};
	return (one(values) + ...); // instances 3
}

KEEP double folded(const std::vector<int> &a, const std::vector<double> &b, const std::vector<long> &c)
{
	return all(a, b, c);
}

KEEP void grids(std::vector<float> &a, std::vector<double> &b, int n)
{
	auto smooth = [n](auto &grid) __attribute__((always_inline)) {
		for (int y = 1; y < n; y++) // loop 1 in }::operator()|$_0::operator()
			for (int x = 1; x < n; x++) // loop 2 in }::operator()|$_0::operator()
				grid[y * n + x] = (grid[y * n + x - 1] + grid[y * n - n + x]) / 2;
	};
	smooth(a), smooth(b); // instances 2
}

int main(int n, char **)
{
	std::vector<int> a(1000 * n, n);
	std::vector<double> b(1000 * n, n + .5);
	std::vector<long> c(1000 * n, n + 7);
	std::vector<float> d(1024, n);
	grids(d, b, 24);
	std::printf("%f %f %f\n", three(a, b, c), folded(a, b, c), d[5] + b[7]);
}
