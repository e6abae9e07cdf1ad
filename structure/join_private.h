/* SPDX-License-Identifier: Apache-2.0 */
/*
 * join_private: what the steps of join share.
 */
#pragma once

#include "structure/join.h"
#include "structure/openmp.h"

#define JOIN_NONE UINT32_MAX

/* What a node of the CCT is. */
struct join_node {
	uint32_t map;    /* of its function, JOIN_NONE = not known */
	uint32_t anchor; /* the nearest one above it that is not the runtime's */
	uint32_t root;   /* the worker's region that it is, or is below; JOIN_NONE */
	uint8_t role;    /* enum openmp_role */
	bool is_forked, is_in_region, is_incomplete; /* it, or one above it */
};

/* A region and a node that starts it. */
struct join_context {
	uint32_t region; /* its function */
	uint32_t node;
};

struct joiner {
	const struct join_input *input;
	struct join_notes *notes;
	uint8_t *roles; /* by function */
	struct join_node *nodes;
	size_t n_workers;                  /* regions that are the first thing in a worker's stack */
	VEC(struct join_context) contexts; /* sorted by region, node */
	uint32_t *first_context;           /* by function, and one more; NULL = none were looked for */
	uint32_t *kept;                    /* by node: its new number */
	VEC(uint32_t) path;
};

/* Which contexts the regions of workers are started from: join_contexts.c. */
void join_find_contexts(struct joiner *j);
static inline size_t join_n_contexts(const struct joiner *j, uint32_t region)
{
	return j->first_context[region + 1] - j->first_context[region];
}
/* Does what is spent in a node go elsewhere? */
static inline bool join_moves(const struct joiner *j, uint32_t node)
{
	uint32_t root = j->nodes[node].root;

	return root != JOIN_NONE && join_n_contexts(j, j->nodes[root].map) > 0;
}
/* Deals out what workers spent: join_deal.c. */
void join_deal(struct joiner *j, struct cct *to);
/* The node below a context that a worker's node becomes. */
uint32_t join_copy(struct joiner *j, uint32_t node, uint32_t context, struct cct *to);
