/* SPDX-License-Identifier: Apache-2.0 */
#include "structure/scope.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

void scope_tree_done(struct scope_tree *tree)
{
	vec_done(&tree->scopes);
	vec_done(&tree->values);
}

uint64_t *scope_tree_self(const struct scope_tree *tree)
{
	uint64_t *self = alloc_zero(tree->scopes.n * tree->n_metrics, sizeof(*self));

	for (size_t i = 0; i < tree->values.n; i++) {
		const struct scope_value *v = &tree->values.at[i];
		self[(size_t)v->scope * tree->n_metrics + v->metric] += v->value;
	}
	return self;
}

uint64_t *scope_tree_inclusive(const struct scope_tree *tree, const uint64_t *self)
{
	size_t n = tree->scopes.n, m = tree->n_metrics;
	uint64_t *inclusive = alloc_zero(n * m, sizeof(*inclusive));

	if (n)
		memcpy(inclusive, self, n * m * sizeof(*self));
	for (size_t i = n; i-- > 1;)
		for (size_t k = 0; k < m; k++)
			inclusive[tree->scopes.at[i].parent * m + k] += inclusive[i * m + k];
	return inclusive;
}

static int compare_values(const void *left, const void *right)
{
	const struct scope_value *a = left, *b = right;

	if (a->scope != b->scope)
		return a->scope < b->scope ? -1 : 1;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return a->metric < b->metric ? -1 : a->metric > b->metric;
}

size_t scope_values_settle(struct scope_value *values, size_t n)
{
	size_t kept = 0;

	if (n)
		qsort(values, n, sizeof(*values), compare_values);
	for (size_t i = 0; i < n; i++) {
		if (kept && compare_values(&values[kept - 1], &values[i]) == 0)
			values[kept - 1].value += values[i].value;
		else
			values[kept++] = values[i];
	}
	return kept;
}
