/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counts: execution counts of basic blocks, from the output of `cpprof paths --format json`, which is foreign
 * input.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/diag.h"
#include "base/vec.h"
#include "binary/elf/image.h"
#include "profile/profile.h"

struct cycles_count {
	uint64_t vaddr; /* of the block */
	double count;
};

/* An execution path through the function. */
struct cycles_way {
	double count;
	uint64_t next;   /* the block where the next path begins; 0 = none, it leaves the function */
	uint64_t caller; /* where the function was called, if that was recorded; 0 = not known */
	size_t first_block, n_blocks; /* of way_blocks */
	bool leaves;
};

struct cycles_counts {
	uint64_t function;               /* its address */
	VEC(struct cycles_count) blocks; /* of the requested function, by address */
	VEC(struct cycles_way) ways;     /* the most frequent first */
	VEC(uint64_t) way_blocks;        /* addresses */
	bool is_relative;                /* of part of a run, or another one: only proportions are known */
	bool is_found;                   /* the function is in the file */
	char module[256];                /* name of its file, without directories */
	char build_id[2 * BUILD_ID_MAX + 1]; /* of its file, in hex; "" = none, or not known */
	double total;                        /* number of executed paths, listed or not */
	bool is_cut;                         /* paths also end at other edges than back edges */
};

/* For the function at this address. Relative if the profile is not of the command that was counted. -ENOENT
 * if it is not in the file. */
int cycles_counts_read(const char *path, const struct profile *profile, uint64_t function,
		       struct cycles_counts *ret, struct diag *diag);
/* The same from memory; name is only for messages. */
int cycles_counts_parse(struct bytes text, const char *name, const struct profile *profile, uint64_t function,
			struct cycles_counts *ret, struct diag *diag);
/* Calls take with the counts of each function in the file. */
int cycles_counts_each(const char *path, const struct profile *profile,
		       void (*take)(void *context, const struct cycles_counts *counts), void *context,
		       struct diag *diag);
/* Were they counted in another file of that name? Then returns -EINVAL, with the expected build-id in diag.
 */
int cycles_counts_check(const char *path, const char *module, const char *counted,
			const struct build_id *expected, struct diag *diag);
/* The count of the block at this address; negative = not counted. */
double cycles_counts_of(const struct cycles_counts *counts, uint64_t vaddr);
void cycles_counts_done(struct cycles_counts *counts);
