// SPDX-License-Identifier: Apache-2.0
// Loops whose head has no code, or that are entered in the middle.
#include <stdio.h>

__attribute__((noinline)) int interpret(const unsigned char *code, int value)
{
	for (;;) { // loop 1 in interpret
		switch (*code++) {
		case 0:
			return value;
		case 1:
			value += *code++;
			break;
		case 2:
			value *= 3;
			break;
		case 3:
			if (value & 1)
				code += *code;
			break;
		case 4:
			value ^= value >> 3;
			continue;
		default:
			puts("?");
		}
	}
}

__attribute__((noinline)) void copy(short *to, const short *from, int count)
{
	int n = (count + 3) / 4;

	switch (count % 4) {
	case 0:
		do { // loop 1 in copy
			*to++ = *from++;
	case 3:
			*to++ = *from++;
	case 2:
			*to++ = *from++;
	case 1:
			*to++ = *from++;
		} while (--n > 0);
	}
}

__attribute__((noinline)) int search(const int *values, int n, int wanted)
{
	int low = 0, high = n;

again:
	if (low < high) { // loop 1 in search
		int middle = (low + high) / 2;
		if (values[middle] < wanted)
			low = middle + 1;
		else
			high = middle;
		goto again;
	}
	return low;
}

/* This is a real nest, though both loops start on one line. */
#define CELLS(y, height, x, width) for (int y = 0; y < height; y++) for (int x = 0; x < width; x++)

__attribute__((noinline)) int visit(const int *cells, int height, int width)
{
	int sum = 0;

	CELLS(y, height, x, width) { // loop 1,2 in visit
		int cell = cells[y * width + x];
		if (cell > sum)
			sum += cell / (sum + 1);
		sum ^= x;
	}
	return sum;
}

int main(int n, char **words)
{
	short a[8] = { 1, 2, 3 }, b[8];
	int c[4] = { 1, 2, 4, 9 };

	copy(b, a, n + 4);
	return interpret((const unsigned char *)words[0], n) + search(c, 4, n) + b[n & 7] + visit(c, 2, n);
}
