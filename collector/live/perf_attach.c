/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_attach: opens events on what is already running.
 *
 * Threads start and end meanwhile. Events are opened and enabled first; then the threads are listed again
 * until nothing new appears. A thread created by one that already had its events has inherited them, and the
 * record of its creation is in a ring: it must not get a second set. Only then are names and mappings read;
 * they include what earlier mapping records say.
 */
#include "collector/live/perf_attach.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "collector/process/container.h"
#include "collector/process/envoy.h"
#include "collector/process/target.h"

#define HURRY_NS 250000000ull /* of CPU time at raised priority: about ten thousand events */
/* A thread appears in /proc microseconds before the record of its creation is written. */
#define BIRTH_NS 2000000
#define MAX_CONTAINERS 8
#define MAX_ROUNDS 64 /* of the search for children of children created meanwhile */

/* ---- why it was refused ---------------------------------------------------------------------- */

static bool attach_is_anothers(pid_t pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", pid);
	return stat(path, &st) == 0 && st.st_uid != geteuid();
}

/* perf_event as such is allowed, or we would not have got here. */
static void attach_explain_denial(pid_t pid, pid_t tid, struct diag *diag)
{
	diag_why(diag, "permission denied");
	if (geteuid() == 0)
		diag_hint(diag, "a container or a security module forbids it even to root");
	else
		diag_hint(diag, "it %s; try: sudo cpprof attach %s %d",
			  attach_is_anothers(pid) ? "belongs to another user"
						  : "has privileges that cpprof does not have",
			  tid ? "-t" : "-p", tid ? tid : pid);
}

static void attach_explain_absence(pid_t pid, struct diag *diag)
{
	if (target_state(pid) == 'Z') {
		diag_why(
			diag,
			"it is a zombie: it has ended, and its parent, process %d, has not waited for it yet",
			target_parent(pid));
		return;
	}
	diag_why(diag, "there is no such process");
	diag_hint(diag, "`ps -e` lists them; by name: cpprof attach -n NAME");
}

static void attach_explain_silence(struct diag *diag)
{
	diag_why(diag,
		 "it does not let itself be read: a file system that it, or another process of its user, "
		 "needs does not answer");
	diag_hint(diag, "profile it when that file system answers again, or has been unmounted");
}

/* tid 0: the whole process. */
static int attach_refused(pid_t pid, pid_t tid, int error, struct diag *diag)
{
	diag_set(diag, error, "cannot attach to %s %d", tid ? "thread" : "process", tid ? tid : pid);
	if (error == -ESRCH)
		attach_explain_absence(pid, diag);
	else if (error == -EACCES || error == -EPERM)
		attach_explain_denial(pid, tid, diag);
	else if (error == -ETIME)
		attach_explain_silence(diag);
	return error;
}

/* ---- descriptors ---------------------------------------------------------------------------- */

