/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_waits: the BPF program that times waits, and the events through which it writes into the rings.
 */
#pragma once

#include <linux/perf_event.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/diag.h"
#include "base/vec.h"
#include "collector/bpf/bpf_waits.h"
#include "collector/event.h"

#define PERF_WAIT_ENDS "wait-ends" /* the name of its event in raw recordings */

struct perf_waits_fd {
	int fd;
	uint64_t id;
};

struct perf_waits {
	struct bpf_waits *program; /* NULL = none */
	enum waits_target how;     /* when the watching of a thread starts */
	uint32_t n_own; /* number of innermost frames of a sample's kernel stack that belong to the program */
	uint32_t next, next_place, next_cut; /* where perf_waits_rest continues in the program's tables */
	struct perf_event_attr attr;
	VEC(struct perf_waits_fd) fds; /* one per CPU */
};

struct perf_waits_want {
	const struct perf_event_attr
		*like;             /* a sampling event: its clock and the fields common to all records */
	const int *cpus, *anchors; /* the rings to write into */
	size_t n_cpus;
	uint64_t max_switches; /* maximum number of waits that a CPU samples per second; beyond that, threads
				  are sampled less often */
	bool is_x86;
	bool inherits;     /* children are watched with their parents */
	bool at_exec;      /* a thread is watched from its exec on */
	bool starts_later; /* waits are not counted before perf_waits_turn */
	int deep;          /* the program that writes samples and copies deep stacks; -1 = none */
};

/* See bpf_deep_open. */
int perf_waits_open(struct perf_waits *waits, const struct perf_waits_want *want, struct diag *diag);
void perf_waits_close(struct perf_waits *waits);
/* Starts timing the waits of a thread, now or at its exec, and those of its children. 0 or -errno. */
int perf_waits_watch(const struct perf_waits *waits, pid_t tid);
void perf_waits_unwatch(const struct perf_waits *waits, pid_t tid);
/* Are waits timed in the kernel, and with the thread ids that cpprof sees? Not in a pid namespace. */
bool perf_waits_number_alike(const struct perf_waits *waits);
/* Sets whether waits are counted. */
void perf_waits_turn(const struct perf_waits *waits, bool is_on);
/* Converts the raw part of a record to the event that a wait has ended; false if the record is not one of
 * ours. */
bool perf_waits_read(struct bytes raw, struct event *ret);
/* The next wait that is in no record yet; one that has not ended is counted up to now_ns. False: no more. */
bool perf_waits_rest(struct perf_waits *waits, uint64_t now_ns, struct event *ret);
