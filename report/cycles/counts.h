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

struct cycles_count {
	uint64_t vaddr; /* of the block */
	double count;
};

/* A way through the function. */
struct cycles_way {
	double count;
	uint64_t next;                /* the block that the next way begins at; 0 = none, it leaves */
	uint64_t caller;              /* where it was called from, if that was asked for; 0 = not known */
	size_t first_block, n_blocks; /* of way_blocks */
	bool leaves;
};

struct cycles_counts {
	uint64_t function;                   /* its address */
	VEC(struct cycles_count) blocks;     /* of the function that was asked for, by address */
	VEC(struct cycles_way) ways;         /* the most frequent first */
	VEC(uint64_t) way_blocks;            /* addresses */
	bool is_relative;                    /* not of a whole run: only the proportions are known */
	bool is_found;                       /* the function is in the file */
	char module[256];                    /* name of its file, without folders */
	char build_id[2 * BUILD_ID_MAX + 1]; /* that of its file, in hex; "" = it has none, or is not said */
	double total;                        /* ways that were taken, listed or not */
	bool is_cut;                         /* ways also end elsewhere than at jumps back */
};

/* Of the function at this address. -ENOENT if the file has nothing of it. */
int cycles_counts_read(const char *path, uint64_t function, struct cycles_counts *ret, struct diag *diag);
/* The same from memory; name is only for messages. */
int cycles_counts_parse(struct bytes text, const char *name, uint64_t function, struct cycles_counts *ret,
			struct diag *diag);
/* Takes the counts of each function of the file, one after the other. */
int cycles_counts_each(const char *path, void (*take)(void *context, const struct cycles_counts *counts),
		       void *context, struct diag *diag);
/* Were they taken of the code in another file of that name? Then it is said in diag, with the build-id that
 * was expected, and -EINVAL returned. */
int cycles_counts_check(const char *path, const char *module, const char *counted,
			const struct build_id *expected, struct diag *diag);
/* Of the block at this address; negative = not counted. */
double cycles_counts_of(const struct cycles_counts *counts, uint64_t vaddr);
void cycles_counts_done(struct cycles_counts *counts);
