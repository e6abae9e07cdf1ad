/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_spread: how the cost of a row is distributed over threads.
 */
#pragma once

#include "report/tree/group.h"

/* For one row, including callees. Threads that were only sampled elsewhere are included, with 0. */
struct thread_spread {
	uint64_t least, most, sum;
};

struct thread_spreads {
	uint32_t n_threads;
	struct groups groups;     /* of == NULL: each scope separately */
	struct thread_spread *of; /* by group or scope */
};

/* For one metric and the selected threads (NULL = all). by: NULL = each scope separately. */
void thread_spreads_init(struct thread_spreads *spreads, const struct scope_tree *tree, uint32_t metric,
			 const bool *is_kept, const enum group_by *by);
void thread_spreads_done(struct thread_spreads *spreads);
/* For the row of this scope. */
struct thread_spread thread_spreads_find(const struct thread_spreads *spreads, uint32_t scope);

double thread_spread_mean(const struct thread_spread *spread, uint32_t n_threads);
/* By how much the busiest thread is above the mean, in percent; negative: there is no cost. */
double thread_spread_imbalance(const struct thread_spread *spread, uint32_t n_threads);
