/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_programs: BPF programs that run beside events, and write into the same rings.
 */
#include "collector/live/perf_events.h"

#include <elf.h>

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

int perf_events_add_waits(struct perf_events *events, const struct isa *isa, uint64_t max_switches,
			  struct diag *diag)
{
	struct perf_waits_want want = { .like = &events->attrs.at[0],
					.cpus = events->cpus.at,
					.anchors = events->anchors.at,
					.n_cpus = events->cpus.n,
					.max_switches = max_switches,
					.is_x86 = isa->elf_machine == EM_X86_64,
					.deep = events->deep.program ? bpf_deep_program(events->deep.program)
								     : -1 };
	int error = perf_waits_open(&events->waits, &want, diag);

	if (error)
		return error;
	events->attrs.at[events->wait_attr].context_switch = 0;
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
