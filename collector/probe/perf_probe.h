/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_probe: the BPF program that times calls of chosen functions, the probes that run it, and the events
 * through which it writes into the rings.
 *
 * A record is written when a call ends: a sample with registers and stack, and what was measured as its raw
 * part. Probes are the kernel's; they are gone when they are removed, when this is closed, and when cpprof
 * dies.
 */
#pragma once

#include <linux/perf_event.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/bytes.h"
#include "base/diag.h"
#include "base/vec.h"
#include "binary/isa/isa.h"
#include "collector/bpf/bpf_trace.h"
#include "collector/event.h"
#include "collector/probe/perf_counters.h"
#include "collector/probe/probe_links.h"

struct perf_probe_fd {
	int fd;
	int cpu, anchor;
	uint64_t id;
};

struct perf_probe {
	struct bpf_trace *program; /* NULL = none */
	struct perf_event_attr attr;
	VEC(struct perf_probe_fd) outputs; /* one a CPU, and more of them later, for larger stacks */
	size_t n_cpus;
	struct probe_links links;
	struct perf_counters counters; /* of events that are counted by call; added by who wants them */
};

struct perf_probe_want {
	const struct isa *isa;
	uint64_t every;      /* allocations are sampled, every so many bytes; 0 = calls are timed */
	bool paths;          /* paths are known again, if they are learnt */
	bool counts;         /* entries are counted, and nothing else is done */
	bool held;           /* ... and followed until they are freed */
	uint32_t n_counters; /* at most so many are added */
	unsigned arg;        /* number of an argument to add up, from 1; 0 = none */
	const struct perf_event_attr *like; /* whose clock, registers and stack samples have */
	const int *cpus, *anchors;          /* whose rings to write into */
	size_t n_cpus;
};

/* As bpf_deep_open. */
int perf_probe_open(struct perf_probe *probe, const struct perf_probe_want *want, struct text *ret_log,
		    struct diag *diag);
/* How many bytes there are to a sample of allocations, on average: in the kernel, countdowns are whole
 * numbers. */
double perf_probe_every(uint64_t wanted);
/* A call came with so many bytes of its stack, and the stack went on: more is copied from now on, up to most.
 */
void perf_probe_deepen(struct perf_probe *probe, size_t copied, uint32_t most);
void perf_probe_close(struct perf_probe *probe);

/* What a record's raw part says about a call; false if it is none of ours. */
bool perf_probe_read(struct bytes raw, struct trace_call *ret);
