/* SPDX-License-Identifier: Apache-2.0 */
/*
 * children: the nodes of a tree below each other, heaviest first. The tree itself only knows parents.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct children {
	uint32_t *first; /* n + 1: children of i are at order[first[i]] to order[first[i + 1]] */
	uint32_t *order;
};

/* parent[0] is ignored (the root); weight decides the order of siblings, then the node number. */
void children_init(struct children *children, const uint32_t *parent, size_t n, const uint64_t *weight, size_t stride);
void children_done(struct children *children);

/* Depth-first, parents before children, siblings by weight; visit gets the node and its depth. */
void children_walk(const struct children *children, size_t n, void (*visit)(void *context, uint32_t node, uint32_t depth),
		   void *context);
