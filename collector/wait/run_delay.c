/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/wait/run_delay.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "collector/process/target.h"

#define LOOK_NS 200000000ull /* between two readings */
#define THREADS_MAX 1024     /* reading one takes some microseconds */

/* 0 if the thread is gone, or the kernel does not count it. */
static uint64_t run_delay_read(pid_t pid, pid_t tid)
{
	char path[64];
	unsigned long long ns;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", pid, tid);
	CLEANUP(freep) char *stat = target_read_file(path, NULL);
	return stat && sscanf(stat, "%*u %llu", &ns) == 1 ? ns : 0;
}

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
		it.before_ns = it.ns = run_delay_read(pid, tid);
	map_put(&delays->by_tid, (uint32_t)tid, (uint32_t)delays->threads.n);
	vec_push(&delays->threads, it);
}

void run_delays_restart(struct run_delays *delays)
{
	for (size_t i = 0; i < delays->threads.n; i++) {
		struct run_delay *it = &delays->threads.at[i];
		it->before_ns = it->ns = run_delay_read(it->pid, it->tid);
	}
}

void run_delays_look(struct run_delays *delays, uint64_t now_ns)
{
	if (!delays->threads.n || now_ns < delays->next_ns)
		return;
	delays->next_ns = now_ns + LOOK_NS;
	for (size_t i = 0; i < delays->threads.n; i++) {
		struct run_delay *it = &delays->threads.at[i];
		uint64_t ns = run_delay_read(it->pid, it->tid);
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
					       .is_lost = true, /* its call path is not known */
					       .runnable_ns = it.ns - it.before_ns } };
		return true;
	}
	return false;
}
