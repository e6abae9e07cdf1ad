/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranks: how far the slowest rank of a reduced profile is above the average.
 *
 * Such a profile knows, for every context, the least and the greatest value that a rank had there and whose
 * they were, and no more. For the few ranks that were the slowest in most places, what they spent is put
 * together from that: where such a rank had the greatest or the least value, it is that; elsewhere it is what
 * is left of its caller's, in the shares that all ranks have on average. Each becomes a metric of the
 * profile, so that every view and every filter adds it up as it does with what was measured. A row of one
 * context is exact if its slowest rank is among those; others are estimates.
 */
#pragma once

#include "profile/profile.h"

#define RANKS_MAX 4

struct ranks {
	uint64_t n_ranks; /* of the job; 0 = it is not reduced */
	uint32_t n;       /* that were put together */
	uint32_t rank[RANKS_MAX];
	uint32_t first_metric, n_metrics; /* metric m of rank[i] is first_metric + m * n + i */
};

/* Adds the metrics; nothing to a profile that is not reduced. Before the tree is taken from it. */
void ranks_extend(struct profile *profile, struct ranks *ret);

/* Greatest / average - 1, in percent. values: of the row, by metric. *ret_rank: whose it is; RANK_NONE = of
 * none that was looked at. Negative: nothing was spent there. */
double ranks_imbalance(const struct ranks *ranks, const uint64_t *values, uint32_t metric,
		       uint32_t *ret_rank);
