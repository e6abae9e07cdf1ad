/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/vec.h"

#define MAX_THREADS 64

struct run {
	void (*task)(void *context, unsigned worker, size_t index);
	void *context;
	size_t n;
	atomic_size_t next;
};

struct worker {
	struct run *run;
	unsigned number;
	pthread_t thread;
};

static void *work(void *argument)
{
	const struct worker *worker = argument;
	struct run *run = worker->run;

	for (size_t index; (index = atomic_fetch_add(&run->next, 1)) < run->n;)
		run->task(run->context, worker->number, index);
	return NULL;
}

unsigned pool_threads(unsigned wanted)
{
	cpu_set_t cpus;

	if (wanted == 0)
		wanted = sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? (unsigned)CPU_COUNT(&cpus) : 1;
	return wanted == 0 ? 1 : wanted < MAX_THREADS ? wanted : MAX_THREADS;
}

/* Signals are for the thread that waits for them, never for a worker. */
static int start(struct worker *worker)
{
	sigset_t all, old;

	sigfillset(&all);
	sigdelset(&all, SIGBUS); /* of truncated files; it comes to the thread that read */
	pthread_sigmask(SIG_BLOCK, &all, &old);
	int error = pthread_create(&worker->thread, NULL, work, worker);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return error;
}

void pool_run(unsigned n_threads, size_t n, void (*task)(void *context, unsigned worker, size_t index), void *context)
{
	struct run run = { .task = task, .context = context, .n = n };
	VEC(struct worker) workers = { 0 };
	size_t started = 1;

	n_threads = n_threads < n ? n_threads : (unsigned)n;
	for (unsigned i = 0; i < n_threads || i == 0; i++)
		vec_push(&workers, (struct worker){ .run = &run, .number = i });
	for (; started < workers.n; started++)
		if (start(&workers.at[started]) != 0)
			break;
	work(&workers.at[0]);
	for (size_t i = 1; i < started; i++)
		pthread_join(workers.at[i].thread, NULL);
	vec_done(&workers);
}
