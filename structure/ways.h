/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ways: the ways through a function and through its loops, numbered as Ball and Larus do ("Efficient Path
 * Profiling", 1996).
 *
 * A way begins where the function is entered, where a jump back leads to, or at a landing pad; it ends at the
 * next jump back, or where the function is left. Each edge of the graph has a number; their sum along a way,
 * and where it began, is the way's own number, which no other has. So one addition for each branch that is
 * taken counts ways exactly.
 *
 * A function of which a start has more than WAYS_MAX ways is cut at the headers of its loops as well, and
 * where that is not enough, at further edges: a way ends there and another begins. Any jump back of a graph
 * that is searched in depth counts as one, so loops need not have one header.
 *
 * Pure: takes the graph.
 */
#pragma once

#include "base/diag.h"
#include "base/vec.h"
#include "binary/flow/cfg.h"

#define WAYS_MAX (1u << 20)
#define WAYS_NONE UINT32_MAX

struct way_edge {
	uint32_t to;  /* block; WAYS_NONE = the function is left */
	uint32_t add; /* to the way's number */
	uint8_t kind; /* enum edge_kind */
	bool is_cut;  /* a way ends with it, and another begins at `to` */
};

struct way_block {
	uint32_t first_edge, n_edges; /* none: the function is left, or does not go on */
	uint32_t n_ways;              /* from here to their ends; 0 = control does not come here */
	uint32_t start; /* the number of the first way that begins here; WAYS_NONE = none does */
	bool is_pad;    /* an exception leads here */
};

struct ways {
	const struct cfg *cfg; /* borrowed */
	struct way_block *blocks;
	VEC(struct way_edge) edges;
	VEC(uint32_t) starts; /* blocks, in the order of their numbers */
	uint32_t n;           /* numbers: all ways there are */
	uint32_t n_cuts;      /* edges at which ways were cut though no jump goes back there */
};

/* -ENOTSUP with a diag if ways cannot be told: a jump of which nobody knows where it leads. */
int ways_init(struct ways *ways, const struct cfg *cfg, struct diag *diag);
void ways_done(struct ways *ways);

/* One way, put together from its number. */
struct way {
	VEC(uint32_t) blocks;
	uint32_t n_insns;
	uint32_t to; /* the block where the next way begins; WAYS_NONE = it leaves the function */
};
/* Fills ret, whose memory is used again. False if there is no way of this number. */
bool ways_find(const struct ways *ways, uint32_t number, struct way *ret);
void way_done(struct way *way);
