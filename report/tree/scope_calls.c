/* SPDX-License-Identifier: Apache-2.0 */
#include "report/tree/scope_calls.h"

void scope_calls_take(struct scope_tree *tree, struct scope_calls *ret)
{
	uint32_t metric = tree->activations;
	size_t n = 0;

	*ret = (struct scope_calls){ 0 };
	if (!metric || metric + 1 != tree->n_metrics)
		return;
	for (size_t i = 0; i < tree->scopes.n; i++)
		vec_push(&ret->by_scope, 0);
	for (size_t i = 0; i < tree->frames.n; i++)
		vec_push(&ret->by_frame, 0);
	for (size_t i = 0; i < tree->values.n; i++) {
		const struct scope_value *value = &tree->values.at[i];
		if (value->metric != metric) {
			tree->values.at[n++] = *value;
			continue;
		}
		ret->by_scope.at[value->scope] += value->value;
		ret->by_frame.at[tree->scopes.at[value->scope].frame] += value->value;
	}
	if (n == tree->values.n) /* a profile in which calls were not counted */
		scope_calls_done(ret);
	tree->values.n = n;
	tree->n_metrics--;
	tree->activations = 0;
}

void scope_calls_done(struct scope_calls *calls)
{
	vec_done(&calls->by_scope);
	vec_done(&calls->by_frame);
	*calls = (struct scope_calls){ 0 };
}
