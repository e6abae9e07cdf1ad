/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_outer: the program of outer_program, loaded, and the event through which it writes into the rings.
 */
#pragma once

#include <linux/perf_event.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/vec.h"
#include "binary/isa/isa.h"

struct perf_outer_fd {
	int fd;
	uint64_t id;
};

struct perf_outer {
	int program; /* descriptors; -1 = none */
	int maps[9];
	struct perf_event_attr attr;   /* of the event */
	VEC(struct perf_outer_fd) fds; /* one a CPU */
};

struct perf_outer_want {
	const struct isa *isa;
	uint32_t snapshot; /* bytes the kernel copies by itself */
	uint64_t bytes;    /* to be copied beyond it, at most */
	const struct perf_event_attr
		*like;             /* a sampling event: its clock and the fields common to all records */
	const int *cpus, *anchors; /* whose rings to write into */
	size_t n_cpus;
	uint64_t ring_bytes; /* of one of them */
};

#define PERF_OUTER_NONE                                                       \
	{                                                                     \
		.program = -1, .maps = { -1, -1, -1, -1, -1, -1, -1, -1, -1 } \
	}

/* -EPERM, -EACCES: not ours to do; others: a kernel that cannot. The diag says what was refused. */
int perf_outer_open(struct perf_outer *outer, const struct perf_outer_want *want, struct diag *diag);
void perf_outer_close(struct perf_outer *outer);
/* From now on the program runs at each sample of the event, and of those that inherit it. 0 or -errno. */
int perf_outer_attach(const struct perf_outer *outer, int event);
/* How many pages are copied at most, by the keys of outer_need; NULL: as of any other. */
void perf_outer_limit(const struct perf_outer *outer, uint64_t key, const uint32_t *n_pages);
/* Where copying begins of stacks at a place, by the keys and hints of outer_need. */
void perf_outer_hint(const struct perf_outer *outer, uint64_t key, uint64_t hint);
