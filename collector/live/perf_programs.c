/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_programs: BPF programs that run alongside events, and write into the same rings.
 */
#include "collector/live/perf_events.h"

#include <elf.h>
#include <errno.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int perf_events_add_deep(struct perf_events *events, const struct isa *isa, uint64_t bytes,
			 struct text *ret_log, struct diag *diag)
{
	const struct perf_event_attr *first = &events->attrs.at[0];
	struct perf_deep_want want = { .isa = isa,
				       .snapshot = first->sample_stack_user,
				       .bytes = bytes,
				       .like = first,
				       .cpus = events->cpus.at,
				       .anchors = events->anchors.at,
				       .n_cpus = events->cpus.n,
				       .use = { .waits = events->wait_attr != SIZE_MAX,
						.calls = events->probe.program,
						.n_known = events->is_machine ? PERF_DEEP_MACHINE : 0 },
				       .ring_bytes = drain_ring_bytes(events->drain) };
	int error = perf_deep_open(&events->deep, &want, ret_log, diag);

	if (error)
		return error;

	struct perf_layout layout = perf_layout_of(&events->deep.attr, isa, 0);
	drain_set_deep_layout(events->drain, &layout);
	for (size_t i = 0; i < events->deep.fds.n; i++)
		drain_add_deep_event(events->drain, events->deep.fds.at[i].id);
	return 0;
}

/* The program writes samples through an event on a CPU that is set up like those of threads. size: see
 * bpf_deep_sample_output. */
static int programs_open_sample(struct perf_events *events, size_t cpu, unsigned size)
{
	struct perf_event_attr attr = events->attrs.at[events->wait_attr];
	struct perf_fd it = { .attr = (uint32_t)events->wait_attr, .cpu = (uint32_t)cpu };
	int number = events->cpus.at[cpu];

	attr.sample_stack_user = deep_sample_size(attr.sample_stack_user, size);
	attr.config = PERF_COUNT_SW_BPF_OUTPUT;
	attr.freq = 0;
	attr.sample_period = 1;
	attr.disabled = attr.inherit = attr.enable_on_exec = attr.context_switch = 0;
	attr.mmap = attr.mmap2 = attr.build_id = attr.comm = attr.comm_exec = attr.task = 0;
	it.fd = (int)syscall(SYS_perf_event_open, &attr, -1, number, -1, PERF_FLAG_FD_CLOEXEC);
	if (it.fd < 0)
		return -errno;
	int error = ioctl(it.fd, PERF_EVENT_IOC_SET_OUTPUT, events->anchors.at[cpu]) < 0 ||
				    ioctl(it.fd, PERF_EVENT_IOC_ID, &it.id) < 0
			    ? -errno
			    : 0;
	if (!error && !size)
		error = bpf_waits_sample_output(events->waits.program, number, it.fd);
	if (!error && events->deep.program)
		error = bpf_deep_sample_output(events->deep.program, number, size, it.fd);
	if (error) {
		close(it.fd);
		return error;
	}
	map_put(&events->by_id, it.id, it.attr);
	vec_push(&events->fds, it);
	return 0;
}

/* Smaller events only save time. Where there are too few descriptors, the first one serves for all sizes. */
static int programs_open_samples(struct perf_events *events, size_t cpu)
{
	unsigned n = events->deep.program ? DEEP_SAMPLE_SIZES : 1;
	int error = programs_open_sample(events, cpu, 0);
	size_t first = events->fds.n - 1;

	for (unsigned size = 1; !error && size < n; size++)
		if (programs_open_sample(events, cpu, size))
			error = bpf_deep_sample_output(events->deep.program, events->cpus.at[cpu], size,
						       events->fds.at[first].fd);
	return error;
}

static void programs_set_tracking(struct perf_event_attr *attr, bool is_on)
{
	attr->mmap = attr->mmap2 = attr->build_id = attr->comm = attr->comm_exec = attr->task = is_on;
}

