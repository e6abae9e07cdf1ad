/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/holders.h"

#define FUTEXES_MAX 16384 /* 6 MB; beyond that we start afresh */

void holders_done(struct holders *holders)
{
	map_done(&holders->of);
	vec_done(&holders->futexes);
}

static struct holders_futex *holders_find(struct holders *holders, pid_t pid, uint64_t futex)
{
	uint64_t key = hash_u64(futex) ^ (uint64_t)pid;
	uint32_t at = map_find(&holders->of, key);

	if (at == MAP_NONE) {
		if (holders->futexes.n == FUTEXES_MAX) {
			map_done(&holders->of);
			vec_clear(&holders->futexes);
		}
		map_put(&holders->of, key, at = (uint32_t)holders->futexes.n);
		vec_push(&holders->futexes, (struct holders_futex){ 0 });
	}
	return &holders->futexes.at[at];
}

static void holders_add(struct holder *all, size_t *n, pid_t pid, pid_t tid, uint64_t ns)
{
	size_t i = 0;

	while (i < *n && all[i].tid != tid)
		i++;
	if (i == *n)
		all[(*n)++] = (struct holder){ .pid = pid, .tid = tid };
	all[i].ns += ns;
}

struct holder holders_end(struct holders *holders, const struct holders_wait *wait)
{
	struct holders_futex *futex = holders_find(holders, wait->pid, wait->futex);
	struct holder all[HOLDERS_LAST + 1], longest = { 0 };
	size_t n_all = 0;
	uint64_t from = wait->since_ns;

	for (uint64_t i = futex->n > HOLDERS_LAST ? futex->n - HOLDERS_LAST : 0; i < futex->n; i++) {
		uint64_t at = futex->last[i % HOLDERS_LAST].at_ns;
		if (at <= from || at >= wait->woken_ns)
			continue;
		/* What came before the first one remembered is unknown. */
		if (i > 0 && i == futex->n - HOLDERS_LAST && futex->n > HOLDERS_LAST) {
			from = at;
			continue;
		}
		holders_add(all, &n_all, futex->last[i % HOLDERS_LAST].pid, futex->last[i % HOLDERS_LAST].tid,
			    at - from);
		from = at;
	}
	if (wait->woken_ns > from)
		holders_add(all, &n_all, wait->waker_pid, wait->waker, wait->woken_ns - from);
	futex->last[futex->n % HOLDERS_LAST].pid = wait->waker_pid;
	futex->last[futex->n % HOLDERS_LAST].tid = wait->waker;
	futex->last[futex->n++ % HOLDERS_LAST].at_ns = wait->woken_ns;
	for (size_t i = 0; i < n_all; i++)
		if (all[i].ns > longest.ns)
			longest = all[i];
	return longest;
}

struct holder holders_end_of(struct holders *holders, const struct event *event)
{
	struct holders_wait wait = { .pid = event->pid,
				     .futex = event->sw.futex,
				     .since_ns = event->sw.since_ns,
				     .woken_ns = event->sw.woken_ns,
				     .waker_pid = event->sw.waker_pid,
				     .waker = event->sw.waker };

	if (!wait.futex || !wait.waker || wait.woken_ns <= wait.since_ns)
		return (struct holder){ 0 };
	struct holder holder = holders_end(holders, &wait);
	holder.ns = (uint64_t)((double)holder.ns / (double)(wait.woken_ns - wait.since_ns) *
			       (double)(event->sw.waited_ns - event->sw.runnable_ns));
	return holder;
}
