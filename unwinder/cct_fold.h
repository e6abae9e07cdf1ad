/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cct_fold: a smaller tree with the same sums. New call paths would make a tree grow without bound. When it
 * has reached its limit, the subtrees with the fewest samples are folded: everything folded below a node
 * becomes one child of it, without image and address (cct_is_other). Hot paths are kept, with all their
 * ancestors.
 */
#pragma once

#include <stdbool.h>

#include "unwinder/cct.h"

/* Is this what was folded? */
static inline bool cct_is_other(const struct cct *cct, uint32_t node)
{
	return node > CCT_INCOMPLETE && cct->nodes.at[node].image == IMAGE_NONE && !cct->nodes.at[node].vaddr;
}

/* The memory that a tree takes. */
size_t cct_bytes(const struct cct *cct);

/* The samples in what was folded. */
uint64_t cct_other_samples(const struct cct *cct);

/* What goes with the rows of a tree and moves with them: by node and by value. Either may be NULL. */
struct cct_since {
	uint64_t *nodes, *values;
};
/*
 * Folds until about half of max_bytes are taken, in place. ret_place has what became of each node: its new
 * number, or that of what it was folded into; the caller frees it. Returns how many contexts were folded.
 * Nodes that stay keep their order, and so do values. Paths (struct cct_path) are no longer valid.
 *
 * Values that threads have in the same nodes cannot be folded: with very many threads more may be left.
 */
uint64_t cct_fold(struct cct *cct, size_t max_bytes, const struct cct_since *since, uint32_t **ret_place);
