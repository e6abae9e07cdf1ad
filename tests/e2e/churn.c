/* SPDX-License-Identifier: Apache-2.0 */
/* churn: a process that starts new threads all the time; each runs for 20 ms of CPU time. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;

static double cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *burn(void *unused)
{
	while (cpu() < 0.02)
		for (unsigned long i = 0; i < 20000; i++)
			sink += i;
	return unused;
}

static void *keep_starting(void *unused)
{
	pthread_t thread;

	while (pthread_create(&thread, NULL, burn, NULL) == 0)
		pthread_join(thread, NULL);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[8];

	for (int i = 0; i < 8; i++)
		pthread_create(&threads[i], NULL, keep_starting, NULL);
	sleep(argc > 1 ? (unsigned)atoi(argv[1]) : 10);
	return 0;
}
