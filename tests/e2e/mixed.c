/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mixed: a thread with very many short waits (short_wait) and occasional waits of 10 ms (long_wait). Prints
 * the total time of each, in ms. uneven: instead of that, one wait in four, at random, is about five times as
 * long as the others (longer_wait, brief_wait).
 *
 * usage: mixed SECONDS [uneven]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int there[2], back[2];

static double now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static void *answer(void *nothing)
{
	char byte;

	while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
		;
	return nothing;
}

__attribute__((noinline)) static void short_wait(void)
{
	char byte = 0;

	if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
		abort();
}

__attribute__((noinline)) static void long_wait(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
}

__attribute__((noinline)) static void brief_wait(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
}

__attribute__((noinline)) static void longer_wait(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 800000 }, NULL);
}

static int wait_unevenly(double end)
{
	double in_brief = 0, in_longer = 0;

	for (unsigned turn = 1; now_ms() < end; turn = turn * 1664525u + 1013904223u) {
		double start = now_ms();
		if (turn >> 16 & 3) {
			brief_wait();
			in_brief += now_ms() - start;
		} else {
			longer_wait();
			in_longer += now_ms() - start;
		}
	}
	printf("brief_wait %.1f\nlonger_wait %.1f\n", in_brief, in_longer);
	return 0;
}

int main(int argc, char **argv)
{
	double end = now_ms() + 1e3 * (argc > 1 ? atof(argv[1]) : 2), in_short = 0, in_long = 0;
	pthread_t thread;

	if (argc > 2)
		return wait_unevenly(end);
	if (pipe(there) || pipe(back) || pthread_create(&thread, NULL, answer, NULL))
		return 1;
	while (now_ms() < end) {
		double start = now_ms();
		for (int i = 0; i < 2000; i++)
			short_wait();
		double amid = now_ms();
		long_wait();
		in_short += amid - start;
		in_long += now_ms() - amid;
	}
	printf("short_wait %.1f\nlong_wait %.1f\n", in_short, in_long);
	return 0;
}
