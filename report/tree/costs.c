/* SPDX-License-Identifier: Apache-2.0 */
#include "report/tree/costs.h"

void costs_init(struct costs *costs, const struct scope_tree *tree, const bool *is_kept)
{
	size_t n = tree->n_metrics;

	costs->n_metrics = n;
	costs->self = alloc_zero(tree->scopes.n * n + 1, sizeof(*costs->self));
	for (size_t i = 0; i < tree->values.n; i++) {
		const struct scope_value *value = &tree->values.at[i];
		if (!is_kept || is_kept[value->thread])
			costs->self[value->scope * n + value->metric] += value->value;
	}
	totals_init(&costs->totals, tree,
		    &(struct totals_options){
			    .n_scopes = tree->scopes.n, .is_kept = is_kept, .metric = TOTALS_ALL });
}

void costs_done(struct costs *costs)
{
	free(costs->self);
	totals_done(&costs->totals);
	*costs = (struct costs){ 0 };
}
