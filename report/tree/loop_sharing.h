/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop_sharing: how the cost of each loop, including callees, is distributed over threads.
 */
#pragma once

#include "profile/profile.h"
#include "report/tree/group.h"

struct loop_share {
	uint32_t n_threads;        /* threads that could have taken part; 1 = not parallel */
	uint64_t least, most, sum; /* over these threads */
};

/* By group of loops, to be freed. is_kept: by thread; NULL = all. */
struct loop_share *loop_sharing_find(const struct groups *groups, const struct profile *profile,
				     const struct scope_tree *tree, uint32_t metric, const bool *is_kept);
