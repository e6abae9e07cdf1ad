/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle: threads that wait forever, each for something different, one of them 200 calls deep. Prints a line
 * when all of them wait.
 */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define N_WORKERS 3
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static int ends[2];
static volatile int depth = 200, never;

__attribute__((noinline)) static void wait_for_work(void)
{
	pthread_mutex_lock(&lock);
	while (!never)
		pthread_cond_wait(&work, &lock);
	pthread_mutex_unlock(&lock);
}

__attribute__((noinline)) static void wait_for_bytes(void)
{
	char byte;

	while (read(ends[0], &byte, 1) >= 0)
		never = 0;
}

__attribute__((noinline)) static int wait_deep_down(int n)
{
	volatile char room[500];

	room[0] = (char)n;
	return (n ? wait_deep_down(n - 1) : poll(NULL, 0, -1)) + room[0];
}

static void *run_worker(void *nothing)
{
	wait_for_work();
	return nothing;
}

static void *run_reader(void *nothing)
{
	wait_for_bytes();
	return nothing;
}

static void *run_deep(void *nothing)
{
	never = wait_deep_down(depth);
	return nothing;
}

int main(void)
{
	pthread_t thread;

	if (pipe(ends) || pthread_create(&thread, NULL, run_reader, NULL) ||
	    pthread_create(&thread, NULL, run_deep, NULL))
		return 1;
	for (int i = 0; i < N_WORKERS; i++)
		if (pthread_create(&thread, NULL, run_worker, NULL))
			return 1;
	usleep(300000);
	puts("all wait");
	fflush(stdout);
	for (;;)
		usleep(20000);
}
