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

/* Does this node stand for folded contexts? */
static inline bool cct_is_other(const struct cct *cct, uint32_t node)
{
	return node > CCT_INCOMPLETE && cct->nodes.at[node].image == IMAGE_NONE && !cct->nodes.at[node].vaddr;
}

/* The memory that a tree takes. */
size_t cct_bytes(const struct cct *cct);

/* The samples in what was folded. */
uint64_t cct_other_samples(const struct cct *cct);

/* Data per node and per value that is moved together with them. Either may be NULL. */
struct cct_since {
	uint64_t *nodes, *values;
};
/*
 * Folds the tree in place until it takes about half of max_bytes. ret_place has the new number of each node,
 * or that of the node it was folded into; the caller frees it. Returns the number of folded contexts.
 * Remaining nodes keep their order, and so do values. Paths (struct cct_path) become invalid.
 *
 * Values of different threads in the same node cannot be folded: with very many threads the tree may remain
 * larger.
 */
uint64_t cct_fold(struct cct *cct, size_t max_bytes, const struct cct_since *since, uint32_t **ret_place);
