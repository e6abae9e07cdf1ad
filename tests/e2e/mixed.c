/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mixed: a thread with very many short waits (short_wait) and occasional waits of 10 ms (long_wait). Prints
 * the total time of each, in ms.
 *
 * usage: mixed SECONDS
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

int main(int argc, char **argv)
{
	double end = now_ms() + 1e3 * (argc > 1 ? atof(argv[1]) : 2), in_short = 0, in_long = 0;
	pthread_t thread;

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