/* Threads no longer have an event for waits, so another one reports names, mappings, forks and exits. */
static void programs_move_tracking(struct perf_events *events)
{
	struct perf_event_attr *from = &events->attrs.at[events->wait_attr];
	bool is_moved = from->task;

	from->context_switch = from->freq = 0;
	from->sample_period = 1;
	programs_set_tracking(from, false);
	if (is_moved && events->wait_attr > 0)
		programs_set_tracking(&events->attrs.at[0], true);
	if (!is_moved || events->wait_attr > 0)
		return;

	struct perf_event_attr dummy = *from;
	dummy.config = PERF_COUNT_SW_DUMMY;
	programs_set_tracking(&dummy, true);
	vec_push(&events->attrs, dummy);
}

static int programs_track_cpu(struct perf_events *events, size_t attr, size_t cpu)
{
	struct perf_event_attr own = events->attrs.at[attr];
	struct perf_fd it = { .attr = (uint32_t)attr, .cpu = (uint32_t)cpu };

	own.disabled = own.inherit = own.enable_on_exec = 0;
	it.fd = (int)syscall(SYS_perf_event_open, &own, PERF_EVERYTHING, events->cpus.at[cpu], -1,
			     PERF_FLAG_FD_CLOEXEC);
	if (it.fd < 0)
		return -errno;
	if (ioctl(it.fd, PERF_EVENT_IOC_SET_OUTPUT, events->anchors.at[cpu]) < 0 ||
	    ioctl(it.fd, PERF_EVENT_IOC_ID, &it.id) < 0) {
		int error = -errno;
		close(it.fd);
		return error;
	}
	map_put(&events->by_id, it.id, it.attr);
	vec_push(&events->fds, it);
	return 0;
}

/* Only waits are recorded. If CPUs may not be watched, threads have an event that reports what else they do.
 */
static void programs_track_cpus(struct perf_events *events, bool inherits)
{
	size_t first = events->fds.n, attr = events->attrs.n - 1;
	int error = 0;

	if (events->wait_attr != 0 || events->n_sampling != 1 || !events->spares_threads)
		return;
	for (size_t i = 0; !error && i < events->cpus.n; i++)
		error = programs_track_cpu(events, attr, i);
	while (error && events->fds.n > first)
		close(events->fds.at[--events->fds.n].fd);
	if (error)
		return;
	events->cpu_attr = attr;
	events->watched.is_used = true;
	events->watched.inherits = inherits;
}

static void programs_close_samples(struct perf_events *events)
{
	while (events->fds.n)
		close(events->fds.at[--events->fds.n].fd);
}

int perf_events_add_waits(struct perf_events *events, const struct perf_want *want, uint64_t max_switches,
			  struct diag *diag)
{
	struct perf_waits_want its = { .like = &events->attrs.at[0],
				       .cpus = events->cpus.at,
				       .anchors = events->anchors.at,
				       .n_cpus = events->cpus.n,
				       .max_switches = max_switches,
				       .is_x86 = want->isa->elf_machine == EM_X86_64,
				       .inherits = want->is_inherited,
				       .at_exec = want->starts_on_exec,
				       .starts_later = want->starts_later,
				       .deep = events->deep.program
						       ? bpf_deep_wait_program(events->deep.program)
						       : -1 };
	int error = perf_waits_open(&events->waits, &its, diag);

	for (size_t i = 0; !error && i < events->cpus.n; i++)
		if ((error = programs_open_samples(events, i))) {
			diag_set(diag, error, "cannot open an event for the samples of a BPF program");
			programs_close_samples(events);
			perf_waits_close(&events->waits);
		}
	if (error)
		return error;
	events->attrs.at[events->wait_attr].config1 = events->waits.n_own;
	programs_move_tracking(events);
	programs_track_cpus(events, want->is_inherited);
	struct perf_layout layout = perf_layout_of(&events->waits.attr, NULL, 0);
	for (size_t i = 0; i < events->waits.fds.n; i++)
		drain_add_wait_event(events->drain, &layout, events->waits.fds.at[i].id);
	return 0;
}

void perf_events_open_deep(struct perf_events *events, size_t cpu)
{
	struct perf_deep *deep = &events->deep;

	if (deep->program && perf_deep_add(deep, events->cpus.at[cpu], events->anchors.at[cpu]) == 0)
		drain_add_deep_event(events->drain, deep->fds.at[deep->fds.n - 1].id);
}
