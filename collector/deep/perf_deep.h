/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_deep: the BPF program that copies deep stacks, and the event through which it writes into the rings.
 */
#pragma once

#include <linux/perf_event.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"
#include "base/vec.h"
#include "binary/isa/isa.h"
#include "collector/bpf/bpf_deep.h"

struct perf_deep_fd {
	int fd;
	uint64_t id;
};

struct perf_deep {
	struct bpf_deep *program;     /* NULL = none */
	struct perf_event_attr attr;  /* of the event */
	VEC(struct perf_deep_fd) fds; /* one per CPU */
	bool knows_ids;               /* processes and users have the same numbers here and in the program */
};

/* Pages to be remembered when the whole machine is recorded: 16 MiB, so that a daemon stays small. */
#define PERF_DEEP_MACHINE 4096

struct perf_deep_want {
	const struct isa *isa;
	uint32_t snapshot; /* bytes that the kernel copies anyway */
	uint64_t bytes;    /* maximum to be copied beyond it */
	const struct perf_event_attr
		*like;             /* a sampling event: its clock and the fields common to all records */
	const int *cpus, *anchors; /* the rings to write into */
	size_t n_cpus;
	struct bpf_deep_use use;
	uint64_t ring_bytes; /* of one ring */
};

/* See bpf_deep_open. */
int perf_deep_open(struct perf_deep *deep, const struct perf_deep_want *want, struct text *ret_log,
		   struct diag *diag);
void perf_deep_close(struct perf_deep *deep);
/* Adds a CPU that came online later. If this fails, its stacks end with the snapshot. */
int perf_deep_add(struct perf_deep *deep, int cpu, int anchor);
/* Makes the program run at each sample of the event, and of events that inherit it. 0 or -errno. */
int perf_deep_attach(const struct perf_deep *deep, int event);
/* Sets the maximum number of pages for a key of deep_need; NULL: the default. */
void perf_deep_limit(const struct perf_deep *deep, uint64_t key, const uint32_t *n_pages);
/* Sets where copying begins for stacks at a place, with the keys and hints of deep_need. */
void perf_deep_hint(const struct perf_deep *deep, uint64_t key, uint64_t hint);
/* Is it known what the program sees of threads? */
bool perf_deep_sees(const struct perf_deep *deep);
/* What it noted at the last sample of a thread; false if it is no longer there. */
bool perf_deep_seen(const struct perf_deep *deep, pid_t pid, pid_t tid, struct deep_seen *ret);
