/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paths: calls down one of four call paths to a given depth, works for a moment in the leaf, returns and
 * takes the next path. Frames of all paths have the same size and addresses, and every leaf belongs to one
 * path only: so a stack that combines copies made at different times is detected.
 *
 *     paths SECONDS DEPTH WORK [threads=N] [child=1] [common=N]
 *
 * WORK: loop iterations in the leaf. threads: number of additional threads. child: also a forked process.
 * common: number of frames between path and leaf that are the same for all paths, so that outer frames change
 * while inner ones do not.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STACK_BYTES (64u << 20)

static volatile unsigned long sink;
static double until;
static long depth, work, common;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

__attribute__((noinline)) static long share(long n, void (*leaf)(void))
{
	volatile long pad[6] = { n };

	if (n > 0)
		pad[1] = share(n - 1, leaf);
	else
		leaf();
	return pad[0] + pad[1];
}

/* The letter as a number keeps the compiler from merging the functions. */
#define PATH(x)                                               \
	__attribute__((noinline)) static void leaf_##x(void)  \
	{                                                     \
		for (long i = 0; i < work; i++)               \
			sink += (unsigned long)i ^ #x[0];     \
	}                                                     \
	__attribute__((noinline)) static long way_##x(long n) \
	{                                                     \
		volatile long pad[4] = { n, n ^ #x[0] };      \
		if (n > 1)                                    \
			pad[2] = way_##x(n - 1);              \
		else                                          \
			share(common, leaf_##x);              \
		return pad[0] + pad[2];                       \
	}
PATH(a)
PATH(b)
PATH(c)
PATH(d)

static void *run(void *argument)
{
	long (*const ways[])(long) = { way_a, way_b, way_c, way_d };

	for (unsigned i = 0; now() < until; i++)
		sink += (unsigned long)ways[i % 4](depth);
	return argument;
}

static int option(int argc, char **argv, const char *name)
{
	size_t len = strlen(name);

	for (int i = 4; i < argc; i++)
		if (strncmp(argv[i], name, len) == 0 && argv[i][len] == '=')
			return atoi(argv[i] + len + 1);
	return 0;
}

int main(int argc, char **argv)
{
	pthread_attr_t attr;
	pthread_t thread[16];
	int n = option(argc, argv, "threads");

	if (argc < 4 || n > 16)
		return 2;
	until = now() + atof(argv[1]) * (getenv("SLOW") ? atof(getenv("SLOW")) : 1);
	depth = atol(argv[2]);
	work = atol(argv[3]);
	common = option(argc, argv, "common");
	pid_t child = option(argc, argv, "child") ? fork() : -1;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	for (int i = 0; i < n; i++)
		if (pthread_create(&thread[i], &attr, run, NULL))
			return 1;
	run(NULL);
	for (int i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	if (child > 0)
		waitpid(child, NULL, 0);
	return 0;
}
