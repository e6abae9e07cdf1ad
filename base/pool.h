/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool: one loop, spread over threads.
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
void pool_run(unsigned n_threads, size_t n, void (*task)(void *context, unsigned worker, size_t index), void *context);
