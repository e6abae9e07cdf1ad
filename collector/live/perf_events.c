/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_events: opens events, and the rings they write into.
 */
#include "collector/live/perf_events.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "collector/process/target.h"
#include "collector/record/perf_record.h"
#include "collector/record/perf_regs.h"

#define RING_BYTES (16u << 20) /* a second of 16 KiB snapshots at 997 Hz */
/* Used if it holds a second of samples: writing to memory that stays in the cache is faster. */
#define RING_SMALL (8u << 20)
#define RINGS_BYTES (256ull << 20) /* of all CPUs together */
#define RING_LEAST (128u << 10)    /* two of the largest records */
#define FDS_RESERVED 24            /* descriptors left for reading images and writing the profile */
/* Drained when an eighth is full: a thousand threads that start at once fill the rest in 30 ms. */
#define WAKEUP_FRACTION 8

static int events_open_flags(struct perf_event_attr *attr, pid_t tid, int cpu, int leader,
			     unsigned long flags)
{
	long fd = syscall(SYS_perf_event_open, attr, tid, cpu, leader, PERF_FLAG_FD_CLOEXEC | flags);

	return fd < 0 ? -errno : (int)fd;
}

static int events_open_one(struct perf_event_attr *attr, pid_t tid, int cpu, int leader)
{
	return events_open_flags(attr, tid, cpu, leader, 0);
}

/* Only tries. On a CPU if that is allowed: an event on a thread slows down all switches on the machine, until
 * a second after it is closed. */
static int events_try(struct perf_event_attr *attr)
{
	int fd = events_open_one(attr, PERF_EVERYTHING, 0, -1);

	return fd >= 0 ? fd : events_open_one(attr, 0, -1, -1);
}

#define FORMAT_TIMES (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)
#define NO_LEADER (-1)

/* ---- attributes ----------------------------------------------------------------------------- */

static struct perf_event_attr events_base_attr(uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = { .type = type, .size = sizeof(attr), .config = config };

	attr.disabled = 1;
	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC;
	attr.exclude_hv = 1;
	return attr;
}

struct perf_event_attr perf_event_attr_of(const struct event_spec *spec, bool with_kernel)
{
	struct perf_event_attr attr = events_base_attr(spec->type, spec->config);

	attr.config1 = spec->config1;
	attr.config2 = spec->config2;
	attr.bp_type = spec->breakpoint;
	attr.precise_ip = spec->precise & 3u;
	attr.exclude_user = spec->excludes_user;
	attr.exclude_kernel = spec->excludes_kernel || !with_kernel;
	return attr;
}

static uint64_t events_lost_format(void)
{
	struct perf_event_attr attr = events_base_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);

	attr.exclude_kernel = 1;
	attr.read_format = PERF_COUNTS_LOST;
	int fd = events_try(&attr);
	if (fd < 0)
		return 0;
	close(fd);
	return PERF_COUNTS_LOST;
}

/* The same for all events: they share the rings, and what is no sample does not say what layout it has. */
static void events_add_sampling(struct perf_event_attr *attr, const struct perf_want *want)
{
	attr->sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			    PERF_SAMPLE_PERIOD | PERF_SAMPLE_REGS_USER;
	if (!want->has_small_records)
		attr->sample_type |= PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU;
	attr->sample_id_all = 1;
	attr->sample_regs_user = perf_regs_mask(want->isa);
	if (want->stack_size) {
		attr->sample_type |= PERF_SAMPLE_STACK_USER;
		attr->sample_stack_user = want->stack_size;
	}
	if (want->is_probed)
		attr->sample_type |= PERF_SAMPLE_RAW;
	if (want->with_kernel) {
		attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
		attr->exclude_callchain_user = 1;
	}
	attr->inherit = want->is_inherited;
	attr->read_format = events_lost_format() | FORMAT_TIMES;
	if (want->has_groups) {
		attr->sample_type |= PERF_SAMPLE_READ;
		attr->read_format |= PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	}
}

bool perf_event_is_member(const struct perf_event_attr *attr)
{
	return !attr->freq && attr->sample_period == 0;
}

/* Not by a counter of the processor, and not a clock. Of such an event, if it is to say its period in each
 * sample, the kernel samples every occurrence, whatever the period is. */
bool perf_event_is_counted_by_kernel(const struct event_spec *spec)
{
	return !spec->is_clock && (spec->type == PERF_TYPE_SOFTWARE || spec->type == PERF_TYPE_TRACEPOINT ||
				   spec->type == PERF_TYPE_BREAKPOINT);
}

