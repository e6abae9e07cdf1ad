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

struct perf_probe_fd {
	int fd;
	uint64_t id;
};

struct perf_probe {
	struct bpf_trace *program; /* NULL = none */
	struct perf_event_attr attr;
	VEC(struct perf_probe_fd) outputs; /* one a CPU */
	VEC(int) links;
};

struct perf_probe_want {
	const struct isa *isa;
	bool at_returns;                    /* calls end where functions return to, not in their own code */
	unsigned arg;                       /* number of an argument to add up, from 1; 0 = none */
	const struct perf_event_attr *like; /* whose clock, registers and stack samples have */
	const int *cpus, *anchors;          /* whose rings to write into */
	size_t n_cpus;
};

/* As bpf_deep_open. */
int perf_probe_open(struct perf_probe *probe, const struct perf_probe_want *want, struct text *ret_log,
		    struct diag *diag);
void perf_probe_close(struct perf_probe *probe);

/* Entry and exits of one function; vaddrs are not known here: all are offsets in its file. */
struct probe_function {
	uint32_t number; /* below TRACE_FUNCTIONS_MAX */
	uint64_t entry;
	const uint64_t *exits;
	size_t n_exits; /* 0 = where it returns to is probed instead */
};
/*
 * Sets the probes of these functions of a file, as one process has it, all or none. path: as we see the file.
 * ret_refused, if one of them is to blame: its index; else SIZE_MAX. 0 or -errno.
 */
int perf_probe_set(struct perf_probe *probe, pid_t pid, const char *path,
		   const struct probe_function *functions, size_t n, size_t *ret_refused);

/* All probes are removed; records that are written can still be read. */
void perf_probe_clear(struct perf_probe *probe);

/* What a record's raw part says about a call; false if it is none of ours. */
bool perf_probe_read(struct bytes raw, struct trace_call *ret);
