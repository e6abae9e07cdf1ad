/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_machine: one event per CPU, which sees whatever runs there. Nothing is inherited: a process that
 * starts is seen from its first instruction on.
 */
#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "collector/live/perf_attach.h"
#include "collector/process/target.h"

#define KTHREADD 2 /* the parent of every kernel thread */
/* A process appears in /proc microseconds before the record of its creation is written. */
#define BIRTH_NS 2000000

static int machine_refused(const struct perf_source_options *options, int error, struct diag *diag)
{
	error = perf_events_refused(diag, error, "cannot %s %s", options->is_tree ? "sample" : "profile",
				    options->is_tree  ? "each CPU (--clock cpu)"
				    : options->cgroup ? options->cgroup
						      : "the whole machine");
	if (options->cgroup && error == -EBADF) {
		diag_why(diag, "it is not a cgroup that perf events support");
		diag_hint(diag,
			  "it must be in the hierarchy of cgroup version 2 or of the perf_event controller");
	} else if (options->cgroup && error == -ENOENT) {
		/* Without systemd, no group may have asked for any controller. */
		diag_why(diag, "the kernel has not enabled perf events for this cgroup");
		diag_hint(diag, "enable a controller in the directory above it: echo +pids "
				">.../cgroup.subtree_control");
	}
	if (error == -EACCES && geteuid() != 0)
		diag_hint(diag, "that needs root, or the %s;\n        try: sudo cpprof ...",
			  options->is_tree ? "capability CAP_PERFMON"
					   : "capabilities CAP_PERFMON, CAP_BPF, CAP_SYS_PTRACE and "
					     "CAP_DAC_READ_SEARCH");
	return error;
}

/*
 * Processes that are already running are in no record. One whose creation was seen meanwhile is: it starts
 * with its parent's state, until records say more.
 */
static void machine_learn(struct perf_attach *attach)
{
	struct pid_list all = { 0 };

	if (target_all(&all) < 0)
		source_info_note(attach->info, "/proc cannot be read: running processes have no names");
	nanosleep(&(struct timespec){ .tv_nsec = BIRTH_NS }, NULL);
	drain_round(attach->drain);
	drain_note_births(attach->drain, NULL); /* later ones are not in the list */
	drain_start_guard(attach->drain);       /* reading all these processes may take long */
	for (size_t i = 0; i < all.pids.n; i++) {
		pid_t pid = all.pids.at[i];
		if (map_find(&attach->births, (uint32_t)pid) != MAP_NONE)
			continue;
		if (target_parent(pid) == KTHREADD)
			known_fork(attach->known, pid, KTHREADD);
		known_learn(attach->known, pid, NULL);
	}
	vec_done(&all.pids);
}

int perf_attach_machine(struct perf_attach *attach, const struct perf_source_options *options,
			struct launch *launch, struct diag *diag)
{
	drain_note_births(attach->drain, &attach->births);

	int error = perf_events_add(attach->events, PERF_EVERYTHING);
	if (error)
		error = machine_refused(options, error, diag);
	else
		perf_events_enable(attach->events, 0);
	if (!error && !options->is_tree)
		machine_learn(attach);
	drain_note_births(attach->drain, NULL);
	map_done(&attach->births);
	if (error || !options->argv)
		return error;
	targets_add(attach->targets, launch->pid, 0);
	return launch_start(launch, options->argv[0], diag);
}
