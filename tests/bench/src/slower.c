/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slower: counted loops, the same work in every run. scan has 40 % of it; the others, which compilers fold
 * into one, have 60 %. Built with -DSLOWER=5, scan takes 5 % longer. usage: slower ROUNDS
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef SLOWER
#define SLOWER 0
#endif
#define UNIT 20000 /* iterations */

static volatile uint64_t sink;

/* Each iteration depends on the previous one. */
#define WORK(name, units)                                                                    \
	static __attribute__((noinline)) void name(void)                                     \
	{                                                                                    \
		uint64_t x = sink;                                                           \
		for (uint64_t i = 0; i < (uint64_t)((units) * UNIT); i++)                    \
			x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407); \
		sink = x;                                                                    \
	}

WORK(scan, 4 * (100 + SLOWER) / 100.0)
WORK(reduce, 1)
WORK(look_up, 1)
WORK(check, 1)
WORK(layout, 1)
WORK(paint, 1)
WORK(hash, 1)

static __attribute__((noinline)) void parse(void)
{
	scan();
	reduce();
	sink++;
}

static __attribute__((noinline)) void handle(void)
{
	parse();
	look_up();
	check();
	sink++;
}

static __attribute__((noinline)) void render(void)
{
	layout();
	paint();
	sink++;
}

int main(int argc, char **argv)
{
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;

	for (unsigned long i = 0; i < rounds; i++) {
		handle();
		render();
		hash();
	}
	printf("%llu\n", (unsigned long long)sink);
	return 0;
}
