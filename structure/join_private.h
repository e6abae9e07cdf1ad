/* SPDX-License-Identifier: Apache-2.0 */
/*
 * join_private: definitions shared by the steps of join.
 */
#pragma once

#include "structure/join.h"
#include "structure/openmp.h"

#define JOIN_NONE UINT32_MAX

/* What is known about a node of the CCT. */
struct join_node {
	uint32_t map;    /* of its function, JOIN_NONE = not known */
	uint32_t anchor; /* the nearest ancestor that is not part of the runtime */
	uint32_t root;   /* the worker's region that contains it; may be the node itself, or JOIN_NONE */
	uint8_t role;    /* enum openmp_role */
	bool is_forked, is_in_region, is_incomplete; /* the node or one of its ancestors */
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
	size_t n_workers;                  /* regions that are outermost in a worker's stack */
	VEC(struct join_context) contexts; /* sorted by region, node */
	uint32_t *first_context;           /* by function, plus one entry; NULL = they were not searched */
	uint32_t *kept;                    /* by node: its new number */
	VEC(uint32_t) path;
};

/* Finds the contexts from which the regions of workers are started: join_contexts.c. */
void join_find_contexts(struct joiner *j);
static inline size_t join_n_contexts(const struct joiner *j, uint32_t region)
{
	return j->first_context[region + 1] - j->first_context[region];
}
/* Is the cost of a node moved elsewhere? */
static inline bool join_moves(const struct joiner *j, uint32_t node)
{
	uint32_t root = j->nodes[node].root;

	return root != JOIN_NONE && join_n_contexts(j, j->nodes[root].map) > 0;
}
/* Divides the cost of workers among the contexts: join_deal.c. */
void join_deal(struct joiner *j, struct cct *to);
/* The node below a context that a worker's node becomes. */
uint32_t join_copy(struct joiner *j, uint32_t node, uint32_t context, struct cct *to);
