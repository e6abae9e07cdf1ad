/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define T 16
static int N;
static int cmpd(const void *a, const void *b)
{
	double x = *(double *)a, y = *(double *)b;
	return x < y ? -1 : x > y;
}
__attribute__((noinline)) static double mm(double *a, double *b, double *c, int n)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++) {
			double s = 0;
			for (int k = 0; k < n; k++)
				s += a[i * n + k] * b[k * n + j];
			c[i * n + j] = s;
		}
	return c[n + 1];
}
__attribute__((noinline)) static double srt(double *a, int n, unsigned *r)
{
	for (int i = 0; i < n; i++)
		a[i] = rand_r(r);
	qsort(a, n, sizeof *a, cmpd);
	return a[n / 2];
}
__attribute__((noinline)) static double trig(int n)
{
	double s = 0;
	for (int i = 0; i < n; i++)
		s += sin(i * .01) * exp(-i * 1e-4) + pow(i, .3);
	return s;
}
__attribute__((noinline)) static long fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
static void *work(void *p)
{
	unsigned r = (unsigned)(long)p;
	double *a = malloc(8 * 10000), *b = malloc(8 * 10000), *c = malloc(8 * 10000);
	double s = 0;
	for (int i = 0; i < 10000; i++)
		a[i] = b[i] = i % 7;
	for (int i = 0; i < N; i++) {
		s += mm(a, b, c, 100);
		s += srt(a, 4000, &r);
		s += trig(20000);
		s += fib(20);
		char *q = malloc(3000 + i);
		memset(q, i, 3000);
		s += q[5];
		free(q);
	}
	double *res = malloc(8);
	*res = s;
	free(a);
	free(b);
	free(c);
	return res;
}
int main(int ac, char **av)
{
	N = ac > 1 ? atoi(av[1]) : 50;
	pthread_t t[T];
	for (long i = 0; i < T; i++)
		pthread_create(t + i, 0, work, (void *)(i + 1));
	double s = 0;
	for (int i = 0; i < T; i++) {
		void *r;
		pthread_join(t[i], &r);
		s += *(double *)r;
	}
	printf("%.10g\n", s);
}
