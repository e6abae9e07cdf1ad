/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranks: how far the slowest rank of a reduced profile is above the average.
 *
 * For every context, such a profile only contains the smallest and the largest value of a rank, and which
 * ranks these are. For the few ranks that were most often the slowest, their costs are estimated from that:
 * if such a rank had the largest or the smallest value, it is that value; otherwise it is the rest of its
 * caller's cost, divided in the average proportions of all ranks. Each becomes a metric of the profile, so
 * that every view and every filter adds it up like measured metrics. A row of one context is exact if its
 * slowest rank is one of those; others are estimates.
 */
#pragma once

#include "profile/profile.h"

#define RANKS_MAX 4

struct ranks {
	uint64_t n_ranks; /* of the job; 0 = not reduced */
	uint32_t n;       /* number of estimated ranks */
	uint32_t rank[RANKS_MAX];
	uint32_t first_metric, n_metrics; /* metric m of rank[i] is first_metric + m * n + i */
};

/* Adds the metrics; does nothing if the profile is not reduced. Must be called before the tree is taken. */
void ranks_extend(struct profile *profile, struct ranks *ret);

/* Largest / average - 1, in percent. values: of the row, by metric. *ret_rank: the slowest rank; RANK_NONE =
 * none of the estimated ones. Negative: there is no cost, or no rank is known. */
double ranks_imbalance(const struct ranks *ranks, const uint64_t *values, uint32_t metric,
		       uint32_t *ret_rank);
