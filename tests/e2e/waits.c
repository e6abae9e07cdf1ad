/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waits: threads that wait, each in its own way and on its own call path: sleep_here sleeps, lock_here waits
 * for a lock that another thread holds, read_here for a pipe, poll_here for a pipe, too, run_here does not
 * wait. The threads that end the waits sleep in between. Prints how long each thread waited, and how long it
 * took in all, by its own measurements, in ms.
 *
 * queue: instead of all that, a lock goes from thread "first", which holds it for long, to "second", which
 * holds it for a while, to the main thread, which waits for it in queue_here meanwhile.
 *
 * crowd: instead of all that, many threads sleep for 2 ms at a time, and the number of sleeps is printed.
 *
 * usage: waits MILLISECONDS [one | queue | crowd]
 */
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define PART_MS 300 /* length of a sleep, of holding the lock, of a pause between writes */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int holds_lock, is_over;
static int to_read[2], to_poll[2];
static unsigned long length_ms;

static double now_ms(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

__attribute__((noinline)) static void sleep_ms(unsigned long ms)
{
	struct timespec t = { (time_t)(ms / 1000), (long)(ms % 1000) * 1000000 };

	while (nanosleep(&t, &t))
		;
}

__attribute__((noinline)) static void sleep_here(void)
{
	sleep_ms(PART_MS);
	__asm__ volatile("");
}

__attribute__((noinline)) static void lock_here(void)
{
	while (!holds_lock && !is_over)
		sleep_ms(1);
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
}

__attribute__((noinline)) static void read_here(void)
{
	char c;

	if (read(to_read[0], &c, 1) != 1)
		abort();
}

__attribute__((noinline)) static void poll_here(void)
{
	struct pollfd fd = { .fd = to_poll[0], .events = POLLIN };
	char c;

	if (poll(&fd, 1, -1) != 1 || read(to_poll[0], &c, 1) != 1)
		abort();
}

__attribute__((noinline)) static void run_here(void)
{
	double start = now_ms(CLOCK_THREAD_CPUTIME_ID);

	while (now_ms(CLOCK_THREAD_CPUTIME_ID) - start < PART_MS)
		__asm__ volatile("");
}

struct part {
	const char *name;
	void (*act)(void);
	double waited_ms, took_ms;
};

static struct part parts[] = {
	{ "sleep_here", sleep_here, 0, 0 }, { "lock_here", lock_here, 0, 0 },
	{ "read_here", read_here, 0, 0 },   { "poll_here", poll_here, 0, 0 },
	{ "run_here", run_here, 0, 0 },
};
#define N_PARTS (sizeof(parts) / sizeof(parts[0]))

static void do_part(struct part *part)
{
	double wall = now_ms(CLOCK_MONOTONIC), cpu = now_ms(CLOCK_THREAD_CPUTIME_ID);

	part->act();
	wall = now_ms(CLOCK_MONOTONIC) - wall;
	part->took_ms += wall;
	part->waited_ms += wall - (now_ms(CLOCK_THREAD_CPUTIME_ID) - cpu);
}

static void *run_part(void *argument)
{
	for (double start = now_ms(CLOCK_MONOTONIC); now_ms(CLOCK_MONOTONIC) - start < (double)length_ms;)
		do_part(argument);
	return NULL;
}

static void *run_all(void *argument)
{
	for (double start = now_ms(CLOCK_MONOTONIC); now_ms(CLOCK_MONOTONIC) - start < (double)length_ms;)
		for (size_t i = 0; i < N_PARTS; i++)
			do_part(&parts[i]);
	return argument;
}

/* Holds the lock most of the time, and writes to the pipes. */
static void *run_helper(void *argument)
{
	prctl(PR_SET_NAME, "helper");
	while (!is_over) {
		pthread_mutex_lock(&lock);
		holds_lock = 1;
		sleep_ms(PART_MS);
		holds_lock = 0;
		pthread_mutex_unlock(&lock);
		if (write(to_read[1], "", 1) != 1 || write(to_poll[1], "", 1) != 1)
			abort();
		sleep_ms(5);
	}
	return argument;
}

/* ---- a lock that changes hands ------------------------------------------------------------------ */

#define FIRST_MS 200
#define SECOND_MS 50

static pthread_barrier_t round_begins;
static sem_t first_has, second_waits;

static void *run_first(void *argument)
{
	prctl(PR_SET_NAME, "first");
	for (; !is_over; pthread_barrier_wait(&round_begins)) {
		pthread_mutex_lock(&lock);
		sem_post(&first_has);
		sleep_ms(FIRST_MS);
		pthread_mutex_unlock(&lock);
	}
	return argument;
}

static void *run_second(void *argument)
{
	prctl(PR_SET_NAME, "second");
	for (; !is_over; pthread_barrier_wait(&round_begins)) {
		sem_wait(&first_has);
		sem_post(&second_waits);
		pthread_mutex_lock(&lock);
		sleep_ms(SECOND_MS);
		pthread_mutex_unlock(&lock);
	}
	return argument;
}

__attribute__((noinline)) static double queue_here(void)
{
	double start = now_ms(CLOCK_MONOTONIC);

	pthread_mutex_lock(&lock);
	double waited = now_ms(CLOCK_MONOTONIC) - start;
	pthread_mutex_unlock(&lock);
	return waited;
}

static int run_queue(void)
{
	pthread_t first, second;
	double start = now_ms(CLOCK_MONOTONIC), waited = 0;

	pthread_barrier_init(&round_begins, NULL, 3);
	sem_init(&first_has, 0, 0);
	sem_init(&second_waits, 0, 0);
	pthread_create(&first, NULL, run_first, NULL);
	pthread_create(&second, NULL, run_second, NULL);
	while (!is_over) {
		sem_wait(&second_waits);
		sleep_ms(20); /* until it waits */
		waited += queue_here();
		is_over = now_ms(CLOCK_MONOTONIC) - start >= (double)length_ms;
		pthread_barrier_wait(&round_begins);
	}
	pthread_join(first, NULL);
	pthread_join(second, NULL);
	printf("queue_here %.3f\n", waited);
	return 0;
}

#define CROWD 200

static void *run_crowd(void *argument)
{
	unsigned long *n = argument;

	for (double start = now_ms(CLOCK_MONOTONIC); now_ms(CLOCK_MONOTONIC) - start < (double)length_ms;) {
		sleep_ms(2);
		++*n;
	}
	return NULL;
}

static int gather_crowd(void)
{
	static pthread_t threads[CROWD];
	static unsigned long n[CROWD];
	unsigned long sum = 0;

	for (size_t i = 0; i < CROWD; i++)
		if (pthread_create(&threads[i], NULL, run_crowd, &n[i]))
			return 1;
	for (size_t i = 0; i < CROWD; i++) {
		pthread_join(threads[i], NULL);
		sum += n[i];
	}
	printf("%lu\n", sum);
	return 0;
}

int main(int argc, char **argv)
{
	pthread_t helper, threads[N_PARTS];
	size_t n = argc > 2 ? 1 : N_PARTS;

	if (argc < 2 || pipe(to_read) || pipe(to_poll))
		return 2;
	length_ms = strtoul(argv[1], NULL, 10);
	if (argc > 2 && strcmp(argv[2], "crowd") == 0)
		return gather_crowd();
	if (argc > 2 && strcmp(argv[2], "queue") == 0)
		return run_queue();
	pthread_create(&helper, NULL, run_helper, NULL);
	for (size_t i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, argc > 2 ? run_all : run_part, &parts[i]);
	for (size_t i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	is_over = 1;
	pthread_join(helper, NULL);
	for (size_t i = 0; i < N_PARTS; i++)
		printf("%s %.3f %.3f\n", parts[i].name, parts[i].waited_ms, parts[i].took_ms);
	return 0;
}
