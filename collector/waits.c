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
	thread->is_sampled = true;
}

void waits_leave(struct waits *waits, pid_t pid, pid_t tid, uint64_t time_ns)
{
	struct wait *thread = waits_thread(waits, tid);

	if (thread->since_ns && thread->is_sampled && thread->since_ns + SEEN_NS >= time_ns)
		return; /* the record of a switch is written just after its sample */
	waits_out(waits, pid, tid, time_ns);
	thread->is_sampled = false;
}

void waits_before(struct waits *waits, pid_t pid, pid_t tid, uint64_t time_ns)
{
	waits_out(waits, pid, tid, time_ns);
	waits_thread(waits, tid)->is_before = true;
	waits->n_waiting++;
}

/* The present wait ends. */
static void waits_add(struct wait *thread, uint64_t end_ns)
{
	uint64_t ns = end_ns > thread->since_ns ? end_ns - thread->since_ns : 0;

	thread->n++;
	thread->ns += ns;
	if (ns > thread->longest_ns)
		thread->longest_ns = ns;
}

/* What is known of the thread, told. */
static void waits_make(struct wait *thread, struct wait *ret)
{
	*ret = *thread;
	thread->since_ns = thread->ns = thread->n = thread->longest_ns = 0;
	thread->is_sampled = false;
}

bool waits_runs(struct waits *waits, pid_t tid, uint64_t time_ns, struct wait *ret)
{
	uint32_t at = waits->n_waiting ? map_find(&waits->by_tid, (uint32_t)tid) : MAP_NONE;

	if (at == MAP_NONE || !waits->threads.at[at].is_before || !waits->threads.at[at].since_ns)
		return false;
	waits_add(&waits->threads.at[at], time_ns);
	waits_make(&waits->threads.at[at], ret);
	return true;
}

bool waits_in(struct waits *waits, pid_t tid, uint64_t time_ns, struct wait *ret)
{
	uint32_t at = map_find(&waits->by_tid, (uint32_t)tid);

	if (at == MAP_NONE) {
		waits->n_before++;
		return false;
	}
	struct wait *thread = &waits->threads.at[at];
	if (!thread->since_ns) {
		waits->n_lost += !thread->is_before; /* else waits_runs has told of it just now */
		thread->is_before = false;
		return false;
	}
	waits_add(thread, time_ns);
	if (thread->is_sampled) {
		waits_make(thread, ret);
		return true;
	}
	thread->since_ns = 0;
	return false;
}

bool waits_forget(struct waits *waits, pid_t tid, struct wait *ret)
{
	uint32_t at = map_find(&waits->by_tid, (uint32_t)tid);

	if (at == MAP_NONE)
		return false;
	*ret = waits->threads.at[at];
	ret->is_sampled = false;
	map_remove(&waits->by_tid, (uint32_t)tid);
	waits->threads.at[at] = waits->threads.at[--waits->threads.n];
	if (at < waits->threads.n)
		map_put(&waits->by_tid, (uint32_t)waits->threads.at[at].tid, at);
	return ret->n > 0;
}

bool waits_cut(struct waits *waits, uint64_t end_ns, struct wait *ret)
{
	while (waits->n_cut < waits->threads.n) {
		struct wait *thread = &waits->threads.at[waits->n_cut++];
		bool goes_on = thread->since_ns != 0;
		if (goes_on)
			waits_add(thread, end_ns);
		if (!thread->n)
			continue;
		waits_make(thread, ret);
		ret->is_cut = goes_on;
		return true;
	}
	return false;
}
