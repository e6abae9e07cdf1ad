// SPDX-License-Identifier: Apache-2.0
// A nest with `continue` in the outer loop, a loop left by goto and by return, one with its test at the end. GCC saves registers
// for the elimination only when it is first needed: there are two copies of the outer loop, one entered in its middle.
#include <stdio.h>

#define KEEP __attribute__((noinline))

KEEP void eliminate(double *a, int n)
{
	for (int k = 0; k < n; k++) { // loop 1 in eliminate
		int p = k;
		for (int i = k + 1; i < n; i++) // loop 2 in eliminate
			if (a[i * n + k] > a[p * n + k])
				p = i;
		if (a[p * n + k] == 0)
			continue;
		for (int i = k + 1; i < n; i++) { // loop 2 in eliminate
			double f = a[i * n + k] / a[p * n + k];
			for (int j = k; j < n; j++) // loop 3 in eliminate
				a[i * n + j] -= f * a[p * n + j];
		}
	}
}

KEEP long sum_lists(long **heads, int n)
{
	long t = 0;

	for (int i = 0; i < n; i++) // loop 1 in sum_lists
		for (long *p = heads[i]; p; p = (long *)p[0]) { // loop 2 in sum_lists
			if (p[1] < 0)
				goto next;
			t += p[1];
			if (t > 1000000)
				return t;
		next:;
		}
	return t;
}

KEEP int read_all(FILE *file, char *buffer, size_t n)
{
	size_t got = 0;
	int tries = 0;

	do { // loop 1 in read_all
		size_t r = fread(buffer + got, 1, n - got, file);
		if (!r && ++tries > 3)
			return -1;
		if (!r)
			continue;
		got += r;
	} while (got < n);
	return 0;
}

int main(int argc, char **argv)
{
	static double a[100];
	long cell[2] = { 0, 4 }, *heads[1] = { cell };
	char buffer[16];

	for (int i = 0; i < 100; i++) // loop 1 in main
		a[i] = (i * 7 % 11) + argc;
	eliminate(a, 10);
	FILE *file = fopen(argv[0], "r");
	printf("%g %ld %d\n", a[99], sum_lists(heads, 1), file ? read_all(file, buffer, sizeof(buffer)) : 0);
	return 0;
}
