/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop_counts: iteration counts and execution paths of loops, if they were counted: see
 * report/cycles/count_loops.h.
 */
#pragma once

#include "base/text.h"
#include "report/tree/loop_code.h"

/* Of a block. */
struct header_count {
	uint64_t vaddr;
	uint32_t module; /* of modules */
	double count, back;
	bool is_relative; /* not of a whole run */
	bool has_back;    /* `back` has all jumps back to it */
};

/* A way through a function. */
struct counted_way {
	double count;
	uint64_t next; /* the block that it goes back to; 0 = none */
	bool leaves;
	size_t first_block, n_blocks; /* of way_blocks */
};

struct counted_function {
	uint64_t vaddr;
	uint32_t module;
	bool is_relative;
	double total;             /* ways that were taken, listed or not */
	size_t first_way, n_ways; /* of ways; the most frequent first */
};

/* The file that a function's counts are of. */
struct counted_module {
	char *name;
	char build_id[2 * BUILD_ID_MAX + 1]; /* hex; "" = not said */
};

struct loop_counts {
	VEC(struct header_count) headers; /* by address */
	VEC(struct counted_function) functions;
	VEC(struct counted_way) ways;
	VEC(uint64_t) way_blocks; /* addresses */
	VEC(struct counted_module) modules;
};

struct loop_rounds {
	double rounds; /* iterations of all copies; negative = not known */
	double each;   /* per entry of the loop; negative = not known */
	bool is_relative;
};

void loop_counts_done(struct loop_counts *counts);
/* The function of that file at this address, if its paths were counted; NULL if not, or there are no counts.
 */
const struct counted_function *counted_function_find(const struct loop_counts *counts, const char *module,
						     uint64_t vaddr);
/* For a loop in that file. counts may be NULL. */
struct loop_rounds loop_counts_find(const struct loop_counts *counts, const char *module,
				    const struct loop_code *loop);
/* " [1,000 iterations, 10.0 each time]", or nothing. */
void loop_rounds_tell(const struct loop_rounds *rounds, const struct loop_code *loop, struct text *ret);
