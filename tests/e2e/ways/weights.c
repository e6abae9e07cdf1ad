/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two functions whose execution paths (ways) are known.
 *
 * weigh: a loop with branches at the same depth, one of which is rarely reached. It comes first, so that
 * without execution counts its probe is omitted, and not that of the frequent one after it.
 *
 * shares: one of four calls takes the first way, at random.
 */
#include <stdint.h>
#include <stdlib.h>

static volatile uint64_t sink;

/* Keeps the compiler from replacing branches by conditional instructions. */
#define DO(n) (sink = sink + (n))

__attribute__((noinline)) void nothing(void)
{
	__asm__ volatile("");
}

__attribute__((noinline)) void weigh(uint64_t rounds)
{
	for (uint64_t i = 0; i < rounds; i++) {
		nothing(); /* a branch after a call needs its own probe */
		if ((i & 1023) == 0) {
			if (i & 1024)
				goto third; /* rarely reached */
			goto second;
		}
	second:
		if (i & 1) {
			if (i & 2)
				DO(1);
			DO(3);
		} else {
		third:
			if (i & 4)
				DO(5);
			DO(7);
		}
	}
}

__attribute__((noinline)) uint64_t shares(uint64_t state)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	if ((state & 3) == 0)
		DO(1);
	else
		DO(2);
	return state;
}

int main(int argc, char **argv)
{
	uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 0) : 100000, state = 88172645463325252u;

	if (argc > 2) {
		for (uint64_t i = 0; i < rounds; i++)
			state = shares(state);
		return 0;
	}
	weigh(rounds);
	return 0;
}
