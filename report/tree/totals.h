/* SPDX-License-Identifier: Apache-2.0 */
/*
 * totals: what each scope of a tree costs with all below it, in 32 bits a number. Few are larger than that:
 * those near the root.
 */
#pragma once

#include <stdbool.h>

#include "base/hash.h"
#include "structure/scope.h"

#define TOTALS_ALL UINT32_MAX

struct totals_options {
	size_t n_scopes;     /* only of the first so many: all, or those that are no lines */
	const bool *is_kept; /* by thread index; NULL = all threads */
	uint32_t metric;     /* only of this one, which is number 0 then; or TOTALS_ALL */
};

struct totals {
	uint32_t *low; /* [scope * n_metrics + metric]; UINT32_MAX = among the large */
	struct map where;
	VEC(uint64_t) large;
	uint32_t n_metrics;
};

/* What is spent in lines is spent in the scopes around them, also where lines have no totals. */
void totals_init(struct totals *totals, const struct scope_tree *tree, const struct totals_options *options);
void totals_done(struct totals *totals);

uint64_t totals_large(const struct totals *totals, size_t at);
static inline uint64_t totals_of(const struct totals *totals, size_t scope, uint32_t metric)
{
	size_t at = scope * totals->n_metrics + metric;

	return totals->low[at] != UINT32_MAX ? totals->low[at] : totals_large(totals, at);
}