static void events_add_rate(struct perf_event_attr *attr, const struct event_spec *spec,
			    const struct perf_want *want)
{
	uint64_t period = spec->period ? spec->period : spec->frequency ? 0 : want->period;

	if (spec->is_member) { /* counts whenever the first of its group does */
		attr->disabled = 0;
		return;
	}
	attr->freq = period == 0;
	if (period)
		attr->sample_period = period;
	else
		attr->sample_freq = spec->frequency ? spec->frequency : want->frequency;
	if (period > 1 && perf_event_is_counted_by_kernel(spec))
		attr->sample_type &= ~(uint64_t)PERF_SAMPLE_PERIOD;
}

/* Only one event reports names, mappings, forks and exits; otherwise each record would come many times. */
static void events_add_tracking(struct perf_event_attr *attr)
{
	attr->mmap = 1;
	attr->mmap2 = 1;
	attr->build_id = 1;
	attr->comm = 1;
	attr->comm_exec = 1;
	attr->task = 1;
}

static void events_make_attrs(struct perf_events *events, const struct event_spec *specs, size_t n,
			      const struct perf_want *want)
{
	for (size_t i = 0; i < n; i++) {
		struct perf_event_attr attr = perf_event_attr_of(&specs[i], want->with_kernel);
		events_add_sampling(&attr, want);
		events_add_rate(&attr, &specs[i], want);
		attr.context_switch = specs[i].is_wait || (want->has_switches && i == 0);
		if (specs[i].is_wait)
			events->wait_attr = i;
		attr.enable_on_exec = want->starts_on_exec && !want->starts_later && !specs[i].is_member;
		vec_push(&events->attrs, attr);
	}
	events->n_sampling = n;
	/* A process may join a cgroup after it has mapped its files: mappings are tracked wherever it is. */
	if (want->starts_later || want->is_probed || want->cgroup) {
		struct perf_event_attr attr = events_base_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
		events_add_sampling(&attr, want);
		attr.exclude_kernel = 1;
		attr.sample_period = 1; /* it never counts, so it never samples */
		attr.enable_on_exec = want->starts_on_exec;
		vec_push(&events->attrs, attr);
	}
	events_add_tracking(&events->attrs.at[events->attrs.n - 1]);
}

int perf_events_probe(const struct event_spec *spec, bool with_kernel)
{
	struct perf_event_attr attr = perf_event_attr_of(spec, with_kernel);

	attr.sample_period = 1u << 30; /* precise events must sample */
	int fd = events_try(&attr);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

int perf_events_probe_group(const struct event_spec *specs, size_t n, const struct perf_want *want)
{
	VEC(int) fds = { 0 };
	int error = 0;

	for (size_t i = 0; !error && i < n; i++) {
		struct perf_event_attr attr = perf_event_attr_of(&specs[i], want->with_kernel);
		events_add_sampling(&attr, want);
		events_add_rate(&attr, &specs[i], want);
		int fd = events_open_one(&attr, 0, -1, i ? fds.at[0] : NO_LEADER);
		if (fd < 0)
			error = fd;
		else
			vec_push(&fds, fd);
	}
	while (fds.n)
		close(fds.at[--fds.n]);
	vec_done(&fds);
	return error;
}

/* ---- CPUs and rings ------------------------------------------------------------------------- */

/* An event on any thread, ours included, slows down every switch on the machine; one on a CPU does not. */
static int events_open_anchor(int cpu, size_t ring_bytes, bool spares_threads)
{
	struct perf_event_attr attr = events_base_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);

	attr.exclude_kernel = 1;
	attr.watermark = 1;
	attr.wakeup_watermark = (uint32_t)(ring_bytes / WAKEUP_FRACTION);
	int fd = spares_threads ? events_open_one(&attr, PERF_EVERYTHING, cpu, NO_LEADER) : -EACCES;
	return fd >= 0 ? fd : events_open_one(&attr, 0, cpu, NO_LEADER);
}

int perf_events_add_ring(struct perf_events *events, size_t cpu)
{
	int fd = events_open_anchor(events->cpus.at[cpu], events->ring_bytes, events->spares_threads);
	int error = fd < 0 ? fd : drain_add_ring(events->drain, fd, events->ring_bytes);

	if (!error)
		vec_push(&events->anchors, fd);
	else if (fd >= 0)
		close(fd);
	return error;
}

