/* SPDX-License-Identifier: Apache-2.0 */
/*
 * creators: five functions that take the same CPU time, then a thread or a process that is created and waited
 * for; and again. Sampling must not fall into step with the creations.
 *
 * usage: creators threads|processes MILLISECONDS
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STEP_NS 500000u

static unsigned long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (unsigned long long)t.tv_sec * 1000000000u + (unsigned long long)t.tv_nsec;
}

/* The numbers keep the compiler from merging the functions. */
#define WORK(name, number)                                                          \
	unsigned long long name(unsigned long long until);                          \
	__attribute__((noinline)) unsigned long long name(unsigned long long until) \
	{                                                                           \
		volatile unsigned sum = number;                                     \
		unsigned long long t;                                               \
		while ((t = now()) < until)                                         \
			sum += number;                                              \
		return t;                                                           \
	}
WORK(first, 1)
WORK(second, 2)
WORK(third, 3)
WORK(fourth, 4)
WORK(fifth, 5)

static void *nothing(void *context)
{
	return context;
}

static void create(int is_process)
{
	pthread_t thread;

	if (is_process) {
		pid_t child = fork();
		if (child == 0)
			_exit(0);
		waitpid(child, NULL, 0);
	} else if (pthread_create(&thread, NULL, nothing, NULL) == 0) {
		pthread_join(thread, NULL);
	}
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	int is_process = strcmp(argv[1], "processes") == 0;
	unsigned long long end = now() + strtoull(argv[2], NULL, 10) * 1000000;

	while (now() < end) {
		unsigned long long start = now();
		first(start + STEP_NS);
		second(start + 2 * STEP_NS);
		third(start + 3 * STEP_NS);
		fourth(start + 4 * STEP_NS);
		fifth(start + 5 * STEP_NS);
		create(is_process);
	}
	puts("done");
	return 0;
}
