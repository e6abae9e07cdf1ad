/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allocations: allocations by call path, estimated from samples, with confidence intervals.
 */
#pragma once

#include "profile/profile.h"
#include "structure/scope.h"

struct estimate {
	uint64_t value;
	double variance;
};
/* Half the width of its 95 % confidence interval. */
double estimate_margin(const struct estimate *estimate);

enum allocation_kind {
	ALLOCATION_BYTES,
	ALLOCATION_CALLS,
	ALLOCATION_HELD_BYTES,
	ALLOCATION_HELD_CALLS,
	ALLOCATION_N
};
struct allocation_row {
	uint32_t scope;   /* the allocation function, in its calling context */
	uint64_t samples; /* on which the estimate is based */
	struct estimate of[ALLOCATION_N];
};
typedef VEC(struct allocation_row) allocation_rows;

/* Are its samples allocations? ret_followed: is it known which were not freed? */
bool allocations_are_in(const struct profile *profile, bool *ret_followed);
/* Most bytes first; memory that was not freed before the rest. The tree must have durations. is_kept: by
 * thread; NULL = all. */
void allocation_rows_find(const struct scope_tree *tree, const bool *is_kept, allocation_rows *ret);
