/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_counters: events that are counted on every CPU, for the BPF program that tells whose they are.
 */
#pragma once

#include <linux/perf_event.h>
#include <stddef.h>

#include "base/vec.h"
#include "collector/bpf/bpf_trace.h"

struct perf_counters {
	VEC(int) fds;
};

/*
 * Counts an event on these CPUs, as the program's counter of this number. 0 or -errno: -EBUSY if all of a
 * CPU's counters are in use. An event that shared its counter with others would be counted a part of the time
 * only.
 */
int perf_counters_add(struct perf_counters *counters, const struct bpf_trace *program, uint32_t number,
		      const struct perf_event_attr *attr, const int *cpus, size_t n_cpus);
void perf_counters_done(struct perf_counters *counters);
