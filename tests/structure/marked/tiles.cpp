// SPDX-License-Identifier: Apache-2.0
// Loops in templates that take a lambda, as in libraries for parallel programs: over vectors, in tiles, around a nest.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <vector>

#define KEEP __attribute__((noinline))

template <class F> static inline void each(size_t n, F f)
{
	for (size_t i = 0; i < n; i++) // loop 1 in each
		f(i);
}

template <class F> static inline void tiled(size_t n, size_t m, size_t tile, F f)
{
	for (size_t top = 0; top < n; top += tile) // loop 1 in tiled
		for (size_t left = 0; left < m; left += tile) // loop 2 in tiled
			for (size_t i = top; i < std::min(n, top + tile); i++) // loop 3 in tiled
				for (size_t j = left; j < std::min(m, left + tile); j++) // loop 4 in tiled
					f(i, j);
}

struct view {
	double *cells;
	size_t stride;
	double &operator()(size_t i, size_t j) const { return cells[i * stride + j]; }
};

// clang leaves in the vector body only `i++` of the `for`, and in the remainder only the rest of it.
KEEP void add(std::vector<double> &to, const std::vector<double> &from, double factor)
{
	each(to.size(), [&](size_t i) { to[i] += factor * from[i]; });
}

KEEP void transpose(view to, view from, size_t n)
{
	tiled(n, n, 16, [=](size_t i, size_t j) { to(j, i) = from(i, j); });
}

KEEP void multiply(view to, view a, view b, size_t n)
{
	each(n, [=](size_t i) {
		for (size_t k = 0; k < n; k++) { // loop 1 in multiply
			double x = a(i, k);
			for (size_t j = 0; j < n; j++) // loop 2 in multiply
				to(i, j) += x * b(k, j);
		}
	});
}

KEEP int sieve(std::vector<char> &is_multiple, int n)
{
	int count = 0;

	for (int i = 2; i < n; ++i) { // loop 1 in sieve
		if (is_multiple[i])
			continue;
		++count;
		for (long j = (long)i * i; j < n; j += i) // loop 2 in sieve
			is_multiple[j] = 1;
	}
	return count;
}

int main()
{
	size_t n = 128;
	std::vector<double> a(n * n, 1.5), b(n * n, 0.5), c(n * n);
	std::vector<char> is_multiple(1000);

	add(a, b, 2);
	transpose({ b.data(), n }, { a.data(), n }, n);
	multiply({ c.data(), n }, { a.data(), n }, { b.data(), n }, n);
	printf("%g %d\n", c[5], sieve(is_multiple, 1000));
}
