/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/waits.h"

#include "base/alloc.h"

void waits_done(struct waits *waits)
{
	map_done(&waits->by_tid);
	vec_done(&waits->threads);
}

static struct wait *waits_thread(struct waits *waits, pid_t tid)
{
	uint32_t at = map_find(&waits->by_tid, (uint32_t)tid);

	if (at == MAP_NONE) {
		at = (uint32_t)waits->threads.n;
		map_put(&waits->by_tid, (uint32_t)tid, at);
		vec_push(&waits->threads, (struct wait){ .tid = tid });
	}
	return &waits->threads.at[at];
}

void waits_see(struct waits *waits, pid_t pid, pid_t tid, uint64_t time_ns)
{
	struct wait *thread = waits_thread(waits, tid);

	thread->pid = pid;
	thread->seen_ns = time_ns;
}

/* The sample is written a little later than the wait begins, or, by the clock of another CPU, earlier. */
#define SEEN_NS 100000

bool waits_saw(struct waits *waits, pid_t tid, uint64_t since_ns)
{
	uint32_t at = map_find(&waits->by_tid, (uint32_t)tid);
	bool is_seen = at != MAP_NONE && waits->threads.at[at].seen_ns + SEEN_NS >= since_ns;

	waits->n_lost += !is_seen;
	return is_seen;
}

void waits_out(struct waits *waits, pid_t pid, pid_t tid, uint64_t time_ns)
{
	struct wait *thread = waits_thread(waits, tid);
	waits->n_lost += thread->since_ns != 0; /* it must have been back meanwhile */
	thread->pid = pid;
	thread->since_ns = time_ns;
	thread->is_before = false;
}

void waits_before(struct waits *waits, pid_t pid, pid_t tid, uint64_t time_ns)
{
	waits_out(waits, pid, tid, time_ns);
	waits_thread(waits, tid)->is_before = true;
	waits->n_waiting++;
}

static void waits_make(struct wait *thread, uint64_t end_ns, struct wait *ret)
{
	*ret = *thread;
	ret->ns = end_ns > thread->since_ns ? end_ns - thread->since_ns : 0;
	thread->since_ns = 0;
}

bool waits_runs(struct waits *waits, pid_t tid, uint64_t time_ns, struct wait *ret)
{
	uint32_t at = waits->n_waiting ? map_find(&waits->by_tid, (uint32_t)tid) : MAP_NONE;

	if (at == MAP_NONE || !waits->threads.at[at].is_before || !waits->threads.at[at].since_ns)
		return false;
	waits_make(&waits->threads.at[at], time_ns, ret);
	return true;
}

bool waits_in(struct waits *waits, pid_t tid, uint64_t time_ns, struct wait *ret)
{
	uint32_t at = map_find(&waits->by_tid, (uint32_t)tid);

	if (at == MAP_NONE) {
		waits->n_before++;
		return false;
	}
	if (!waits->threads.at[at].since_ns) {
		waits->n_lost++;
		return false;
	}
	waits_make(&waits->threads.at[at], time_ns, ret);
	return true;
}

void waits_forget(struct waits *waits, pid_t tid)
{
	uint32_t at = map_find(&waits->by_tid, (uint32_t)tid);

	if (at == MAP_NONE)
		return;
	map_remove(&waits->by_tid, (uint32_t)tid);
	waits->threads.at[at] = waits->threads.at[--waits->threads.n];
	if (at < waits->threads.n)
		map_put(&waits->by_tid, (uint32_t)waits->threads.at[at].tid, at);
}

bool waits_cut(struct waits *waits, uint64_t end_ns, struct wait *ret)
{
	while (waits->n_cut < waits->threads.n) {
		struct wait *thread = &waits->threads.at[waits->n_cut++];
		if (!thread->since_ns)
			continue;
		waits_make(thread, end_ns, ret);
		return true;
	}
	return false;
}
