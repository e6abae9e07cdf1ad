/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two functions whose ways are known.
 *
 * weigh: a loop with branches at the same depth, of which one is seldom reached. It stands first, so that
 * whoever does not know how often each is executed leaves out its probe, and not that of the one behind it.
 *
 * shares: one of four calls takes the first way, at random.
 */
#include <stdint.h>
#include <stdlib.h>

static volatile uint64_t sink;

/* What a compiler cannot do without a branch. */
#define DO(n) (sink = sink + (n))

__attribute__((noinline)) void nothing(void)
{
	__asm__ volatile("");
}

__attribute__((noinline)) void weigh(uint64_t rounds)
{
	for (uint64_t i = 0; i < rounds; i++) {
		nothing(); /* the branch behind a call needs a probe of its own */
		if ((i & 1023) == 0) {
			if (i & 1024)
				goto third; /* seldom reached */
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
