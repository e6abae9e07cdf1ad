/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that are called only through a table, each with a cold part elsewhere that leads back to it.
 * cold.py strips this program: then the cold parts have nothing but unwind entries, like functions.
 */
#include <stdio.h>
#include <stdlib.h>

volatile int sink;

__attribute__((cold, noinline)) int complain(int value)
{
	fprintf(stderr, "%d\n", value);
	return value & 7;
}

#define STAGE(number)                                                         \
	static int stage_##number(int *values, int n)                         \
	{                                                                     \
		int sum = number, worst = 0;                                  \
		for (int i = 0; i < n; i++) {                                 \
			if (values[i] < -(number)) {                          \
				worst = complain(values[i] * (number)) + sum; \
				values[i] = complain(worst - i);              \
			}                                                     \
			sum += values[i] * (number) + sink;                   \
			sink = worst;                                         \
		}                                                             \
		return sum - worst;                                           \
	}

STAGE(3)
STAGE(5) STAGE(7) STAGE(11) STAGE(13)

	int (*volatile stages[])(int *, int) = { stage_3, stage_5, stage_7, stage_11, stage_13 };

int main(int argc, char **argv)
{
	int values[64], sum = 0;

	for (int i = 0; i < 64; i++)
		values[i] = atoi(argv[i % argc]);
	for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]); i++)
		sum += stages[i](values, 64);
	return sum & 1;
}
