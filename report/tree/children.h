/* SPDX-License-Identifier: Apache-2.0 */
/*
 * children: the children of each node of a tree, heaviest first. The tree itself only has parents.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "report/tree/document.h"

struct children {
	uint32_t *first; /* n + 1: children of i are at order[first[i]] to order[first[i + 1]] */
	uint32_t *order;
};

/* A tree of n nodes, parents before children, node 0 the root. */
struct children_of {
	size_t n;
	const void *context;
	uint32_t (*parent)(const void *context, uint32_t node);
	uint64_t (*weight)(const void *context, uint32_t node,
			   uint32_t metric); /* NULL = siblings in the order of their numbers */
	uint32_t metric;
};

/* Siblings are sorted by weight, then by node number. */
void children_init(struct children *children, const struct children_of *tree);
/* The nodes of a document, siblings sorted by inclusive values of a metric, or (NO_METRIC) in their order. */
#define NO_METRIC UINT32_MAX
void children_of_document(struct children *children, const struct document *document, uint32_t metric);
void children_done(struct children *children);

/* Depth-first, parents before children, siblings by weight; visit gets the node and its depth. */
void children_walk(const struct children *children, size_t n,
		   void (*visit)(void *context, uint32_t node, uint32_t depth), void *context);
