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

#define PERF_WAIT_ENDS "wait-ends" /* what its event is called in raw recordings */

struct perf_waits_fd {
	int fd;
	uint64_t id;
};

struct perf_waits {
	struct bpf_waits *program; /* NULL = none */
	enum waits_target how;     /* threads are watched from when on */
	uint32_t n_own; /* frames that a sample's kernel stack begins with and that are the program's */
	uint32_t next, next_place, next_cut; /* what perf_waits_rest reads next of the program's tables */
	struct perf_event_attr attr;
	VEC(struct perf_waits_fd) fds; /* one a CPU */
};

struct perf_waits_want {
	const struct perf_event_attr
		*like;             /* a sampling event: its clock and the fields common to all records */
	const int *cpus, *anchors; /* whose rings to write into */
	size_t n_cpus;
	uint64_t max_switches; /* that a CPU samples in a second, before threads are sampled more rarely */
	bool is_x86;
	bool inherits;     /* children are watched with their parents */
	bool at_exec;      /* a thread is watched from its exec on */
	bool starts_later; /* nothing counts before perf_waits_turn */
	int deep;          /* program that writes samples, and copies deep stacks; -1 = none */
};

/* As bpf_deep_open. */
int perf_waits_open(struct perf_waits *waits, const struct perf_waits_want *want, struct diag *diag);
void perf_waits_close(struct perf_waits *waits);
/* Its waits are timed from now on, or from its exec on, and those of its children. 0 or -errno. */
int perf_waits_watch(const struct perf_waits *waits, pid_t tid);
void perf_waits_unwatch(const struct perf_waits *waits, pid_t tid);
/* Waits are timed in the kernel, and it numbers threads as cpprof does: not within a namespace. */
bool perf_waits_number_alike(const struct perf_waits *waits);
/* Whether waits count. */
void perf_waits_turn(const struct perf_waits *waits, bool is_on);
/* A record's raw part, as the event that a thread is back; false if it is none of ours. */
bool perf_waits_read(struct bytes raw, struct event *ret);
/* What no record has told of yet, and waits that go on, cut at that time: the next of them. False: no more.
 */
bool perf_waits_rest(struct perf_waits *waits, uint64_t now_ns, struct event *ret);
