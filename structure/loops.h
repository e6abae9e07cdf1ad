/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loops: the loop nesting forest of a control flow graph, by Havlak's algorithm (nesting of reducible
 * and irreducible loops, 1997).
 *
 * A loop is identified by its header. An irreducible region has several entries; the first one that the
 * search reaches becomes its header, and the loop is marked. Blocks that cannot be reached from the entry are
 * searched as separate roots, so every cycle is found. Pure: works on blocks and edges, not on instructions.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

#define LOOP_NONE UINT32_MAX

/* Successors of block b: successors[first[b]] to successors[first[b + 1]]. */
struct loop_graph {
	uint32_t n_blocks, entry;
	const uint32_t *first;      /* n_blocks + 1 of them */
	const uint32_t *successors; /* block numbers */
};

struct loop {
	uint32_t header;   /* block */
	uint32_t known_by; /* block: its header, unless that is also the header of a loop inside it */
	uint32_t parent;   /* index of the loop around it, LOOP_NONE = none; a parent precedes its children */
	uint32_t depth;    /* 1 = outermost */
	bool is_irreducible;
};

struct loop_forest {
	VEC(struct loop) loops;
	VEC(uint32_t) innermost; /* per block: the innermost loop it belongs to, LOOP_NONE = none */
};

/* Fills a forest, empty or used before. */
void loops_find(const struct loop_graph *graph, struct loop_forest *ret);
struct cfg;
/* The same for a function's control flow graph, with exactly the edges that it has. */
void loops_find_in(const struct cfg *cfg, struct loop_forest *ret);
void loop_forest_done(struct loop_forest *forest);
/* Does the loop contain the block? */
bool loops_contain(const struct loop_forest *forest, uint32_t loop, uint32_t block);
/* The innermost loop that contains both; LOOP_NONE if there is none. */
uint32_t loops_common(const struct loop_forest *forest, uint32_t a, uint32_t b);
