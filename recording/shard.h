/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shard: the tree that one worker has built from its part of the samples. Merged, the shards are identical to
 * the tree that a single worker would have built: the same nodes and values in the same order.
 */
#pragma once

#include "unwinder/cct.h"

/* Samples are numbered; each is in one tree, where the numbers increase. */
struct shard {
	const struct cct *cct;
	const uint64_t *node_since,
		*value_since; /* number of the sample that created each; 0 for the two roots */
};

/* Fills ret, which must be fresh from cct_init. */
void shards_merge(const struct shard *shards, size_t n, struct cct *ret);
