// SPDX-License-Identifier: Apache-2.0
// Loops made of goto and switch: retries, state machines, several entries.
#include <stdio.h>
#include <stdlib.h>

#define KEEP __attribute__((noinline))

KEEP int backoff(int (*try)(int), int limit)
{
	int wait = 1, n = 0;

retry: // loop 1 in backoff
	n += try(wait);
	if (n < limit) {
		wait = wait * 2 + n;
		goto retry;
	}
	return wait;
}

/* A scanner: one loop, however the states are compiled. */
KEEP int scan(const char *text)
{
	enum { SPACE, WORD, NUMBER } state = SPACE;
	int n = 0;

	for (; *text; text++) { // loop 1 in scan
		switch (state) {
		case SPACE:
			if (*text >= '0' && *text <= '9') {
				state = NUMBER;
				n += 100;
			} else if (*text != ' ') {
				state = WORD;
				n++;
			}
			break;
		case WORD:
			if (*text == ' ')
				state = SPACE;
			break;
		case NUMBER:
			if (*text == ' ')
				state = SPACE;
			else
				n += *text - '0';
			break;
		}
	}
	return n;
}

/* A loop in one case of a switch in a loop. */
KEEP long run(const unsigned char *code, long value)
{
	while (1) { // loop 1 in run
		switch (*code++) {
		case 'a':
			value += *code++;
			break;
		case 'm':
			value *= *code++;
			break;
		case 'r':
			for (int i = *code++; i > 0; i--) // loop 2 in run
				value = value * 3 / (i + 1);
			break;
		case 's':
			value >>= *code++ & 7;
			break;
		case 'n':
			value = -value;
			break;
		default:
			return value;
		}
	}
}

/* Braces on separate lines. */
KEEP long gnu(const unsigned char *code, long value)
{
	for (;;) // loop 1 in gnu
	{
		switch (*code++)
		{
		case 'a':
			value += *code++;
			break;
		case 'm':
			value *= 7;
			break;
		case 'n':
			if (value & 1)
			{
				value = -value;
				continue;
			}
			value >>= 1;
			break;
		default:
			return value;
		}
		value ^= value >> 5;
	}
}

/* Duff's device, with the loop's head in the first case. */
KEEP void send(volatile int *to, const int *from, int count)
{
	int n = (count + 7) / 8;

	switch (count % 8) {
	case 0: do { *to = *from++; // loop 1 in send
	case 7:      *to = *from++;
	case 6:      *to = *from++;
	case 5:      *to = *from++;
	case 4:      *to = *from++;
	case 3:      *to = *from++;
	case 2:      *to = *from++;
	case 1:      *to = *from++;
		} while (--n > 0);
	}
}

/* The first iteration starts in the middle. */
KEEP int alternate(int *values, int n, int start)
{
	int i = 0;

	if (start)
		goto second;
	while (i < n) { // loop 1 in alternate
		values[i] = values[i] / (i + 1);
		i++;
second:
		values[i] ^= i * 5;
		i += values[i] & 1 ? 1 : 2;
	}
	return i;
}

/* The same, around a loop that is entered only from there. */
KEEP long digits(const long *values, int n, int start)
{
	long sum = 0;
	int i = 0;

	if (start)
		goto middle;
	while (i < n) { // loop 1 in digits
		sum += values[i] / (sum + 3);
		i++;
middle:
		for (long rest = values[i]; rest > 1; rest /= 3) // loop 2 in digits
			sum ^= rest * i;
		i += sum & 1 ? 1 : 2;
	}
	return sum;
}

/* Two nested loops made of goto. */
KEEP long nested(const long *rows, int height, int width)
{
	long sum = 0;
	int y = 0, x;

row: // loop 1 in nested
	x = 0;
cell: // loop 2 in nested
	sum += rows[y * width + x] / (sum + 1);
	if (++x < width)
		goto cell;
	if (++y < height)
		goto row;
	return sum;
}

/* A search that is left from inside, and restarted. */
KEEP int again(const int *values, int n, int wanted)
{
	int rounds = 0;

restart:
	for (int i = 0; i < n; i++) { // loop 1,2 in again
		if (values[i] == wanted)
			return i + rounds;
		if (values[i] > wanted) {
			wanted += values[i] / 2 + rounds++;
			goto restart;
		}
	}
	return -1;
}

KEEP int attempt(int n)
{
	return n & 3;
}

int main(int n, char **words)
{
	int values[64] = { n, 3, 5 };
	long rows[64] = { n, 7, 9 };

	send(&n, values, n + 9);
	printf("%ld %ld %d %d %ld %d %ld %d\n", digits(rows, 40, n), gnu((const unsigned char *)words[0], n), backoff(attempt, n + 5), scan(words[0]), run((const unsigned char *)words[0], n),
	       alternate(values, 40, n), nested(rows, n + 1, 4), again(values, 8, n));
	return 0;
}
