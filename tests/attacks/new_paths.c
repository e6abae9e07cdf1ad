/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions call each other at random, so deep that hardly any call path occurs twice. In between, steady()
 * is always called by the same path. usage: new_paths DEPTH SECONDS (of CPU time)
 */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define WORK 400

static volatile uint64_t sink;

static uint64_t step(uint64_t seed, int depth);

#define STEP(name, odd)                                                          \
	__attribute__((noinline)) static uint64_t name(uint64_t seed, int depth) \
	{                                                                        \
		return step(seed + (odd), depth) * (odd);                        \
	}
STEP(path_0, 3)
STEP(path_1, 5)
STEP(path_2, 7)
STEP(path_3, 9)

__attribute__((noinline)) static uint64_t step(uint64_t seed, int depth)
{
	static uint64_t (*const next[])(uint64_t, int) = { path_0, path_1, path_2, path_3 };
	uint64_t sum = 0;

	for (int i = 0; i < WORK; i++)
		sum += (seed * (uint64_t)i) ^ (seed >> 3);
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return sum + (depth > 0 ? next[seed >> 62](seed, depth - 1) : 0) + 1;
}

__attribute__((noinline)) static void steady(void)
{
	for (int i = 0; i < WORK * 4; i++)
		sink += (uint64_t)i;
}

int main(int argc, char **argv)
{
	int depth = argc > 1 ? atoi(argv[1]) : 40;
	clock_t end = (clock_t)((argc > 2 ? atof(argv[2]) : 0.4) * CLOCKS_PER_SEC);

	for (uint64_t seed = 1; clock() < end; seed++) {
		sink += step(seed * 77, depth);
		steady();
	}
}
