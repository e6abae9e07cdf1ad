/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shares: a fixed amount of work in functions of known weight, whatever else the machine is doing.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static uint64_t work(uint64_t x, long n)
{
	for (long i = 0; i < n; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

/* Same code, so that a step costs the same everywhere; noipa keeps them apart. */
#define WORKER(name)                                                     \
	__attribute__((noinline, noclone)) static uint64_t name(uint64_t x, long n) \
	{                                                                \
		for (long i = 0; i < n; i++)                             \
			x = (x ^ (x >> 7)) * 6364136223846793005u + sizeof(#name); \
		return x;                                                \
	}
WORKER(heavy)
WORKER(medium_one)
WORKER(small_function)
WORKER(tiny)

int main(int argc, char **argv)
{
	long unit = argc > 1 ? atol(argv[1]) : 20000;
	uint64_t x = 1;

	for (int round = 0; round < 200; round++) {
		x = heavy(x, 10 * unit);
		x = medium_one(x, 5 * unit);
		x = small_function(x, 3 * unit);
		x = tiny(x, unit);
		x = work(x, unit);
	}
	printf("%llu\n", (unsigned long long)x);
	return 0;
}
