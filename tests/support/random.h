/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random: numbers for tests, the same in every run. The state may start with any value.
 */
#pragma once

#include <stdint.h>

/* 31 bits. */
static inline uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

/* Numbers of every size, small ones more often. */
static inline uint64_t any_number(uint64_t *state)
{
	unsigned bits = (unsigned)(next_random(state) % 65);

	return bits == 0 ? 0 : (next_random(state) << 33 ^ next_random(state)) >> (64 - bits);
}
