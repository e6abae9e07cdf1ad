/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_sums: the cost of each scope of a tree, computed in the simplest way, to compare other sums with.
 * Arrays [scope * n_metrics + metric]; free() them.
 */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "structure/scope.h"

static inline uint64_t *sums_self(const struct scope_tree *tree)
{
	uint64_t *self = alloc_zero(tree->scopes.n * tree->n_metrics + 1, sizeof(*self));

	for (size_t i = 0; i < tree->values.n; i++) {
		const struct scope_value *v = &tree->values.at[i];
		self[(size_t)v->scope * tree->n_metrics + v->metric] += v->value;
	}
	return self;
}

/* Each scope's own cost counts for all its ancestors. */
static inline uint64_t *sums_inclusive(const struct scope_tree *tree, const uint64_t *self)
{
	uint64_t *inclusive = alloc_zero(tree->scopes.n * tree->n_metrics + 1, sizeof(*inclusive));

	for (size_t scope = 0; scope < tree->scopes.n; scope++)
		for (size_t around = scope;; around = tree->scopes.at[around].parent) {
			for (uint32_t m = 0; m < tree->n_metrics; m++)
				inclusive[around * tree->n_metrics + m] += self[scope * tree->n_metrics + m];
			if (around == 0)
				break;
		}
	return inclusive;
}
