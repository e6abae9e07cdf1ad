/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/wait/run_delay.h"

#include "collector/process/target.h"

#define LOOK_NS 200000000ull
#define THREADS_MAX 1024 /* reading one takes some microseconds */

void run_delays_done(struct run_delays *delays)
{
	map_done(&delays->by_tid);
	vec_done(&delays->threads);
}

void run_delays_add(struct run_delays *delays, pid_t pid, pid_t tid, bool is_new)
{
	struct run_delay it = { .pid = pid, .tid = tid };

	if (delays->threads.n == THREADS_MAX || map_find(&delays->by_tid, (uint32_t)tid) != MAP_NONE)
		return;
	if (!is_new)
		it.before_ns = it.ns = target_run_delay_ns(pid, tid);
	map_put(&delays->by_tid, (uint32_t)tid, (uint32_t)delays->threads.n);
	vec_push(&delays->threads, it);
}

void run_delays_look(struct run_delays *delays, uint64_t now_ns)
{
	if (!delays->threads.n || now_ns < delays->next_ns)
		return;
	delays->next_ns = now_ns + LOOK_NS;
	for (size_t i = 0; i < delays->threads.n; i++) {
		struct run_delay *it = &delays->threads.at[i];
		uint64_t ns = target_run_delay_ns(it->pid, it->tid);
		if (ns > it->ns) /* 0: it has ended */
			it->ns = ns;
	}
}

bool run_delays_take(struct run_delays *delays, uint64_t now_ns, struct event *ret)
{
	while (delays->threads.n) {
		struct run_delay it = delays->threads.at[--delays->threads.n];
		if (it.ns <= it.before_ns)
			continue;
		*ret = (struct event){ .kind = EVENT_SWITCH,
				       .time_ns = now_ns,
				       .pid = it.pid,
				       .tid = it.tid,
				       .sw = { .is_measured = true,
					       .is_rest = true,
					       .is_lost = true, /* where is not known */
					       .runnable_ns = it.ns - it.before_ns } };
		return true;
	}
	return false;
}
