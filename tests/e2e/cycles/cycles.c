/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loop with long iterations, so that probes do not slow it down much, and two execution paths: every fourth
 * iteration waits for divisions. usage: cycles [ROUNDS]
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define TIMES_8(x) x x x x x x x x

static uint64_t table[1 << 16];

__attribute__((noinline)) uint64_t work(uint64_t rounds)
{
	uint64_t sum = 1;

	for (uint64_t i = 0; i < rounds; i++) {
		TIMES_8(TIMES_8(sum = sum * 3 + i;))
		if (i & 3)
			sum ^= table[sum >> 48];
		else {
			TIMES_8(sum += 0x123456789abcdef / (sum | 1);)
		}
		TIMES_8(sum = (sum >> 7) + sum * 5;)
	}
	return sum;
}

int main(int argc, char **argv)
{
	uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		table[i] = i * 77;
	printf("%llu\n", (unsigned long long)work(rounds));
	return 0;
}
