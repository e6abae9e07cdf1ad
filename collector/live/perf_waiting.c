/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_waiting: threads that are already waiting when samples begin. Such a thread has left its CPU before,
 * so no sample says where: that is looked up, if possible.
 */
#include "collector/live/perf_source_private.h"
#include "collector/process/target.h"

static void waiting_note(struct perf_live *live, pid_t pid, pid_t tid, uint64_t now_ns)
{
	char state = target_state(tid);

	if (live->source.info.has_run_delays)
		run_delays_add(&live->run_delays, pid, tid, false);
	if (state && state != 'Z' && state != 'X') /* a runnable one may not be running */
		vec_push(&live->before, (struct event){ .kind = EVENT_SWITCH,
							.time_ns = now_ns,
							.pid = pid,
							.tid = tid,
							.sw = { .is_out = true, .is_cut = true } });
}

static void waiting_note_all(struct perf_live *live, pid_t pid, uint64_t now_ns)
{
	struct pid_list threads = { 0 };

	if (target_threads(pid, &threads) == 0)
		for (size_t i = 0; i < threads.pids.n; i++)
			waiting_note(live, pid, threads.pids.at[i], now_ns);
	vec_done(&threads.pids);
}

/* Children that were not requested by their own pid; those of init are everything. */
static void waiting_note_children(struct perf_live *live, const pid_t *pids, size_t n, uint64_t now_ns)
{
	struct pid_list children = { 0 };

	for (size_t i = 0; i < n; i++)
		if (target_is_machine_init(pids[i]))
			return;
	if (n && target_descendants(pids, n, &children) == 0)
		for (size_t i = 0; i < children.pids.n; i++)
			waiting_note_all(live, children.pids.at[i], now_ns);
	vec_done(&children.pids);
}

void perf_live_find_waiting(struct perf_live *live, const struct perf_waiting *whose, uint64_t now_ns)
{
	for (size_t i = 0; i < whose->n_pids; i++)
		waiting_note_all(live, whose->pids[i], now_ns);
	for (size_t i = 0; i < whose->n_tids; i++) {
		pid_t pid = whose->tids[i];
		target_process_of(whose->tids[i], &pid);
		waiting_note(live, pid, whose->tids[i], now_ns);
	}
	if (whose->inherits)
		waiting_note_children(live, whose->pids, whose->n_pids, now_ns);
	perf_live_place_waiting(live);
}

void perf_live_find_waiting_now(struct perf_live *live, uint64_t now_ns)
{
	struct pid_list pids = { 0 }, tids = { 0 };

	for (size_t i = 0; i < live->targets.at.n; i++) {
		const struct target *target = &live->targets.at.at[i];
		if (target->tid)
			vec_push(&tids.pids, target->tid);
		else
			vec_push(&pids.pids, target->pid);
	}
	run_delays_restart(&live->run_delays);
	perf_live_find_waiting(live,
			       &(struct perf_waiting){ pids.pids.at, pids.pids.n, tids.pids.at, tids.pids.n,
						       live->inherits },
			       now_ns);
	vec_done(&pids.pids);
	vec_done(&tids.pids);
}
