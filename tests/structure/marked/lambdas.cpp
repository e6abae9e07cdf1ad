// SPDX-License-Identifier: Apache-2.0
// A nest in a template that takes a lambda: the vector body has only lines of the lambda, and the compiler leaves
// instructions of the caller in the nest.
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Field {
	int width, height;
	std::vector<double> cells;
	double &cell(int x, int y) { return cells[(size_t)y * width + x]; }
	template <class Body> void inside(Body body)
	{
		for (int y = 1; y < height - 1; y++) // loop 1 in inside
			for (int x = 1; x < width - 1; x++) // loop 2 in inside
				body(x, y);
	}
};

template <class Body> static inline void repeat(int n, Body body)
{
	for (int i = 0; i < n; i++) // loop 1 in repeat
		body(i);
}

__attribute__((noinline)) void relax(Field &from, Field &to)
{
	from.inside([&](int x, int y) {
		to.cell(x, y) = (from.cell(x - 1, y) + from.cell(x + 1, y) + from.cell(x, y - 1) + from.cell(x, y + 1)) / 4;
	});
}

__attribute__((noinline)) double drag(Field &field)
{
	double sum = 1;
	field.inside([&](int x, int y) {
		sum += field.cell(x, y) / (sum * sum + 1);
	});
	return sum;
}

__attribute__((noinline)) void scale(double *__restrict to, const double *__restrict from, int n)
{
	repeat(n, [&](int i) {
		to[i] = from[i] * 1.5 + 2;
	});
}

__attribute__((noinline)) int longest(const char *text)
{
	int best = 0, run = 0;
	for (; *text; text++) { // loop 1 in longest
		run = text[0] == text[1] ? run + 1 : 0;
		if (run > best)
			best = run;
	}
	return best;
}

int main(int count, char **words)
{
	int n = count > 1 ? atoi(words[1]) : 64;
	Field a{ n, n, std::vector<double>((size_t)n * n, 1.) }, b = a;
	double sum = 0;
	for (int i = 0; i < n; i++) { // loop 1 in main
		relax(a, b);
		scale(a.cells.data(), b.cells.data(), n);
		sum += drag(a);
	}
	printf("%f %d\n", sum, longest(words[0]));
}
