/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/bursts.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "collector/process/target.h"
#include "collector/step/step_burst.h"
#include "recording/burst_ways.h"

#define CHILD_NOT_ALLOWED 121
#define NAP_MS 20 /* while no thread is running */

/* ---- the process that steps --------------------------------------------------------------------------- */

struct bursts_job {
	pid_t pid;
	double rate;
	int control, parents; /* its end, and ours */
	uint64_t random;
};

static uint64_t job_random(struct bursts_job *job)
{
	job->random ^= job->random << 13;
	job->random ^= job->random >> 7;
	job->random ^= job->random << 17;
	return job->random;
}

/* False when it is over. */
static bool job_sleep(const struct bursts_job *job, uint64_t ms)
{
	struct pollfd control = { .fd = job->control, .events = POLLIN };

	return poll(&control, 1, (int)ms) == 0;
}

/* One of the running threads; 0 = none is running. */
static pid_t job_thread(struct bursts_job *job)
{
	struct pid_list threads = { 0 };
	pid_t found = 0;
	uint32_t n = 0;

	if (target_threads(job->pid, &threads) == 0)
		for (size_t i = 0; i < threads.pids.n; i++)
			if (target_state(threads.pids.at[i]) == 'R' && job_random(job) % ++n == 0)
				found = threads.pids.at[i];
	vec_done(&threads.pids);
	return found;
}

static bool job_write(int to, const struct burst *burst)
{
	struct writer w = { 0 };

	write_u32(&w, (uint32_t)burst->pcs.n);
	write_u64(&w, burst->stopped_ns);
	for (size_t i = 0; i < burst->pcs.n; i++)
		write_u64(&w, burst->pcs.at[i]);
	bool is_written = write(to, w.at, w.len) == (ssize_t)w.len;
	writer_done(&w);
	return is_written;
}

/* In the child. Signals that end us are blocked: it ends between two bursts, when its control pipe is closed.
 */
static int job_run(void *context, int result)
{
	static const struct burst_limits limits = { BURST_STEPS, BURST_NS };
	struct bursts_job *job = context;
	uint64_t start = clock_now_ns(), stopped = 0;
	struct burst burst = { 0 };
	sigset_t all;

	close(job->parents); /* otherwise it would never see it closed */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	setsid(); /* signals to our process group are not meant for it */
	for (;;) {
		uint64_t mean_ms = (uint64_t)(1000 / job->rate) + 1;
		if (!job_sleep(job, mean_ms / 2 + job_random(job) % mean_ms))
			break;
		/* The time the process was stopped must stay a small part of the total. */
		if ((double)stopped > BURSTS_SHARE * (double)(clock_now_ns() - start))
			continue;
		char state = target_state(job->pid);
		pid_t tid = job_thread(job);
		if (state == 0 || state == 'Z')
			break;
		if (!tid) {
			if (!job_sleep(job, NAP_MS))
				break;
			continue;
		}
		if (burst_take(tid, &limits, &burst) < 0)
			return CHILD_NOT_ALLOWED;
		stopped += burst.stopped_ns;
		if (!job_write(result, &burst))
			break;
	}
	return 0;
}

/* ---- beginning and end -------------------------------------------------------------------------------- */

int bursts_open(struct bursts *bursts, struct paths *paths, const struct bursts_request *request,
		struct diag *diag)
{
	*bursts = (struct bursts){ .control = -1, .pid = request->pid, .rate = request->rate };
	*paths = (struct paths){ .images = images_new(), .pid = request->pid };
	chosen_init(&paths->chosen, request->names, request->n_names);
	if (!request->argv)
		return paths_look_at_process(paths) < 0
			       ? diag_set(diag, -ESRCH, "cannot read the memory mappings of process %d",
					  (int)request->pid)
			       : 0;
	int error = launch_prepare(request->argv, request->signals, &paths->launch, diag);
	paths->pid = bursts->pid = paths->launch.pid;
	return error;
}

int bursts_start(struct bursts *bursts, struct paths *paths, struct diag *diag)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return diag_set(diag, -errno, "cannot create a pipe");
	struct bursts_job job = { paths->pid, bursts->rate, ends[0], ends[1], clock_now_ns() | 1 };
	bursts->control = ends[1];
	struct child_options options = {
		.run = job_run, .context = &job, .outlives_us = true, .has_result = true
	};
	int error = child_start(&bursts->child, &options);
	close(ends[0]);
	return error ? diag_set(diag, error, "cannot start the single-stepping process") : 0;
}

bool bursts_is_over(struct bursts *bursts, struct paths *paths)
{
	paths_look_at_process(paths);
	return !child_is_busy(&bursts->child);
}

static int bursts_refused(const struct paths *paths, struct diag *diag)
{
	diag_set(diag, -EPERM, "process %d cannot be single-stepped", (int)paths->pid);
	diag_hint(diag, "run as root, or allow it with: sudo sysctl kernel.yama.ptrace_scope=0; no other "
			"debugger may be attached");
	return -EPERM;
}

int bursts_finish(struct bursts *bursts, struct paths *paths, const struct bursts_request *request,
		  struct diag *diag)
{
	struct burst_ways ways;

	if (bursts->control >= 0)
		close(bursts->control);
	bursts->control = -1;
	int status = child_wait(&bursts->child);
	if (status == CHILD_NOT_ALLOWED)
		return bursts_refused(paths, diag);
	burst_ways_init(&ways, paths, request->names, request->n_names);
	struct reader r = reader_of(child_result(&bursts->child));
	while (reader_left(&r) && !r.failed) {
		uint32_t n = read_u32(&r);
		uint64_t stopped = read_u64(&r);
		struct bytes pcs = read_bytes(&r, (uint64_t)n * sizeof(uint64_t));
		if (r.failed)
			break;
		bursts->n++;
		bursts->n_empty += n < 2;
		bursts->n_steps += n ? n - 1 : 0;
		bursts->stopped_ns += stopped;
		bursts->longest_ns = stopped > bursts->longest_ns ? stopped : bursts->longest_ns;
		burst_ways_add(&ways, pcs);
	}
	burst_ways_finish(&ways);
	return 0;
}

void bursts_close(struct bursts *bursts)
{
	if (bursts->control >= 0)
		close(bursts->control);
	if (bursts->child.was_started)
		child_wait(&bursts->child);
	child_done(&bursts->child);
}
