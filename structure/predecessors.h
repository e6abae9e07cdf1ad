/* SPDX-License-Identifier: Apache-2.0 */
/*
 * predecessors: the reversed edges of a graph.
 */
#pragma once

#include "binary/flow/cfg.h"

/* Those of block b: blocks[first[b]] to blocks[first[b + 1]], one for each edge. */
struct predecessors {
	uint32_t *first; /* n_blocks + 1 of them */
	uint32_t *blocks;
};

void predecessors_find(const struct cfg *cfg, struct predecessors *ret);
void predecessors_done(struct predecessors *predecessors);
