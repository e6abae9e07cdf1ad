/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shard: a tree that one worker has grown from its part of the samples. Merged, the shards are the one tree
 * that would have grown from all samples: the same nodes and values in the same order, whoever grew what.
 */
#pragma once

#include "unwinder/cct.h"

/* Samples are numbered; each went to one tree, where the numbers rise. */
struct shard {
	const struct cct *cct;
	const uint64_t *node_since,
		*value_since; /* number of the sample that brought each; the two roots have 0 */
};

/* Fills ret, which is empty: just from cct_init. */
void shards_merge(const struct shard *shards, size_t n, struct cct *ret);
