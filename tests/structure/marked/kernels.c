// SPDX-License-Identifier: Apache-2.0
// Loops that compilers vectorise, and some that they cannot.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define N 4096
#define KEEP __attribute__((noinline))

struct pair {
	double x, y;
};

static float f[N], g[N], h[N];
static double d[N], e[N];
static int32_t a[N], b[N];
static uint8_t bytes[N], more[N];
static struct pair from[N], to[N];

KEEP void axpy(float k, const float *x, float *restrict y, int n)
{
	for (int i = 0; i < n; i++) // loop 1 in axpy
		y[i] += k * x[i];
}

KEEP int32_t sum(const int32_t *x, int n)
{
	int32_t s = 0;
	for (int i = 0; i < n; i++) // loop 1 in sum
		s += x[i];
	return s;
}

KEEP int32_t largest(const int32_t *x, int n)
{
	int32_t most = x[0];
	for (int i = 1; i < n; i++) // loop 1 in largest
		most = x[i] > most ? x[i] : most;
	return most;
}

KEEP void widen(const int32_t *x, double *restrict y, int n)
{
	for (int i = 0; i < n; i++) // loop 1 in widen
		y[i] = x[i] * 0.5;
}

KEEP void masks(const uint8_t *x, uint8_t *restrict y, int n)
{
	for (int i = 0; i < n; i++) // loop 1 in masks
		y[i] = (uint8_t)((x[i] ^ 0x55) & 0x7f);
}

KEEP void pick(const float *x, const float *z, float *restrict y, int n)
{
	for (int i = 0; i < n; i++) // loop 1 in pick
		y[i] = x[i] > 0 ? x[i] * 2 : z[i] + 1;
}

KEEP double chain(const double *x, int n)
{
	double s = 1;
	for (int i = 0; i < n; i++) // loop 1 in chain
		s = s * 0.99 + x[i] / s;
	return s;
}

KEEP int find(const int32_t *x, int n, int32_t what)
{
	for (int i = 0; i < n; i++) // loop 1 in find
		if (x[i] == what)
			return i;
	return -1;
}

KEEP void smooth(const double *x, double *restrict y, int rows, int columns)
{
	for (int r = 1; r < rows - 1; r++) // loop 1 in smooth
		for (int c = 1; c < columns - 1; c++) // loop 2 in smooth
			y[r * columns + c] = (x[r * columns + c - 1] + x[r * columns + c + 1]) * 0.5;
}

KEEP long collatz(long n)
{
	long steps = 0;
	while (n != 1) { // loop 1 in collatz
		n = n & 1 ? 3 * n + 1 : n / 2;
		steps++;
	}
	return steps;
}

KEEP void swap(const struct pair *x, struct pair *restrict y, int n)
{
	for (int i = 0; i < n; i++) { // loop 1 in swap
		y[i].x = x[i].y + 1;
		y[i].y = x[i].x + 2;
	}
}

int main(int argc, char **argv)
{
	(void)argv;
	int n = argc > 1 ? 100 : N;
	axpy(2, f, g, n);
	widen(a, d, n);
	masks(bytes, more, n);
	pick(f, g, h, n);
	smooth(d, e, 64, 64);
	swap(from, to, n);
	printf("%d %d %f %d %ld %f %f %f\n", sum(a, n), largest(b, n), chain(d, n), find(b, n, 7), collatz(27), (double)g[3] + h[5], e[70] + d[3],
	       to[2].x + more[1]);
	return 0;
}
