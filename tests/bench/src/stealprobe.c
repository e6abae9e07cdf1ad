/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stealprobe SECONDS STACK_KB: the time that a profiler takes from its target, as measured by the target.
 *
 * Reads the cycle counter in a tight loop below a stack of STACK_KB and collects every gap between 0.4
 * and 200 us: these are the sampling interrupt and the copying of the stack. Longer gaps are caused by the
 * scheduler and are left out. This avoids the noise of throughput measurements.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_GAPS 4000000
#define SHORTEST 0.4e-6
#define LONGEST 200e-6

#if defined(__x86_64__)
#include <x86intrin.h>
static uint64_t ticks(void)
{
	return __rdtsc();
}
#else
static uint64_t ticks(void)
{
	uint64_t t;

	__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(t));
	return t;
}
#endif

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double ticks_per_second(void)
{
	double start = now();
	uint64_t from = ticks();

	while (now() < start + 0.2)
		;
	return (double)(ticks() - from) / (now() - start);
}

static int by_value(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return x < y ? -1 : x > y;
}

static __attribute__((noinline)) int probe(double seconds)
{
	static float gaps[MAX_GAPS];
	double hz = ticks_per_second(), sum = 0;
	uint64_t shortest = (uint64_t)(hz * SHORTEST), longest = (uint64_t)(hz * LONGEST), away = 0;
	int n = 0;
	uint64_t start = ticks(), last = start, end = start + (uint64_t)(seconds * hz);

	while (last < end) {
		uint64_t t = ticks(), gap = t - last;
		last = t;
		if (gap < shortest)
			continue;
		if (gap > longest)
			away += gap;
		else if (n < MAX_GAPS)
			gaps[n++] = (float)((double)gap / hz * 1e6);
		last = ticks();
	}
	double run = (double)(last - start - away) / hz;
	for (int i = 0; i < n; i++)
		sum += gaps[i];
	qsort(gaps, (size_t)n, sizeof(*gaps), by_value);
	printf("{\"run_s\":%.3f,\"gaps\":%d,\"stolen_pct\":%.4f,\"gap_us_p50\":%.2f,\"gap_us_p99\":%.2f}\n", run, n,
	       100 * sum / 1e6 / run, n ? gaps[n / 2] : 0, n ? gaps[n * 99 / 100] : 0);
	return n;
}

static __attribute__((noinline)) int below(int kb, double seconds)
{
	volatile char frame[1000];

	memset((void *)frame, kb, sizeof(frame));
	int n = kb <= 0 ? probe(seconds) : below(kb - 1, seconds);
	return n + frame[5];
}

int main(int argc, char **argv)
{
	below(argc > 2 ? atoi(argv[2]) : 100, argc > 1 ? atof(argv[1]) : 5);
	return 0;
}
