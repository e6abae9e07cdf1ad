/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_attach: getting hold of what is already running.
 *
 * Threads come and go while we look. Events are opened and switched on first; then the threads are
 * listed again until nothing new appears. A thread that was born to one that already had its events
 * has inherited them, and the record of its birth is in a ring: it must not get a second set. Only then
 * are names and mappings read; mapping records from before that moment are in what was read.
 */
#include "collector/live/perf_live.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "collector/process/target.h"

#define HURRY_NS 250000000ull /* of CPU time in which we run before others: some ten thousand events */
#define BIRTH_NS                                                                                  \
	2000000 /* a thread shows in /proc microseconds before the record of its birth is written \
		 */

/* ---- saying why not ------------------------------------------------------------------------- */

static bool is_anothers(pid_t pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", pid);
	return stat(path, &st) == 0 && st.st_uid != geteuid();
}

/* perf_event as such is allowed, or we would not have come here. */
static void explain_denial(pid_t pid, pid_t tid, struct diag *diag)
{
	diag_why(diag, "permission denied");
	if (geteuid() == 0)
		diag_hint(diag, "a container or a security module forbids it even to root");
	else
		diag_hint(diag, "it %s; try: sudo cpprof attach %s %d",
			  is_anothers(pid) ? "belongs to another user" : "has other rights than we have",
			  tid ? "-t" : "-p", tid ? tid : pid);
}

static void explain_absence(pid_t pid, struct diag *diag)
{
	if (target_state(pid) == 'Z') {
		diag_why(diag, "it has ended, and process %d has not asked for its exit status yet",
			 target_parent(pid));
		return;
	}
	diag_why(diag, "there is no such process");
	diag_hint(diag, "`ps -e` lists them; by name: cpprof attach -n NAME");
}

/* tid 0: the whole process. */
static int refused(pid_t pid, pid_t tid, int error, struct diag *diag)
{
	diag_set(diag, error, "cannot attach to %s %d", tid ? "thread" : "process", tid ? tid : pid);
	if (error == -ESRCH)
		explain_absence(pid, diag);
	else if (error == -EACCES || error == -EPERM)
		explain_denial(pid, tid, diag);
	return error;
}

/* ---- descriptors ---------------------------------------------------------------------------- */

/* As many descriptors as we may have; root may raise the ceiling itself. */
static void raise_file_limit(size_t wanted)
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

struct attach {
	struct perf_live *live;
	pid_t pid;
	struct map seen; /* threads that have events, or need none */
	pid_t alive;     /* a thread to ask /proc through: the first one may have ended */
	size_t n_watched, n_missed;
	int error; /* the last one that kept a thread out */
};

static void wait_for_births(struct perf_live *live)
{
	nanosleep(&(struct timespec){ .tv_nsec = BIRTH_NS }, NULL);
	perf_live_round(live);
}

/*
 * Threads that come while we look for threads must be looked for, too: that ends sooner if nobody keeps us
 * from it. But others must not wait for us for long, however many threads there are.
 */
