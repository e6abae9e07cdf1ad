/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Eight threads that share one CPU. Thread number k calls measured(k) from k frames of nest(): the kernel may
 * preempt one during a probe and run another. usage: shared_cpu CALLS
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define OWN __attribute__((noinline, noclone, noipa))
#define THREADS 8
#define PAUSE_EVERY 16

static volatile unsigned sum;
static long n_calls;

OWN void measured(unsigned number)
{
	sum += number;
}

OWN void nest(unsigned depth, unsigned number)
{
	if (depth > 1)
		nest(depth - 1, number);
	else
		measured(number);
	sum++;
}

static void *work(void *argument)
{
	unsigned number = (unsigned)(uintptr_t)argument;

	for (long i = 0; i < n_calls; i++) {
		nest(number, number);
		if (i % PAUSE_EVERY == number)
			usleep(2000); /* a thread that wakes up preempts another one */
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	cpu_set_t one;

	n_calls = argc > 1 ? atol(argv[1]) : 1000;
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)(i + 1)))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	puts("done");
	return 0;
}
