/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that are inlined into one loop and start with the same test: GCC threads the jumps from one to the next, so that regions
 * with several entries contain ordinary loops. */
#include <stdio.h>
#include <stdlib.h>

#define MOST 4096

struct item {
	struct item *next;
	long value;
};

double points[MOST], curve[MOST];
int cells[MOST], sums[MOST];
unsigned char first[MOST], second[MOST];
struct item *items;
int width = 8;
static volatile double kept;

static inline long divisor(long a, long b)
{
	while (b) { // loop 1 in divisor
		long rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static inline void add_rows(int *restrict to, const int *restrict from, int n)
{
	for (int i = 0; i < n / width; i++) { // loop 1 in add_rows
		int sum = 0;

		for (int j = 0; j < width; j++) // loop 2 in add_rows
			sum += from[i * width + j];
		to[i] = sum;
	}
}

static inline long add_items(struct item *item)
{
	long sum = 0;

	while (item) { // loop 1 in add_items
		sum += item->value;
		item = item->next;
	}
	return sum;
}

static inline void average(unsigned char *restrict to, const unsigned char *restrict from, int n)
{
	for (int i = 0; i < n; i++) // loop 1 in average
		to[i] = (unsigned char)((from[i] + to[i] + 1) >> 1);
}

static inline double series(double x)
{
	double sum = 0;

	for (int i = 0; i < width; i++) // loop 1 in series
		sum = sum * x + i;
	return sum;
}

static inline void draw(double *restrict to, const double *restrict from, int n)
{
	for (int i = 0; i < n; i++) // loop 1 in draw
		to[i] = series(from[i]);
}

static inline void sort(int *list, int n)
{
	for (int i = 1; i < n; i++) { // loop 1 in sort
		int value = list[i], j = i;

		while (j > 0 && list[j - 1] > value) { // loop 2 in sort
			list[j] = list[j - 1];
			j--;
		}
		list[j] = value;
	}
}

static __attribute__((noinline)) void collect(int rounds, int n)
{
	for (int r = 0; r < rounds; r++) { // loop 1 in collect
		kept += divisor(r + 12, n);
		add_rows(sums, cells, n);
		kept += add_items(items);
		average(first, second, n);
	}
}

static __attribute__((noinline)) void compute(int rounds, int n)
{
	for (int r = 0; r < rounds; r++) { // loop 1 in compute
		draw(curve, points, n);
		add_rows(sums, cells, n);
		sort(cells, width);
		add_rows(sums, cells, n);
	}
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1, n = argc > 2 ? atoi(argv[2]) : MOST;

	width = argc + 7;
	collect(rounds, n);
	compute(rounds, n);
	printf("%g %d %g %d\n", kept, sums[3], curve[3], first[3]);
	return 0;
}
