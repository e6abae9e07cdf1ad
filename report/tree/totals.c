/* SPDX-License-Identifier: Apache-2.0 */
#include "report/tree/totals.h"

uint64_t totals_large(const struct totals *totals, size_t at)
{
	return totals->large.at[map_find(&totals->where, at)];
}

static void totals_add(struct totals *totals, size_t at, uint64_t value)
{
	if (totals->low[at] == UINT32_MAX) {
		totals->large.at[map_find(&totals->where, at)] += value;
		return;
	}
	value += totals->low[at];
	if (value < UINT32_MAX) {
		totals->low[at] = (uint32_t)value;
		return;
	}
	totals->low[at] = UINT32_MAX;
	map_put(&totals->where, at, (uint32_t)totals->large.n);
	vec_push(&totals->large, value);
}

void totals_init(struct totals *totals, const struct scope_tree *tree, const struct totals_options *options)
{
	size_t n = options->n_scopes;
	uint32_t only = options->metric, m = only == TOTALS_ALL ? tree->n_metrics : 1;

	*totals = (struct totals){ .n_metrics = m };
	totals->low = alloc_zero(n * m + 1, sizeof(*totals->low));
	for (size_t i = 0; i < tree->values.n; i++) {
		const struct scope_value *v = &tree->values.at[i];
		size_t scope = v->scope < n ? v->scope : tree->scopes.at[v->scope].parent;
		if ((only != TOTALS_ALL && v->metric != only) ||
		    (options->is_kept && !options->is_kept[v->thread]))
			continue;
		totals_add(totals, scope * m + (only == TOTALS_ALL ? v->metric : 0), v->value);
	}
	for (size_t i = n; i-- > 1;)
		for (uint32_t k = 0; k < m; k++)
			totals_add(totals, tree->scopes.at[i].parent * m + k, totals_of(totals, i, k));
}

void totals_done(struct totals *totals)
{
	free(totals->low);
	map_done(&totals->where);
	vec_done(&totals->large);
	*totals = (struct totals){ 0 };
}