static int events_open_anchors(struct perf_events *events, size_t ring_bytes, struct diag *diag)
{
	for (size_t i = 0; i < events->cpus.n; i++) {
		int fd = events_open_anchor(events->cpus.at[i], ring_bytes, events->spares_threads);
		if (fd == -ENODEV) { /* it has just been taken offline */
			events->cpus.at[i--] = events->cpus.at[--events->cpus.n];
			continue;
		}
		if (fd < 0)
			return perf_events_refused(diag, fd, "cannot open a perf event on CPU %d",
						   events->cpus.at[i]);
		vec_push(&events->anchors, fd);
	}
	return 0;
}

static void events_close_anchors(struct perf_events *events)
{
	for (size_t i = 0; i < events->anchors.n; i++)
		close(events->anchors.at[i]);
	vec_clear(&events->anchors);
}

static int events_open_rings(struct perf_events *events, size_t bytes, struct diag *diag)
{
	int error = events_open_anchors(events, bytes, diag);

	for (size_t i = 0; !error && i < events->anchors.n; i++) {
		error = drain_add_ring(events->drain, events->anchors.at[i], bytes);
		if (error)
			diag_set(diag, error, "cannot map a ring buffer of %zu KiB", bytes >> 10);
	}
	if (error) {
		drain_remove_rings(events->drain);
		events_close_anchors(events);
	}
	events->ring_bytes = bytes;
	return error;
}

uint64_t perf_events_bytes_a_second(const struct perf_events *events)
{
	uint64_t bytes = 0;

	if (!events->n_sampling)
		return UINT64_MAX;
	for (size_t i = 0; i < events->n_sampling; i++) {
		const struct perf_event_attr *attr = &events->attrs.at[i];
		if (perf_event_is_member(attr))
			continue;
		if (!attr->freq || i == events->wait_attr)
			return UINT64_MAX;
		bytes += attr->sample_freq * attr->sample_stack_user;
	}
	return bytes;
}

/* The command that is profiled keeps its own limit. */
static void events_raise_lock_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_MEMLOCK, &limit);
}

/* Large enough for a second, within the budget and the limit on locked memory. */
static int events_make_rings(struct perf_events *events, uint64_t budget, struct diag *diag)
{
	uint64_t share = (budget ? budget : RINGS_BYTES) / events->cpus.n;
	size_t bytes = !budget && perf_events_bytes_a_second(events) <= RING_SMALL ? RING_SMALL : RING_BYTES;
	int error;

	events_raise_lock_limit();
	while (bytes > share && bytes > RING_LEAST)
		bytes /= 2;
	while ((error = events_open_rings(events, bytes, diag)) && (error == -EPERM || error == -ENOMEM) &&
	       bytes > RING_LEAST)
		bytes /= 2;
	if (error == -EPERM)
		diag_hint(diag, "the limit on locked memory is too low; try: ulimit -l unlimited");
	return error;
}

/* ---- a session ------------------------------------------------------------------------------ */

static void events_make_layouts(struct perf_events *events, const struct isa *isa)
{
	for (size_t i = 0; i < events->attrs.n; i++) {
		vec_push(&events->layouts, perf_layout_of(&events->attrs.at[i], isa, 0));
		events->have_layouts |=
			events->layouts.at[i].sample_type != events->layouts.at[0].sample_type;
	}
}

const struct perf_layout *perf_events_layout(const struct perf_events *events, struct bytes sample)
{
	uint64_t id;
	uint32_t attr = events->have_layouts && perf_record_id(sample, &events->layouts.at[0], &id)
				? map_find(&events->by_id, id)
				: MAP_NONE;

	return &events->layouts.at[attr < events->layouts.n ? attr : 0]; /* others never sample */
}

int perf_events_init(struct perf_events *events, const struct event_spec *specs, size_t n,
		     const struct perf_want *want, struct drain *drain, struct diag *diag)
{
	*events = (struct perf_events){ .drain = drain,
					.wait_attr = SIZE_MAX,
					.cpu_attr = SIZE_MAX,
					.spares_threads = want->spares_threads,
					.is_machine = want->is_machine,
					.cgroup = want->cgroup,
					.starts_later = want->starts_later || want->is_probed,
					.online = want->online };
	perf_events_start_periods(events, want);
	events_make_attrs(events, specs, n, want);
	if (n && !want->is_machine && !want->is_probed)
		perf_holds_init(&events->holds, &events->attrs.at[0]);

	events_make_layouts(events, want->isa);
	drain_set_layout(drain, &events->layouts.at[0]);
	perf_events_list_cpus(events);

	int error = events_make_rings(events, want->ring_bytes, diag);
	while (events->is_gone.n < events->cpus.n)
		vec_push(&events->is_gone, false);
	return error;
}

