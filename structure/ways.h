/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ways: the acyclic execution paths ("ways") through a function and its loops, numbered as by Ball and Larus
 * ("Efficient Path Profiling", 1996).
 *
 * A way begins at the function's entry, at the target of a back edge, or at a landing pad; it ends at the
 * next back edge or at an exit of the function. Each edge of the graph has a number. The number of a way is
 * the sum of these along it, plus the number of its start, and is unique. So ways can be counted exactly with
 * one addition per branch.
 *
 * If more than WAYS_MAX ways begin at one start, the function is also cut at the headers of its loops and, if
 * that is not enough, at further edges: a way ends there and another begins. Back edges are those of a
 * depth-first search, so irreducible loops are handled as well.
 *
 * Pure: depends only on the graph.
 */
#pragma once

#include "base/diag.h"
#include "base/vec.h"
#include "binary/flow/cfg.h"

#define WAYS_MAX (1u << 20)
#define WAYS_NONE UINT32_MAX

struct way_edge {
	uint32_t to;  /* block; WAYS_NONE = it leaves the function */
	uint32_t add; /* to the way's number */
	uint8_t kind; /* enum edge_kind */
	bool is_cut;  /* a way ends here, and another begins at `to` */
};

struct way_block {
	uint32_t first_edge, n_edges; /* none: the block leaves the function or does not return */
	uint32_t n_ways;              /* from here to their ends; 0 = not reachable */
	uint32_t start; /* the number of the first way that begins here; WAYS_NONE = none does */
	bool is_pad;    /* a landing pad of an exception */
};

struct ways {
	const struct cfg *cfg; /* borrowed */
	struct way_block *blocks;
	VEC(struct way_edge) edges;
	VEC(uint32_t) starts; /* blocks, in the order of their numbers */
	uint32_t n;           /* number of ways */
	uint32_t n_cuts;      /* edges at which ways were cut although they are not back edges */
};

/* -ENOTSUP with a diag if the function has a jump whose targets are unknown. */
int ways_init(struct ways *ways, const struct cfg *cfg, struct diag *diag);
void ways_done(struct ways *ways);

/* One way, reconstructed from its number. */
struct way {
	VEC(uint32_t) blocks;
	uint32_t n_insns;
	uint32_t to; /* the block where the next way begins; WAYS_NONE = it leaves the function */
};
/* Fills ret, reusing its memory. False if there is no way with this number. */
bool ways_find(const struct ways *ways, uint32_t number, struct way *ret);
void way_done(struct way *way);
