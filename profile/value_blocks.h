/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value_blocks: the tables of a tree's values, created by several processes, each of which has the values of
 * some threads.
 *
 * Nodes are distributed in small blocks, so that all processes have about the same amount of work. Each
 * process sends every other its values of the other's nodes (value_blocks_deal) and makes the rows of its own
 * nodes (value_blocks_encode); the first concatenates them (value_blocks_join). The result is identical to
 * that of a single process.
 */
#pragma once

#include "base/diag.h"
#include "profile/value_tables.h"

struct value_deal {
	uint32_t n_nodes;  /* of the tree */
	uint32_t n_takers; /* processes */
};

/* The values, with final numbers, of the nodes that one process takes. */
void value_blocks_deal(const struct value_deal *deal, const struct packed_values *values, uint32_t taker,
		       struct writer *ret);
/* dealt: from each process. -EBADMSG if it is not the output of value_blocks_deal. */
int value_blocks_encode(const struct value_deal *deal, uint32_t taker, const struct writer *dealt,
			struct writer *ret);
/* encoded: by each process. NULL if it is not the output of value_blocks_encode. */
struct value_tables *value_blocks_join(const struct value_deal *deal, const struct writer *encoded);
