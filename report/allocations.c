/* SPDX-License-Identifier: Apache-2.0 */
#include "report/allocations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define NORMAL_95 1.96
#define DOUBT (CCT_DOUBT - CCT_DURATION) /* metrics of the tree's durations are numbered from 0 */

double estimate_margin(const struct estimate *estimate)
{
	return NORMAL_95 * sqrt(estimate->variance);
}

bool allocations_are_in(const struct profile *profile, bool *ret_followed)
{
	const struct profile_metric *metrics = profile->metrics.at;
	const struct intern *strings = &profile->strings;

	*ret_followed = false;
	if (profile->metrics.n < 3 || strcmp(intern_text(strings, metrics[1].name), "bytes") != 0 ||
	    strcmp(intern_text(strings, metrics[2].name), "allocations") != 0)
		return false;
	*ret_followed =
		profile->metrics.n > 4 && strcmp(intern_text(strings, metrics[3].name), "held-bytes") == 0;
	return true;
}

static uint32_t allocations_function(const struct scope_tree *tree, uint32_t scope)
{
	while (scope) {
		unsigned kind = scope_kind(tree, scope);
		if (kind != SCOPE_LINE && kind != SCOPE_LOOP && kind != SCOPE_INLINE)
			break;
		scope = tree->scopes.at[scope].parent;
	}
	return scope;
}

static struct allocation_row *allocations_row(struct map *rows, const struct scope_tree *tree, uint32_t scope,
					      allocation_rows *ret)
{
	uint32_t function = allocations_function(tree, scope), at = map_find(rows, function);

	if (at == MAP_NONE) {
		map_put(rows, function, at = (uint32_t)ret->n);
		vec_push(ret, (struct allocation_row){ .scope = function });
	}
	return &ret->at[at];
}

static int allocations_compare(const void *left, const void *right)
{
	const struct allocation_row *a = left, *b = right;
	const enum allocation_kind keys[] = { ALLOCATION_HELD_BYTES, ALLOCATION_BYTES };

	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (a->of[keys[i]].value != b->of[keys[i]].value)
			return a->of[keys[i]].value > b->of[keys[i]].value ? -1 : 1;
	return (a->scope > b->scope) - (a->scope < b->scope);
}

void allocation_rows_find(const struct scope_tree *tree, const bool *is_kept, allocation_rows *ret)
{
	struct map rows = { 0 };

	for (size_t i = 0; i < tree->values.n; i++) {
		const struct scope_value *value = &tree->values.at[i];
		if (value->metric > ALLOCATION_N || (is_kept && !is_kept[value->thread]))
			continue;
		struct allocation_row *row = allocations_row(&rows, tree, value->scope, ret);
		if (value->metric == 0)
			row->samples += value->value;
		else
			row->of[value->metric - 1].value += value->value;
	}
	for (size_t i = 0; i < tree->durations.n; i++) {
		const struct scope_value *value = &tree->durations.at[i];
		if (value->metric < DOUBT || value->metric >= DOUBT + ALLOCATION_N ||
		    (is_kept && !is_kept[value->thread]))
			continue;
		allocations_row(&rows, tree, value->scope, ret)->of[value->metric - DOUBT].variance +=
			(double)value->value;
	}
	map_done(&rows);
	if (ret->n)
		qsort(ret->at, ret->n, sizeof(*ret->at), allocations_compare);
	while (ret->n && !ret->at[ret->n - 1]
				  .of[ALLOCATION_BYTES]
				  .value) /* made by one allocation function for another */
		ret->n--;
}
