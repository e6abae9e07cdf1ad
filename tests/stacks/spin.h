/* SPDX-License-Identifier: Apache-2.0 */
/* Work at the bottom of a stack: some CPU time in frames of several sizes. */
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef LEAF_TURNS /* fewer of them: more of the time is spent in other frames */
#define LEAF_TURNS 4000
#endif
#define OWN __attribute__((noinline, noclone))

static volatile uint64_t sink;

/* How long to run. */
static inline double work_seconds(void)
{
	const char *text = getenv("WORK_SECONDS");

	return text ? atof(text) : 0.2;
}

static inline double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

OWN static uint64_t leaf(uint64_t x)
{
	for (int i = 0; i < LEAF_TURNS; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

OWN static uint64_t wide(uint64_t x)
{
	char buffer[600];

	memset(buffer, (int)x, sizeof(buffer));
	return leaf(x) + (uint64_t)buffer[x % sizeof(buffer)];
}

OWN static uint64_t deeper(uint64_t x, int n)
{
	return n ? deeper(x + 1, n - 1) + 1 : wide(x);
}

/* One unit of work, some tens of microseconds. */
OWN static void work(void)
{
	sink += deeper(sink, 5);
}

OWN static void spin(double seconds)
{
	for (double end = cpu_seconds() + seconds; cpu_seconds() < end;)
		for (int i = 0; i < 20; i++)
			work();
}
