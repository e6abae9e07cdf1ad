/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/relatives.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cmd/cmd.h"

#define WATCH_NS 250000000
#define BUSY_PERCENT 5 /* of a CPU */

struct relative {
	pid_t pid, tid; /* tid 0: the process */
	const char *what;
	uint64_t cpu_ns;
};

struct relatives {
	VEC(struct relative) of;
};

static void relatives_add(struct relatives *all, pid_t pid, pid_t tid, const char *what)
{
	vec_push(&all->of, ((struct relative){ pid, tid, what, target_cpu_ns(pid, tid) }));
}

/* Processes beside the target that have its name. */
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

	target_descendants(&pid, 1, &children);
	for (size_t i = 0; i < children.pids.n; i++)
		relatives_add(all, children.pids.at[i], 0, "child process");
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
		if (threads.pids.at[i] != tid)
			relatives_add(all, pid, threads.pids.at[i], "thread");
	vec_done(&threads.pids);
}

/* NULL if nobody is busy. */
static const struct relative *relatives_busiest(struct relatives *all)
{
	const struct relative *best = NULL;

	nanosleep(&(struct timespec){ .tv_nsec = WATCH_NS }, NULL);
	for (size_t i = 0; i < all->of.n; i++) {
		struct relative *one = &all->of.at[i];
		uint64_t now = target_cpu_ns(one->pid, one->tid);
		one->cpu_ns = now > one->cpu_ns ? now - one->cpu_ns : 0;
		if (one->cpu_ns * 100 >= (uint64_t)WATCH_NS * BUSY_PERCENT &&
		    (!best || one->cpu_ns > best->cpu_ns))
			best = one;
	}
	return best;
}

void relatives_say_busy(const struct pid_list *pids, const struct pid_list *tids)
{
	struct relatives all = { 0 };

	for (size_t i = 0; i < pids->pids.n; i++)
		relatives_of_process(&all, pids->pids.at[i]);
	for (size_t i = 0; i < tids->pids.n; i++)
		relatives_of_thread(&all, tids->pids.at[i]);
	const struct relative *busy = all.of.n ? relatives_busiest(&all) : NULL;
	if (busy) {
		pid_t id = busy->tid ? busy->tid : busy->pid;
		CLEANUP(freep) char *name = target_comm(busy->pid, id);
		fprintf(stderr, "cpprof: %s %d (", busy->what, (int)id);
		cmd_print_name(stderr, name);
		fprintf(stderr, ") is busy; try: cpprof attach %s %d\n", busy->tid ? "-t" : "-p", (int)id);
	}
	vec_done(&all.of);
}
