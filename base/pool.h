/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool: one loop, spread over threads; one thing, done beside the rest.
 */
#pragma once

#include <stddef.h>

/* How many threads `wanted` stands for: itself, or for 0 as many as there are CPUs we may use. */
unsigned pool_threads(unsigned wanted);

/*
 * Calls task(context, worker, index) for every index below n, in order of index as far as threads
 * allow, and returns when all are done. worker is below n_threads and belongs to one thread; worker
 * 0 is the caller's own. Where threads cannot be had the caller does all of it.
 */
void pool_run(unsigned n_threads, size_t n, void (*task)(void *context, unsigned worker, size_t index),
	      void *context);

/* One thing done beside the caller. Where a thread cannot be had, or n_threads is 1, it is done at once. */
struct pool_task;
struct pool_task *pool_start(unsigned n_threads, void (*task)(void *context), void *context);
/* Returns when it is done, and forgets it; NULL is done. */
void pool_wait(struct pool_task *task);
