/* SPDX-License-Identifier: Apache-2.0 */
/*
 * totals: what each node of a tree costs with all below it, in 32 bits a number. Few are larger than that:
 * those near the root.
 */
#pragma once

#include "base/hash.h"
#include "structure/scope.h"

struct totals {
	uint32_t *low; /* [node * n_metrics + metric]; UINT32_MAX = among the large */
	struct map where;
	VEC(uint64_t) large;
	size_t n_nodes;
	uint32_t n_metrics;
};

/* Of the scopes that are no lines: what is spent in lines is spent in the scopes around them. */
void totals_init(struct totals *totals, const struct scope_tree *tree);
void totals_done(struct totals *totals);

uint64_t totals_large(const struct totals *totals, size_t at);
static inline uint64_t totals_of(const struct totals *totals, size_t node, uint32_t metric)
{
	size_t at = node * totals->n_metrics + metric;

	return totals->low[at] != UINT32_MAX ? totals->low[at] : totals_large(totals, at);
}
