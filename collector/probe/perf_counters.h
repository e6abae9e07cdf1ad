/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_counters: events that are counted on every CPU, for the BPF program that attributes them to threads.
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
 * Counts an event on these CPUs, as the program's counter of this number. 0 or -errno: -EBUSY if all counters
 * of a CPU are in use. An event that shares its counter with others would be counted only part of the time.
 */
int perf_counters_add(struct perf_counters *counters, const struct bpf_trace *program, uint32_t number,
		      const struct perf_event_attr *attr, const int *cpus, size_t n_cpus);
void perf_counters_done(struct perf_counters *counters);
