/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value_blocks: the tables of a tree's values, created by several processes, each of which has the values of
 * some threads.
 *
 * Nodes are dealt out in small blocks, so that all have about as much to do. Each process gives every other
 * what it has of the other's nodes (value_blocks_deal), makes the rows of its own (value_blocks_encode), and
 * the first puts them one behind the other (value_blocks_join). It is the same to the byte as what one makes.
 */
#pragma once

#include "base/diag.h"
#include "profile/value_tables.h"

struct value_deal {
	uint32_t n_nodes;  /* of the tree */
	uint32_t n_takers; /* processes */
};

/* Values by their final numbers, of the nodes that one process takes. */
void value_blocks_deal(const struct value_deal *deal, const struct packed_values *values, uint32_t taker,
		       struct writer *ret);
/* dealt: from each process. -EBADMSG if that is not what was dealt. */
int value_blocks_encode(const struct value_deal *deal, uint32_t taker, const struct writer *dealt,
			struct writer *ret);
/* encoded: by each process. NULL if that is not what was encoded. */
struct value_tables *value_blocks_join(const struct value_deal *deal, const struct writer *encoded);
