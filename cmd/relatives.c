/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/relatives.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "cmd/cmd.h"

#define BUSY_PERCENT 5 /* of a CPU, or more */
#define IDLE_PERCENT 1 /* of a CPU, or less; the master process of a server wakes up from time to time */

struct relative {
	pid_t pid, tid;   /* tid 0: the process */
	const char *what; /* NULL: a target itself */
	uint64_t cpu_ns;
};

struct relatives {
	const struct pid_list *pids, *tids;
	bool inherits;
	uint64_t at_ns;
	VEC(struct relative) of;
};

static void relatives_add(struct relatives *all, pid_t pid, pid_t tid, const char *what)
{
	vec_push(&all->of, ((struct relative){ pid, tid, what, target_cpu_ns(pid, tid) }));
}

/* Other processes with the name of the target. */
static void relatives_add_siblings(struct relatives *all, pid_t pid)
{
	CLEANUP(freep) char *name = target_comm(pid, pid);
	struct pid_list same = { 0 };

	if (name[0])
		target_find(name, &same);
	for (size_t i = 0; i < same.pids.n; i++)
		if (same.pids.at[i] != pid && target_parent(same.pids.at[i]) == target_parent(pid))
			relatives_add(all, same.pids.at[i], 0, "process of the same name");
	vec_done(&same.pids);
}

static void relatives_of_process(struct relatives *all, pid_t pid)
{
	struct pid_list children = { 0 };

	relatives_add(all, pid, 0, NULL);
	target_descendants(&pid, 1, &children);
	bool are_targets = all->inherits && pid != 1; /* everything descends from process 1: not recorded */
	for (size_t i = 0; i < children.pids.n; i++)
		relatives_add(all, children.pids.at[i], 0, are_targets ? NULL : "child process");
	vec_done(&children.pids);
	if (target_parent(pid) > 1 && target_parent(pid) != getpid())
		relatives_add(all, target_parent(pid), 0, "parent process");
	relatives_add_siblings(all, pid);
}

static void relatives_of_thread(struct relatives *all, pid_t tid)
{
	struct pid_list threads = { 0 };
	pid_t pid;

	if (target_process_of(tid, &pid) < 0)
		return;
	target_threads(pid, &threads);
	for (size_t i = 0; i < threads.pids.n; i++)
		relatives_add(all, pid, threads.pids.at[i], threads.pids.at[i] == tid ? NULL : "thread");
	vec_done(&threads.pids);
}

static void relatives_list(struct relatives *all)
{
	all->at_ns = clock_now_ns();
	for (size_t i = 0; i < all->pids->pids.n; i++)
		relatives_of_process(all, all->pids->pids.at[i]);
	for (size_t i = 0; i < all->tids->pids.n; i++)
		relatives_of_thread(all, all->tids->pids.at[i]);
}

struct relatives *relatives_watch(const struct pid_list *pids, const struct pid_list *tids, bool inherits)
{
	struct relatives *all = alloc_zero(1, sizeof(*all));

	*all = (struct relatives){ .pids = pids, .tids = tids, .inherits = inherits };
	relatives_list(all);
	return all;
}

void relatives_free(struct relatives *relatives)
{
	if (!relatives)
		return;
	vec_done(&relatives->of);
	free(relatives);
}

/* CPU time since then; all of it if the process is newer. */
static uint64_t relatives_used(const struct relatives *before, const struct relative *now)
{
	for (size_t i = 0; i < before->of.n; i++) {
		const struct relative *then = &before->of.at[i];
		if (then->pid == now->pid && then->tid == now->tid)
			return now->cpu_ns > then->cpu_ns ? now->cpu_ns - then->cpu_ns : 0;
	}
	return now->cpu_ns;
}

/* NULL if the targets themselves were busy, or nothing was. */
static const struct relative *relatives_busiest(const struct relatives *before, const struct relatives *now)
{
	const struct relative *best = NULL;
	uint64_t elapsed_ns = now->at_ns - before->at_ns, most = 0, by_targets = 0;

	for (size_t i = 0; i < now->of.n; i++) {
		uint64_t used = relatives_used(before, &now->of.at[i]);
		if (!now->of.at[i].what) {
			by_targets += used;
		} else if (used > most && used * 100 >= elapsed_ns * BUSY_PERCENT) {
			best = &now->of.at[i];
			most = used;
		}
	}
	return by_targets * 100 < elapsed_ns * IDLE_PERCENT ? best : NULL;
}

void relatives_say_busy(const struct relatives *before)
{
	struct relatives *now = relatives_watch(before->pids, before->tids, before->inherits);
	const struct relative *busy = relatives_busiest(before, now);

	if (busy) {
		pid_t id = busy->tid ? busy->tid : busy->pid;
		CLEANUP(freep) char *name = target_comm(busy->pid, id);
		fprintf(stderr, "cpprof: %s %d (", busy->what, (int)id);
		cmd_print_name(stderr, name);
		fprintf(stderr, ") is busy; try: cpprof attach %s %d\n", busy->tid ? "-t" : "-p", (int)id);
	}
	relatives_free(now);
}
