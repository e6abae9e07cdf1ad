/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shares: a fixed amount of work in functions of known weight. Order and length of the pieces are
 * pseudo-random: otherwise a sampler with a fixed rate could be in step with the program, and see some
 * functions too often and others never.
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

/* Same code, so that a step costs the same in each; noipa prevents merging. */
#define WORKER(name)                                                                \
	__attribute__((noinline, noclone)) static uint64_t name(uint64_t x, long n) \
	{                                                                           \
		for (long i = 0; i < n; i++)                                        \
			x = (x ^ (x >> 7)) * 6364136223846793005u + sizeof(#name);  \
		return x;                                                           \
	}
WORKER(heavy)
WORKER(medium_one)
WORKER(small_function)
WORKER(tiny)

int main(int argc, char **argv)
{
	static uint64_t (*const workers[])(uint64_t, long) = {
		heavy,          heavy,          heavy,          heavy,      heavy,
		heavy,          heavy,          heavy,          heavy,      heavy,
		medium_one,     medium_one,     medium_one,     medium_one, medium_one,
		small_function, small_function, small_function, tiny,       work,
	};
	enum { N_WORKERS = sizeof(workers) / sizeof(workers[0]) };
	long unit = argc > 1 ? atol(argv[1]) : 1000;
	uint64_t x = 1, dice = 42;

	for (long piece = 0; piece < 80000; piece++) {
		dice = dice * 6364136223846793005u + 1442695040888963407u;
		x = workers[(dice >> 33) % N_WORKERS](x, unit + (long)(dice >> 48) % unit);
	}
	printf("%llu\n", (unsigned long long)x);
	return 0;
}