/* As many descriptors as the hard limit allows; root may raise that limit, too. */
static void attach_raise_file_limit(size_t wanted)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_max < wanted) {
		limit.rlim_cur = limit.rlim_max = wanted;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* ---- threads -------------------------------------------------------------------------------- */

/* For one process. */
struct attaching {
	struct perf_attach *to;
	pid_t pid;
	struct map seen; /* threads that have events, or need none */
	size_t n_watched, n_missed;
	int error; /* the last one because of which a thread was left out */
};

static void attach_wait_for_births(struct perf_attach *attach)
{
	nanosleep(&(struct timespec){ .tv_nsec = BIRTH_NS }, NULL);
	drain_round(attach->drain);
}

/*
 * Threads that start while we list threads must be listed, too: this ends sooner if we are not preempted. But
 * others must not be held up for long, however many threads there are.
 */
static void attach_end_hurry(const struct perf_attach *attach)
{
	struct timespec used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	if ((uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec > HURRY_NS)
		priority_calm(attach->priority);
}

/* If all processes report new threads, such a report does not mean that the parent was watched. */
static bool attach_has_inherited(const struct perf_attach *attach, pid_t tid)
{
	return !attach->events->watched.is_used && map_find(&attach->births, (uint32_t)tid) != MAP_NONE;
}

static void attach_thread(struct attaching *it, pid_t tid)
{
	struct perf_events *events = it->to->events;
	size_t first = events->fds.n;
	int error = perf_events_add(events, tid);

	map_put(&it->seen, (uint32_t)tid, 1);
	if (!error) {
		perf_events_enable(events, first);
		it->n_watched++;
		attach_end_hurry(it->to);
	} else if (error != -ESRCH) { /* otherwise it has just ended */
		it->n_missed++;
		it->error = error;
	}
}

/* Returns how many threads were new. The creations seen so far tell which of them have inherited events. */
static size_t attach_new_threads(struct attaching *it, const struct pid_list *threads, bool is_first)
{
	bool has_waited = is_first; /* at first there is nothing to inherit */
	size_t n_new = 0;

	for (size_t i = 0; i < threads->pids.n; i++) {
		pid_t tid = threads->pids.at[i];
		if (map_find(&it->seen, (uint32_t)tid) != MAP_NONE)
			continue;
		n_new++;
		if (!has_waited) {
			attach_wait_for_births(it->to);
			has_waited = true;
		}
		if (attach_has_inherited(it->to, tid))
			map_put(&it->seen, (uint32_t)tid, 1);
		else
			attach_thread(it, tid);
	}
	return n_new;
}

static int attach_threads(struct attaching *it)
{
	struct pid_list threads = { 0 };
	size_t per_thread = perf_events_per_thread(it->to->events) + 1; /* and its hold */
	int error = target_threads(it->pid, &threads);
	bool is_first = true;

	if (!error)
		attach_raise_file_limit(it->to->events->fds.n + threads.pids.n * per_thread + 256);
	while (!error && attach_new_threads(it, &threads, is_first)) {
		is_first = false;
		error = target_threads(it->pid, &threads);
	}
	vec_done(&threads.pids);
	if (it->n_watched == 0)
		return error ? error : it->error ? it->error : -ESRCH;
	return 0;
}

/* ---- targets -------------------------------------------------------------------------------- */

static void attach_note_missed(const struct attaching *it)
{
	struct source_info *info = it->to->info;
	size_t n_all = it->n_missed + it->n_watched;
	struct rlimit limit = { 0 };

	if (!it->n_missed)
		return;
	getrlimit(RLIMIT_NOFILE, &limit);
	if (it->error == -EMFILE)
		source_info_note(info,
				 "%zu of %zu threads of process %d are not profiled: only %llu files may be "
				 "open at once; raise that limit with ulimit -n",
				 it->n_missed, n_all, it->pid, (unsigned long long)limit.rlim_cur);
	else
		source_info_note(info, "%zu of %zu threads of process %d are not profiled: %s", it->n_missed,
				 n_all, it->pid, strerror(-it->error));
}

/* tid 0: every thread. */
static int attach_to(struct perf_attach *attach, pid_t pid, pid_t tid, struct diag *diag)
{
	struct attaching it = { .to = attach, .pid = pid };

	if (envoy_is_silent(pid)) /* the kernel would make us wait for it */
		return attach_refused(pid, tid, -ETIME, diag);
	int error = target_check_machine(pid, diag);
	if (error)
		return error;
	priority_hurry(attach->priority);
	if (tid) {
		attach_thread(&it, tid);
		error = it.n_watched ? 0 : it.error ? it.error : -ESRCH;
	} else {
		error = attach_threads(&it);
	}
	priority_calm(attach->priority);
	if (!error) {
		known_learn(attach->known, pid, &it.seen);
		attach_note_missed(&it);
		if (target_state(tid ? tid : pid) == 'T')
			source_info_note(attach->info, "process %d is stopped; to continue it: kill -CONT %d",
					 pid, pid);
	}
	map_done(&it.seen);
	return error ? attach_refused(pid, tid, error, diag) : 0;
}

/* A requested target: the recording ends with it. */
static int attach_target(struct perf_attach *attach, pid_t pid, pid_t tid, struct diag *diag)
{
	int error = attach_to(attach, pid, tid, diag);

	if (!error)
		targets_add(attach->targets, pid, tid);
	return error;
}

/* Children that are new to us, and have not inherited events from a parent that had them. */
static size_t attach_new_children(struct perf_attach *attach, const struct pid_list *children,
				  struct map *seen, size_t *n_attached)
{
	bool has_waited = false;
	size_t n_new = 0;

	for (size_t i = 0; i < children->pids.n; i++) {
		pid_t pid = children->pids.at[i];
		struct diag diag = { 0 };
		if (map_find(seen, (uint32_t)pid) != MAP_NONE)
			continue;
		if (!has_waited)
			attach_wait_for_births(attach);
		has_waited = true;
		map_put(seen, (uint32_t)pid, 1);
		n_new++;
		if (attach_has_inherited(attach, pid))
			continue;
		int error = attach_to(attach, pid, 0, &diag);
		*n_attached += !error;
		if (error && error != -ESRCH) /* otherwise it has just ended */
			source_info_note(attach->info, "child process %d is not profiled: %s", pid, diag.why);
	}
	return n_new;
}

/* Processes whose children are included: not the machine's init, whose children are everything that runs. */
static void attach_find_parents(struct perf_attach *attach, const struct perf_source_options *options,
				struct pid_list *ret)
{
	for (size_t i = 0; i < options->n_pids; i++) {
		if (!target_is_machine_init(options->pids[i])) {
			vec_push(&ret->pids, options->pids[i]);
			continue;
		}
		source_info_note(attach->info,
				 "process 1 is the parent of every service on this machine, so its child "
				 "processes are not profiled; select some of them with -p or -n");
	}
}

/* A server's master process does nothing itself: its workers are already running. */
static void attach_children(struct perf_attach *attach, const struct perf_source_options *options)
{
	struct pid_list children = { 0 }, parents = { 0 };
	struct map seen = { 0 };
	size_t n_attached = 0;

	attach_find_parents(attach, options, &parents);
	for (size_t i = 0; i < options->n_pids; i++)
		map_put(&seen, (uint32_t)options->pids[i], 1);
	for (unsigned round = 0; parents.pids.n && round < MAX_ROUNDS; round++)
		if (target_descendants(parents.pids.at, parents.pids.n, &children) < 0 ||
		    !attach_new_children(attach, &children, &seen, &n_attached))
			break;
	if (n_attached)
		source_info_note(attach->info, "%zu child process%s profiled, too; --no-inherit excludes %s",
				 n_attached, n_attached == 1 ? " is" : "es are",
				 n_attached == 1 ? "it" : "them");
	vec_done(&children.pids);
	vec_done(&parents.pids);
	map_done(&seen);
}

static bool attach_may_skip(const struct perf_source_options *options, int error)
{
	return options->skips_refused && (error == -EACCES || error == -EPERM || error == -ESRCH ||
					  error == -ENOTSUP || error == -ETIME);
}

static int attach_tid(struct perf_attach *attach, pid_t tid, struct diag *diag)
{
	pid_t pid;
	int error = target_process_of(tid, &pid);

	if (!error)
		return attach_target(attach, pid, tid, diag);
	diag_set(diag, error, "cannot attach to thread %d", tid);
	diag_why(diag, "there is no such thread");
	return error;
}

static int attach_targets(struct perf_attach *attach, const struct perf_source_options *options,
			  struct diag *diag)
{
	int error = 0;

	for (size_t i = 0; i < options->n_pids; i++) {
		error = attach_target(attach, options->pids[i], 0, diag);
		if (error && !attach_may_skip(options, error))
			return error;
		if (error)
			source_info_note(attach->info, "process %d is not profiled: %s", options->pids[i],
					 diag->why);
	}
	for (size_t i = 0; i < options->n_tids; i++) {
		error = attach_tid(attach, options->tids[i], diag);
		if (error && !attach_may_skip(options, error))
			return error;
		if (error)
			source_info_note(attach->info, "thread %d is not profiled: %s", options->tids[i],
					 diag->why);
	}
	return attach->targets->at.n ? 0 : error;
}

/* Mentions each container once, except the one that we are in ourselves. */
static void attach_note_containers(const struct perf_attach *attach)
{
	struct container own, seen[MAX_CONTAINERS] = { 0 };
	size_t n = 0;

	container_find("", getpid(), &own);
	for (size_t i = 0; i < attach->targets->at.n && n < MAX_CONTAINERS; i++) {
		struct container *one = &seen[n];
		bool is_news = container_find("", attach->targets->at.at[i].pid, one) &&
			       strcmp(one->id, own.id) != 0;
		for (size_t k = 0; k < n; k++)
			is_news = is_news && strcmp(one->id, seen[k].id) != 0;
		if (is_news && one->name)
			source_info_note(attach->info, "processes of the container '%s' (%.12s) are profiled",
					 one->name, one->id);
		else if (is_news)
			source_info_note(attach->info, "processes of the container %.12s are profiled",
					 one->id);
		container_done(one);
		n += is_news;
	}
	container_done(&own);
}

int perf_attach_all(struct perf_attach *attach, const struct perf_source_options *options, struct diag *diag)
{
	drain_note_births(attach->drain, &attach->births);
	int error = attach_targets(attach, options, diag);
	if (!error && options->inherits && options->n_pids)
		attach_children(attach, options);
	drain_note_births(attach->drain, NULL);
	map_done(&attach->births);
	if (!error)
		attach_note_containers(attach);
	return error;
}

int perf_attach_command(struct perf_attach *attach, const struct perf_source_options *options,
			struct launch *launch, struct diag *diag)
{
	attach_raise_file_limit(perf_events_per_thread(attach->events) + 1 + 256);

	int error = perf_events_add(attach->events, launch->pid);
	if (error)
		return perf_events_refused(diag, error, "cannot profile '%s'", options->argv[0]);
	if (target_changes_rights(options->argv[0]))
		source_info_note(attach->info,
				 "'%s' runs with privileges other than cpprof's, so the kernel does not "
				 "allow profiling it; try: sudo cpprof record -- ...",
				 options->argv[0]);
	targets_add(attach->targets, launch->pid, 0);
	return launch_start(launch, options->argv[0], diag);
}
