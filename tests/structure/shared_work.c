// SPDX-License-Identifier: Apache-2.0
// Parallel regions of known cost: every thread measures its CPU time in each loop.
// usage: shared_work SECONDS. Prints a line for each loop, by the name in its comment, and context: nanoseconds of all threads.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define N 512
enum { EVEN, HANDED_OUT, SLOPE, N_LOOPS };

static double values[N];
static long long spent[N_LOOPS], in_small, in_large;
static const char *const names[N_LOOPS] = { "even", "handed_out", "slope" };

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static inline double grind(double x, int n)
{
#pragma GCC unroll 1
	for (int k = 0; k < n; k++)
		x = x * 0.999 + 1.0 / (x + k + 1);
	return x;
}

static void __attribute__((noinline)) region(int n, long long *whose)
{
#pragma omp parallel
	{
		long long start = now();
#pragma omp for schedule(static) nowait
		for (int i = 0; i < N; i++) // even
			values[i] = grind(values[i], n);
		long long middle = now();
#pragma omp for schedule(dynamic, 16) nowait
		for (int i = 0; i < N; i++) // handed_out
			values[i] = grind(values[i], 2 * n);
		long long end = now();
#pragma omp atomic
		spent[EVEN] += middle - start;
#pragma omp atomic
		spent[HANDED_OUT] += end - middle;
#pragma omp atomic
		*whose += end - start;
	}
}

static void __attribute__((noinline)) slope(int n)
{
#pragma omp parallel
	{
		long long start = now();
#pragma omp for schedule(static) nowait
		for (int i = 0; i < N; i++) // slope
			values[i] = grind(values[i], i * n / N);
		long long end = now();
#pragma omp atomic
		spent[SLOPE] += end - start;
	}
}

static void __attribute__((noinline)) small(void)
{
	region(400, &in_small);
	__asm__ volatile(""); // no tail call
}

static void __attribute__((noinline)) large(void)
{
	region(1200, &in_large);
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;

	while ((double)now() < seconds * 1e9) {
		small();
		large();
		slope(2000);
	}
	for (int i = 0; i < N_LOOPS; i++)
		printf("%s %lld\n", names[i], spent[i]);
	printf("small %lld\nlarge %lld\n", in_small, in_large);
	return values[0] == 42;
}
