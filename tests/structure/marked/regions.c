// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double *in, *out;

__attribute__((noinline)) double grind(double x, int n)
{
	for (int i = 0; i < n; i++) // loop 1 in grind
		x = x * 0.5 + 1.0 / (x + i);
	return x;
}

__attribute__((noinline)) double rows(int n, int m)
{
	double sum = 0;
#pragma omp parallel for reduction(+ : sum) // loops
	for (int i = 0; i < n; i++)         // loop 1 in rows|omp_outlined
		for (int k = 0; k < m; k++) // loop 2 in rows|omp_outlined
			sum += sqrt(in[i] + k);
	return sum;
}

__attribute__((noinline)) void columns(int n)
{
#pragma omp parallel
	{
#pragma omp for schedule(static)            // loops
		for (int i = 0; i < n; i++) // loop 1 in columns|omp_outlined
			out[i] = grind(in[i], 9);
	}
}

__attribute__((noinline)) double corners(int n, int m)
{
	double sum = 0;
#pragma omp parallel
	{
#pragma omp for reduction(+ : sum)                         // loops 2
		for (int i = 0; i < n; i++)                // loop 1 in corners|omp_outlined
			for (int k = 0; k <= (m & 255); k++) // loop 2 in corners|omp_outlined
				sum += sqrt(in[i] + k * out[i]);
	}
	return sum;
}

int main(int count, char **words)
{
	int n = 1000, times = count > 1 ? atoi(words[1]) : 3;
	double sum = 0;
	in = malloc(sizeof(*in) * (size_t)n);
	out = malloc(sizeof(*out) * (size_t)n);
	for (int i = 0; i < n; i++) // loop 1 in main
		in[i] = out[i] = i;
	for (int t = 0; t < times; t++) { // loop 1 in main
		sum += rows(n, times);
		columns(n);
		sum += corners(n, times);
	}
	printf("%f %f\n", sum, out[7]);
}
