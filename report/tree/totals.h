/* SPDX-License-Identifier: Apache-2.0 */
/*
 * totals: the inclusive cost of each scope of a tree, in 32 bits each. Only few are larger: those near the
 * root.
 */
#pragma once

#include <stdbool.h>

#include "base/hash.h"
#include "structure/scope.h"

#define TOTALS_ALL UINT32_MAX

struct totals_options {
	size_t n_scopes;     /* the number of scopes: all, or those that are not lines */
	const bool *is_kept; /* by thread index; NULL = all threads */
	uint32_t metric;     /* only this one, which is then number 0; or TOTALS_ALL */
};

struct totals {
	uint32_t *low; /* [scope * n_metrics + metric]; UINT32_MAX = in `large` */
	struct map where;
	VEC(uint64_t) large;
	uint32_t n_metrics;
};

/* The costs of lines are included in the scopes around them, even if lines have no totals. */
void totals_init(struct totals *totals, const struct scope_tree *tree, const struct totals_options *options);
void totals_done(struct totals *totals);

uint64_t totals_large(const struct totals *totals, size_t at);
static inline uint64_t totals_of(const struct totals *totals, size_t scope, uint32_t metric)
{
	size_t at = scope * totals->n_metrics + metric;

	return totals->low[at] != UINT32_MAX ? totals->low[at] : totals_large(totals, at);
}
