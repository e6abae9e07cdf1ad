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

/* The sample is written shortly after the wait begins or, by another CPU's clock, shortly before. */
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
	waits->n_lost += thread->since_ns != 0; /* it has run meanwhile, but no event said so */
	thread->pid = pid;
	thread->since_ns = time_ns;
	thread->is_before = thread->is_placed = false;
	thread->is_sampled = true;
	thread->is_preempted = false; /* if it was, the record of the switch says so */
}

void waits_leave(struct waits *waits, pid_t pid, pid_t tid, uint64_t time_ns, bool is_preempted)
{
	struct wait *thread = waits_thread(waits, tid);
	bool is_same = thread->since_ns && thread->is_sampled && thread->since_ns + SEEN_NS >= time_ns;

	if (!is_same) { /* otherwise it is the record of a switch, written just after its sample */
		waits_out(waits, pid, tid, time_ns);
		thread->is_sampled = false;
	}
	thread->is_preempted = is_preempted;
}

void waits_before(struct waits *waits, pid_t pid, pid_t tid, uint64_t time_ns, bool is_placed)
{
	waits_out(waits, pid, tid, time_ns);
	waits_thread(waits, tid)->is_before = true;
	waits_thread(waits, tid)->is_placed = is_placed;
	waits->n_waiting++;
}

/* The upper limit of each class is eight times that of the previous one; that of the first is 65 us. */
static uint32_t waits_sort(bool is_preempted, uint64_t ns)
{
	uint32_t sort = 1;

	if (is_preempted)
		return 0;
	while (sort < WAIT_SORTS - 1 && ns >> (13 + 3 * sort))
		sort++;
	return sort;
}

/* The thread's current wait ends. Returns its class. */
static uint32_t waits_add(struct wait *thread, uint64_t end_ns)
{
	uint64_t ns = end_ns > thread->since_ns ? end_ns - thread->since_ns : 0;
	uint32_t sort = waits_sort(thread->is_preempted, ns);
	struct wait_sum *sum = &thread->left[sort];

	thread->own_ns = ns;
	sum->n++;
	sum->ns += ns;
	if (ns > sum->longest_ns)
		sum->longest_ns = ns;
	return sort;
}

/* Returns the thread's waits of one class, and starts counting them anew. */
static void waits_make(struct wait *thread, uint32_t sort, struct wait *ret)
{
	*ret = *thread;
	ret->sum = thread->left[sort];
	ret->sort = sort;
	ret->is_unlike = !thread->is_sampled && ret->sum.n > 2 * thread->most[sort];
	if (thread->is_sampled && ret->sum.n > thread->most[sort])
		thread->most[sort] = ret->sum.n;
	thread->left[sort] = (struct wait_sum){ 0 };
	thread->since_ns = 0;
	thread->is_sampled = false;
}

/* The same for the first class that has any. */
static bool waits_make_rest(struct wait *thread, struct wait *ret)
{
	uint32_t sort = 0;

	while (sort < WAIT_SORTS && !thread->left[sort].n)
		sort++;
	if (sort == WAIT_SORTS)
		return false;
	thread->is_sampled = false;
	waits_make(thread, sort, ret);
	return true;
}

bool waits_runs(struct waits *waits, pid_t tid, uint64_t time_ns, struct wait *ret)
{
	uint32_t at = waits->n_waiting ? map_find(&waits->by_tid, (uint32_t)tid) : MAP_NONE;

	if (at == MAP_NONE || !waits->threads.at[at].is_before || !waits->threads.at[at].since_ns)
		return false;
	waits_make(&waits->threads.at[at], waits_add(&waits->threads.at[at], time_ns), ret);
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
		waits->n_lost += !thread->is_before; /* otherwise waits_runs has just reported it */
		thread->is_before = false;
		return false;
	}
	uint32_t sort = waits_add(thread, time_ns);
	if (!thread->is_sampled) {
		thread->since_ns = 0;
		return false;
	}
	waits_make(thread, sort, ret);
	return true;
}

bool waits_forget(struct waits *waits, pid_t tid, struct wait *ret)
{
	uint32_t at = map_find(&waits->by_tid, (uint32_t)tid);

	if (at == MAP_NONE)
		return false;
	if (waits_make_rest(&waits->threads.at[at], ret))
		return true;
	map_remove(&waits->by_tid, (uint32_t)tid);
	waits->threads.at[at] = waits->threads.at[--waits->threads.n];
	if (at < waits->threads.n)
		map_put(&waits->by_tid, (uint32_t)waits->threads.at[at].tid, at);
	return false;
}

bool waits_cut(struct waits *waits, uint64_t end_ns, struct wait *ret)
{
	for (; waits->n_cut < waits->threads.n; waits->n_cut++) {
		struct wait *thread = &waits->threads.at[waits->n_cut];
		if (thread->since_ns) {
			waits_make(thread, waits_add(thread, end_ns), ret);
			ret->is_cut = true;
			return true;
		}
		if (waits_make_rest(thread, ret))
			return true;
	}
	return false;
}