static void end_hurry(const struct perf_live *live)
{
	struct timespec used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	if ((uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec > HURRY_NS)
		priority_calm(&live->priority);
}

static void watch_thread(struct attach *attach, pid_t tid)
{
	struct perf_live *live = attach->live;
	size_t first = live->events.fds.n;
	int error = perf_events_add(&live->events, tid);

	map_put(&attach->seen, (uint32_t)tid, 1);
	if (!error) {
		perf_events_enable(&live->events, first);
		attach->n_watched++;
		attach->alive = tid;
		end_hurry(live);
	} else if (error != -ESRCH) { /* else it has just ended */
		attach->n_missed++;
		attach->error = error;
	}
}

/* How many threads were new; the births seen so far settle which of them have inherited their events. */
static size_t watch_new(struct attach *attach, const struct pid_list *threads, bool is_first)
{
	struct perf_live *live = attach->live;
	bool has_waited = is_first; /* at first there is nobody to inherit from */
	size_t n_new = 0;

	for (size_t i = 0; i < threads->pids.n; i++) {
		pid_t tid = threads->pids.at[i];
		if (map_find(&attach->seen, (uint32_t)tid) != MAP_NONE)
			continue;
		n_new++;
		if (!has_waited) {
			wait_for_births(live);
			has_waited = true;
		}
		if (map_find(&live->forked, (uint32_t)tid) != MAP_NONE)
			map_put(&attach->seen, (uint32_t)tid, 1);
		else
			watch_thread(attach, tid);
	}
	return n_new;
}

static int watch_process(struct attach *attach)
{
	struct pid_list threads = { 0 };
	size_t per_thread = perf_events_per_thread(&attach->live->events);
	int error = target_threads(attach->pid, &threads);
	bool is_first = true;

	if (!error)
		raise_file_limit(attach->live->events.fds.n + threads.pids.n * per_thread + 256);
	while (!error && watch_new(attach, &threads, is_first)) {
		is_first = false;
		error = target_threads(attach->pid, &threads);
	}
	vec_done(&threads.pids);
	if (attach->n_watched == 0)
		return error ? error : attach->error ? attach->error : -ESRCH;
	return 0;
}

/* ---- names and mappings --------------------------------------------------------------------- */

/* What was there before the recording carries time 0. */
static void learn_mapping(void *context, const struct target_map *map)
{
	struct attach *attach = context;
	struct perf_live *live = attach->live;
	struct mapping_file file = {
		.inode = map->inode, .major = map->major, .minor = map->minor, .tid = attach->alive
	};
	struct event event = { .kind = EVENT_MAPPING, .pid = attach->pid, .tid = attach->pid };

	if (!map->is_executable)
		return;
	event.mapping = (struct mapping){ .start = map->start,
					  .len = map->end - map->start,
					  .file_offset = map->offset,
					  .is_executable = true,
					  .path = alloc_text(map->path) };
	mapper_resolve(live->mapper, attach->pid, &file, &event.mapping);
	vec_push(&live->known, event);
}

static void learn_names(struct attach *attach)
{
	struct perf_live *live = attach->live;
	struct pid_list threads = { 0 };

	target_threads(attach->pid, &threads);
	for (size_t i = 0; i < threads.pids.n; i++) {
		pid_t tid = threads.pids.at[i];
		if (map_find(&attach->seen, (uint32_t)tid) == MAP_NONE)
			continue;
		vec_push(&live->known, ((struct event){ .kind = EVENT_COMM,
							.pid = attach->pid,
							.tid = tid,
							.comm = target_comm(attach->pid, tid) }));
	}
	vec_done(&threads.pids);
}

static void learn(struct attach *attach)
{
	struct perf_live *live = attach->live;

	if (map_find(&live->maps_read, (uint32_t)attach->pid) != MAP_NONE)
		return; /* another thread of a process we know */
	learn_names(attach);
	map_put(&live->maps_read, (uint32_t)attach->pid, (uint32_t)live->maps_ns.n);
	vec_push(&live->maps_ns, perf_live_now());
	target_maps(attach->alive, learn_mapping, attach);
}

void perf_source_look_again(struct source *source, pid_t pid)
{
	struct perf_live *live = (struct perf_live *)source;
	uint32_t looked = map_find(&live->looked_for, (uint32_t)pid);
	struct attach attach = { .live = live, .pid = pid, .alive = pid };

	if (live->n_losses == (looked == MAP_NONE ? 0 : looked))
		return;
	map_put(&live->looked_for, (uint32_t)pid, live->n_losses);
	target_maps(pid, learn_mapping, &attach);
}

/* ---- targets -------------------------------------------------------------------------------- */

static void add_target(struct perf_live *live, pid_t pid, pid_t tid)
{
	int pidfd = tid && tid != pid ? -1 : (int)syscall(SYS_pidfd_open, pid, 0);

	vec_push(&live->targets, ((struct perf_target){ .pid = pid, .tid = tid, .pidfd = pidfd }));
}

static void note_missed(struct attach *attach)
{
	struct rlimit limit = { 0 };

	if (!attach->n_missed)
		return;
	getrlimit(RLIMIT_NOFILE, &limit);
	if (attach->error == -EMFILE)
		perf_live_note(attach->live,
			       "%zu of %zu threads of process %d are not profiled: no more than %llu files "
			       "may be open; "
			       "raise it with ulimit -n",
			       attach->n_missed, attach->n_missed + attach->n_watched, attach->pid,
			       (unsigned long long)limit.rlim_cur);
	else
		perf_live_note(attach->live, "%zu of %zu threads of process %d are not profiled: %s",
			       attach->n_missed, attach->n_missed + attach->n_watched, attach->pid,
			       strerror(-attach->error));
}

/* tid 0: every thread. */
static int attach_target(struct perf_live *live, pid_t pid, pid_t tid, struct diag *diag)
{
	struct attach attach = { .live = live, .pid = pid };
	int error = target_check_machine(pid, diag);

	if (error)
		return error;
	priority_hurry(&live->priority);
	if (tid) {
		watch_thread(&attach, tid);
		error = attach.n_watched ? 0 : attach.error ? attach.error : -ESRCH;
	} else {
		error = watch_process(&attach);
	}
	priority_calm(&live->priority);
	if (!error) {
		add_target(live, pid, tid);
		learn(&attach);
		note_missed(&attach);
		if (target_state(tid ? tid : pid) == 'T')
			perf_live_note(live, "process %d is stopped; it goes on with: kill -CONT %d", pid,
				       pid);
	}
	map_done(&attach.seen);
	return error ? refused(pid, tid, error, diag) : 0;
}

static bool may_skip(const struct perf_source_options *options, int error)
{
	return options->skips_refused &&
	       (error == -EACCES || error == -EPERM || error == -ESRCH || error == -ENOTSUP);
}

int perf_attach_all(struct perf_live *live, const struct perf_source_options *options, struct diag *diag)
{
	int error = 0;

	live->is_attaching = true;
	for (size_t i = 0; i < options->n_pids; i++) {
		error = attach_target(live, options->pids[i], 0, diag);
		if (error && !may_skip(options, error))
			return error;
		if (error)
			perf_live_note(live, "process %d is not profiled: %s", options->pids[i], diag->why);
	}
	for (size_t i = 0; i < options->n_tids; i++) {
		pid_t pid;
		error = target_process_of(options->tids[i], &pid);
		if (error) {
			diag_set(diag, error, "cannot attach to thread %d", options->tids[i]);
			diag_why(diag, "there is no such thread");
			return error;
		}
		error = attach_target(live, pid, options->tids[i], diag);
		if (error)
			return error;
	}
	live->is_attaching = false;
	return live->targets.n ? 0 : error;
}

int perf_attach_command(struct perf_live *live, const struct perf_source_options *options, struct diag *diag)
{
	raise_file_limit(perf_events_per_thread(&live->events) + 256);

	int error = perf_events_add(&live->events, live->launch.pid);
	if (error)
		return perf_events_refused(diag, error, "cannot profile '%s'", options->argv[0]);
	if (target_changes_rights(options->argv[0]))
		perf_live_note(live,
			       "'%s' runs with other rights than ours, which the kernel lets nobody watch; "
			       "try: sudo cpprof record -- ...",
			       options->argv[0]);
	add_target(live, live->launch.pid, 0);
	return launch_start(&live->launch, options->argv[0], diag);
}
