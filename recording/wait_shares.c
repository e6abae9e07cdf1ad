/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/wait_shares.h"

#include <math.h>
#include <stdlib.h>

#include "collector/waits.h"

#define PLACES_MAX 256 /* of a thread: if it waits at more, the time so far is distributed */

void wait_shares_done(struct wait_shares *shares)
{
	for (size_t i = 0; i < shares->threads.n; i++)
		vec_done(&shares->threads.at[i].waits);
	vec_done(&shares->threads);
	map_done(&shares->index_of);
}

/* part of whole, of the same part of total; at most most. */
static uint64_t wait_shares_of(uint64_t total, double part, double whole, double most)
{
	double share = whole > 0 ? (double)total * fmin(part / whole, 1) : 0;

	return share < most ? (uint64_t)share : most < (double)total ? (uint64_t)most : total;
}

void wait_shares_give(const struct wait_shares *shares, struct cct *cct, uint32_t row,
		      const struct wait_share *wait, uint64_t ns, uint64_t runnable_ns)
{
	const struct wait_share_metrics *metrics = &shares->metrics;
	/* After that, what the thread waits for is a CPU, whoever woke it. */
	uint64_t until_woken = ns > runnable_ns ? ns - runnable_ns : 0;

	cct_add_value(cct, wait->node, row, metrics->off_cpu, ns);
	if (metrics->runnable)
		cct_add_value(cct, wait->node, row, metrics->runnable, runnable_ns);
	if (metrics->wall)
		cct_add_value(cct, wait->node, row, metrics->wall, ns);
	if (wait->held_metric)
		cct_add_value(cct, wait->node, row, wait->held_metric,
			      wait_shares_of(until_woken, wait->held_ns, wait->ns - wait->runnable_ns,
					     (double)until_woken));
	if (wait->woken_metric)
		cct_add_value(cct, wait->waker_node, row, wait->woken_metric, until_woken);
}

/* How close a sampled wait is to the longest of those that it represents. */
static double wait_share_closeness(const struct wait_share *wait)
{
	return wait->longest_ns > 0 ? wait->ns / (wait->n * wait->longest_ns) : 1;
}

static int wait_share_compare(const void *a, const void *b)
{
	double first = wait_share_closeness(a), second = wait_share_closeness(b);

	return (first < second) - (first > second);
}

/* On average no wait may be longer than the longest. The first to be affected come first: what they cannot
 * take, the others can. */
static void wait_shares_settle_thread(const struct wait_shares *shares, struct cct *cct,
				      struct wait_shares_thread *thread)
{
	double ns = 0, runnable = 0;

	if (thread->waits.n)
		qsort(thread->waits.at, thread->waits.n, sizeof(thread->waits.at[0]), wait_share_compare);
	for (size_t i = 0; i < thread->waits.n; i++) {
		ns += thread->waits.at[i].ns;
		runnable += thread->waits.at[i].runnable_ns;
	}
	for (size_t i = 0; i < thread->waits.n; i++) {
		const struct wait_share *wait = &thread->waits.at[i];
		bool is_last = i + 1 == thread->waits.n; /* it gets all that is left */
		uint64_t share =
			is_last ? thread->ns
				: wait_shares_of(thread->ns, wait->ns, ns, wait->n * wait->longest_ns);
		uint64_t runnable_share = wait_shares_of(thread->runnable_ns, is_last ? 1 : wait->runnable_ns,
							 is_last ? 1 : runnable, (double)share);
		wait_shares_give(shares, cct, thread->row, wait, share, runnable_share);
		ns -= wait->ns;
		runnable -= wait->runnable_ns;
		thread->ns -= share;
		thread->runnable_ns -= runnable_share;
	}
	vec_clear(&thread->waits);
}

static uint64_t wait_shares_key(pid_t tid, uint32_t sort)
{
	return (uint64_t)sort << 32 | (uint32_t)tid;
}

static void wait_shares_settle_sort(struct wait_shares *shares, struct cct *cct, pid_t tid, uint32_t sort)
{
	uint32_t index = map_find(&shares->index_of, wait_shares_key(tid, sort));

	if (index == MAP_NONE)
		return;
	struct wait_shares_thread *thread = &shares->threads.at[index];
	wait_shares_settle_thread(shares, cct, thread);
	vec_done(&thread->waits);
	map_remove(&shares->index_of, wait_shares_key(tid, sort));
	/* The last entry moves into the free one. */
	const struct wait_shares_thread *last = &shares->threads.at[--shares->threads.n];
	if (thread == last)
		return;
	*thread = *last;
	map_put(&shares->index_of, wait_shares_key(thread->tid, thread->sort), index);
}

void wait_shares_settle(struct wait_shares *shares, struct cct *cct, pid_t tid)
{
	for (uint32_t sort = 0; shares->threads.n && sort < WAIT_SORTS; sort++)
		wait_shares_settle_sort(shares, cct, tid, sort);
}

void wait_shares_settle_all(struct wait_shares *shares, struct cct *cct)
{
	for (size_t i = 0; i < shares->threads.n; i++)
		wait_shares_settle_thread(shares, cct, &shares->threads.at[i]);
}

static bool wait_share_is_same(const struct wait_share *a, const struct wait_share *b)
{
	return a->node == b->node && a->waker_node == b->waker_node && a->woken_metric == b->woken_metric &&
	       a->held_metric == b->held_metric;
}

static void wait_shares_add_wait(struct wait_shares_thread *thread, const struct wait_share *wait)
{
	size_t i = 0;

	while (i < thread->waits.n && !wait_share_is_same(&thread->waits.at[i], wait))
		i++;
	if (i == thread->waits.n) {
		vec_push(&thread->waits, *wait);
		return;
	}
	struct wait_share *sum = &thread->waits.at[i];
	sum->n += wait->n;
	sum->ns += wait->ns;
	sum->runnable_ns += wait->runnable_ns;
	sum->held_ns += wait->held_ns;
	sum->longest_ns = fmax(sum->longest_ns, wait->longest_ns);
}

void wait_shares_add(struct wait_shares *shares, struct cct *cct, struct wait_shares_thread of,
		     const struct wait_share *wait)
{
	uint64_t key = wait_shares_key(of.tid, of.sort);
	uint32_t index = map_find(&shares->index_of, key);

	if (index == MAP_NONE) {
		index = (uint32_t)shares->threads.n;
		vec_push(&shares->threads,
			 (struct wait_shares_thread){ .tid = of.tid, .row = of.row, .sort = of.sort });
		map_put(&shares->index_of, key, index);
	}
	struct wait_shares_thread *thread = &shares->threads.at[index];
	/* The id may be that of another thread now. */
	if (thread->row != of.row || thread->waits.n >= PLACES_MAX)
		wait_shares_settle_thread(shares, cct, thread);
	thread->row = of.row;
	thread->ns += of.ns;
	thread->runnable_ns += of.runnable_ns;
	wait_shares_add_wait(thread, wait);
}
