/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weave: trees that grew side by side, each from some of the samples, as the one tree that would have grown
 * from all of them: the same nodes and values in the same order, whoever grew what.
 */
#pragma once

#include "unwinder/cct.h"

/* Samples are numbered; each went to one tree, where the numbers rise. */
struct strand {
	const struct cct *cct;
	const uint64_t *node_since,
		*value_since; /* number of the sample that brought each; the two roots have 0 */
};

/* Fills ret, which is empty: just from cct_init. */
void weave(const struct strand *strands, size_t n, struct cct *ret);