void perf_events_done(struct perf_events *events)
{
	for (size_t i = 0; i < events->fds.n; i++)
		close(events->fds.at[i].fd);
	if (events->online_fd > 0)
		close(events->online_fd);
	perf_deep_close(&events->deep);
	perf_waits_close(&events->waits);
	perf_probe_close(&events->probe);
	perf_holds_done(&events->holds);
	periods_done(&events->periods);
	watched_done(&events->watched);
	events_close_anchors(events);
	map_done(&events->by_id);
	vec_done(&events->attrs);
	vec_done(&events->layouts);
	vec_done(&events->cpus);
	vec_done(&events->anchors);
	vec_done(&events->is_gone);
	vec_done(&events->fds);
}

size_t perf_events_per_thread(const struct perf_events *events)
{
	return events->attrs.n * events->cpus.n;
}

/* leader: that of its group, for a member; an event that may have members replaces it. */
static int events_add_one(struct perf_events *events, size_t attr, size_t cpu, pid_t tid, int *leader)
{
	struct perf_fd it = { .attr = (uint32_t)attr, .cpu = (uint32_t)cpu };
	bool is_in_cgroup = events->cgroup && attr < events->n_sampling;
	struct perf_event_attr own = events->attrs.at[attr];
	uint64_t mean = perf_events_mean_period(&own);
	bool is_member = perf_event_is_member(&own);

	if (mean) {
		own.freq = 0;
		own.sample_period = periods_draw(&events->periods, mean);
	}
	it.fd = events_open_flags(&own, is_in_cgroup ? events->cgroup : tid, events->cpus.at[cpu],
				  is_member ? *leader : NO_LEADER, is_in_cgroup ? PERF_FLAG_PID_CGROUP : 0);
	if (it.fd < 0)
		return it.fd;
	if (ioctl(it.fd, PERF_EVENT_IOC_SET_OUTPUT, events->anchors.at[cpu]) < 0 ||
	    ioctl(it.fd, PERF_EVENT_IOC_ID, &it.id) < 0) {
		int error = -errno;
		close(it.fd);
		return error;
	}
	if (attr < events->n_sampling && !is_member)
		perf_deep_attach(&events->deep, it.fd); /* refused: its stacks end with the snapshot */
	map_put(&events->by_id, it.id, it.attr);
	vec_push(&events->fds, it);
	if (!is_member)
		*leader = it.fd;
	if (mean)
		periods_add(&events->periods, it.id, it.fd, mean, own.sample_period);
	return 0;
}

int perf_events_add_on(struct perf_events *events, size_t cpu, pid_t tid)
{
	struct rlimit limit = { .rlim_cur = RLIM_INFINITY };
	int leader = NO_LEADER;

	getrlimit(RLIMIT_NOFILE, &limit);
	for (size_t attr = 0; attr < events->attrs.n; attr++) {
		if ((attr == events->wait_attr && events->waits.program) || attr == events->cpu_attr)
			continue; /* these need no event on a thread */
		int error = events_add_one(events, attr, cpu, tid, &leader);
		if (error)
			return error;
		if ((rlim_t)events->fds.at[events->fds.n - 1].fd + FDS_RESERVED > limit.rlim_cur)
			return -EMFILE;
	}
	return 0;
}

static int events_add_all(struct perf_events *events, pid_t tid)
{
	int error = 0;

	for (size_t cpu = 0; !error && cpu < events->cpus.n; cpu++)
		error = perf_events_add_on(events, cpu, tid);
	return error;
}

/* A thread that is missing here makes nothing else fail. */
static int events_watch(struct perf_events *events, pid_t tid)
{
	int error = perf_waits_watch(&events->waits, tid);
	pid_t pid;

	if (error || !events->watched.is_used)
		return error;
	if ((error = target_process_of(tid, &pid)))
		perf_waits_unwatch(&events->waits, tid);
	else
		watched_add(&events->watched, pid);
	return error;
}

int perf_events_add(struct perf_events *events, pid_t tid)
{
	size_t first = events->fds.n;
	int error = events_add_all(events, tid);

	if (!error)
		error = events_watch(events, tid);
	if (!error)
		perf_holds_add(&events->holds, tid);
	while (error && events->fds.n > first) { /* a thread is watched on all CPUs or not at all */
		periods_remove(&events->periods, events->fds.at[--events->fds.n].id);
		close(events->fds.at[events->fds.n].fd);
	}
	return error;
}
