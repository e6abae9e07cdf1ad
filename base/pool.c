/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

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
static int pool_start_threads(pthread_t *ret, void *(*run)(void *), void *argument)
{
	sigset_t all, old;

	sigfillset(&all);
	sigdelset(&all, SIGBUS); /* truncated files: it is delivered to the thread that read */
	pthread_sigmask(SIG_BLOCK, &all, &old);
	int error = pthread_create(ret, NULL, run, argument);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return error;
}

void pool_run(unsigned n_threads, size_t n, void (*task)(void *context, unsigned worker, size_t index),
	      void *context)
{
	struct run run = { .task = task, .context = context, .n = n };
	VEC(struct worker) workers = { 0 };
	size_t started = 1;

	n_threads = n_threads < n ? n_threads : (unsigned)n;
	for (unsigned i = 0; i < n_threads || i == 0; i++)
		vec_push(&workers, (struct worker){ .run = &run, .number = i });
	for (; started < workers.n; started++)
		if (pool_start_threads(&workers.at[started].thread, work, &workers.at[started]) != 0)
			break;
	work(&workers.at[0]);
	for (size_t i = 1; i < started; i++)
		pthread_join(workers.at[i].thread, NULL);
	vec_done(&workers);
}

struct pool_task {
	void (*run)(void *context);
	void *context;
	pthread_t thread;
};

static void *work_alone(void *argument)
{
	const struct pool_task *task = argument;

	task->run(task->context);
	return NULL;
}

struct pool_task *pool_start(unsigned n_threads, void (*run)(void *context), void *context)
{
	struct pool_task *task = alloc_zero(1, sizeof(*task));

	task->run = run;
	task->context = context;
	if (n_threads > 1 && pool_start_threads(&task->thread, work_alone, task) == 0)
		return task;
	free(task);
	run(context);
	return NULL;
}

void pool_wait(struct pool_task *task)
{
	if (task)
		pthread_join(task->thread, NULL);
	free(task);
}
