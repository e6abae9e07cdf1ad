/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hot_calls: a function that is called so often that tracing it costs too much, and one that is called
 * rarely. Prints at the end how often each was called, and how long the frequent one took, with its loop.
 * usage: hot_calls SECONDS PAUSE
 *
 * PAUSE: duration of a call of the frequent one, in loop iterations.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define OWN __attribute__((noinline, noclone, noipa))

static volatile unsigned sink;

OWN int frequent(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sink += i;
	return (int)sink;
}

OWN int rare(unsigned n)
{
	sink += n;
	return (int)sink;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
	double end = now() + (argc > 1 ? atof(argv[1]) : 5);
	unsigned pause = argc > 2 ? (unsigned)atoi(argv[2]) : 100;
	unsigned long n_frequent = 0, n_rare = 0;

	double spent = 0;

	while (now() < end) {
		double start = now();
		for (int i = 0; i < 1000; i++, n_frequent++)
			frequent(pause);
		spent += now() - start;
		rare(1);
		n_rare++;
	}
	printf("frequent %lu rare %lu\nfrequent for %f s\n", n_frequent, n_rare, spent);
	return 0;
}
