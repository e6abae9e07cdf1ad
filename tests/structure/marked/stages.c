/* SPDX-License-Identifier: Apache-2.0 */
/* Stages of a computation that are inlined into one loop, and timed: compilers mix their code, that of the clock and that of the
 * loop around them. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define N 4096

static double from[N], to[N], sums[N];
static double spent[3];
static volatile long kept;

static inline double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static inline double series(double x)
{
	double sum = 0;

	for (int i = 0; i < 100; i++) // loop 1 in series
		sum = sum * x + i;
	return sum;
}

static inline void expand(int repeats)
{
	for (int r = 0; r < repeats; r++) // loop 1 in expand
		for (int i = 0; i < N; i++) // loop 2 in expand
			to[i] = series(from[i]);
}

static inline void smooth(int repeats)
{
	for (int r = 0; r < repeats; r++) // loop 1 in smooth
		for (int i = 1; i < N; i++) // loop 2 in smooth
			sums[i] = sums[i - 1] * 0.5 + to[i];
}

static inline long choose(int repeats)
{
	long chosen = 0;

	for (int r = 0; r < repeats; r++) // loop 1 in choose
		for (int i = 0; i < N; i++) // loop 2 in choose
			if ((i * 7919 + r) % 13 < 5)
				chosen += i;
			else
				chosen ^= r;
	return chosen;
}

static __attribute__((noinline)) void fill(void)
{
	for (int i = 0; i < N; i++) // loop 1 in fill
		from[i] = i / 1e4;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;

	fill();
	for (int k = 0; k < n; k++) { // loop 1 in main
		double start = now();
		expand(30);
		double expanded = now();
		smooth(40);
		double smoothed = now();
		kept += choose(60);
		double end = now();
		spent[0] += expanded - start;
		spent[1] += smoothed - expanded;
		spent[2] += end - smoothed;
		kept += (long)sums[k % N];
	}
	printf("%.3f %.3f %.3f\n", spent[0], spent[1], spent[2]);
	return 0;
}
