/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool: a loop distributed over threads; a background task.
 */
#pragma once

#include <stddef.h>

/* The number of threads for an option: `wanted` itself, or for 0 the number of CPUs that we may use. */
unsigned pool_threads(unsigned wanted);

/*
 * Calls task(context, worker, index) for every index below n, in order of index as far as threads allow, and
 * returns when all are done. worker is below n_threads and belongs to one thread; worker 0 is the caller's
 * own. If no threads can be created, the caller does all of it.
 */
void pool_run(unsigned n_threads, size_t n, void (*task)(void *context, unsigned worker, size_t index),
	      void *context);

/* Runs a task in the background. If no thread can be created, or n_threads is 1, it is done at once. */
struct pool_task;
struct pool_task *pool_start(unsigned n_threads, void (*task)(void *context), void *context);
/* Waits until it is done and frees it; accepts NULL. */
void pool_wait(struct pool_task *task);
