/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_probe: the BPF program that times calls of chosen functions, the probes that run it, and the events
 * through which it writes into the rings.
 *
 * A record is written when a call ends: a sample with registers and stack, and what was measured as its raw
 * part. The kernel removes the probes when they are closed one by one, when this is closed, and when cpprof
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
	VEC(struct perf_probe_fd) outputs; /* one per CPU, and later additional ones, for larger stacks */
	size_t n_cpus;
	struct probe_links links;
	struct perf_counters counters; /* of events that are counted per call; added by the caller */
};

struct perf_probe_want {
	const struct isa *isa;
	uint64_t every;      /* mean number of bytes between sampled allocations; 0 = calls are timed */
	bool paths;          /* known call paths are recognised */
	bool counts;         /* only count entries */
	bool held;           /* ... and track allocations until they are freed */
	uint32_t n_counters; /* maximum number of counters */
	unsigned arg;        /* number of the argument to be added up, from 1; 0 = none */
	const struct perf_event_attr
		*like;             /* an event with the clock, registers and stack size of the samples */
	const int *cpus, *anchors; /* the rings to write into */
	size_t n_cpus;
};

/* See bpf_deep_open. */
int perf_probe_open(struct perf_probe *probe, const struct perf_probe_want *want, struct text *ret_log,
		    struct diag *diag);
/* The actual mean number of bytes between samples: in the kernel, countdowns are integers. */
double perf_probe_every(uint64_t wanted);
/* A call came with this many bytes of its stack, and the stack continued: from now on more is copied, up to
 * most. */
void perf_probe_deepen(struct perf_probe *probe, size_t copied, uint32_t most);
void perf_probe_close(struct perf_probe *probe);

/* The call described by the raw part of a record; false if it is not one of ours. */
bool perf_probe_read(struct bytes raw, struct trace_call *ret);
