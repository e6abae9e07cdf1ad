// SPDX-License-Identifier: Apache-2.0
// Loops with known facts: one that is vectorised and has a remainder, one that two threads share
// unevenly. usage: facts ROUNDS
#include <pthread.h>
#include <stdlib.h>

#define N 27 // six vectors of four, and three that remain

static float a[N], b[N];
static volatile int n_used = N;
static volatile unsigned sink;

static void __attribute__((noinline)) add(float *restrict to, const float *restrict from, int n)
{
	for (int i = 0; i < n; i++) // vector
		to[i] = to[i] * 0.5f + from[i];
}

static unsigned __attribute__((noinline)) step(unsigned x)
{
	for (int i = 0; i < 40; i++)
		x = x * 1664525u + (x >> 7);
	return x;
}

static void *__attribute__((noinline)) share(void *rounds)
{
	unsigned x = 1;

	for (long i = 0; i < (long)rounds; i++) // shared
		x = step(x);
	sink = x;
	return NULL;
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 1000;
	pthread_t thread;

	pthread_create(&thread, NULL, share, (void *)rounds);
	share((void *)(3 * rounds));
	pthread_join(thread, NULL);
	for (long i = 0; i < 8 * rounds; i++)
		add(a, b, n_used);
	return a[0] > 1;
}
