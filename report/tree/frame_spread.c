/* SPDX-License-Identifier: Apache-2.0 */
#include "report/tree/frame_spread.h"

#include <math.h>

#include "base/cleanup.h"
#include "report/spread.h"
#include "report/tree/outermost.h"
#include "report/tree/totals.h"

struct frame_rounds {
	struct scope_tree *tree;
	struct totals totals;   /* of one round */
	uint64_t *self, *total; /* [frame * n_rounds + round] */
	uint32_t round;         /* being added up */
};

static uint32_t frame_spread_group(void *context, uint32_t scope)
{
	const struct frame_rounds *of = context;

	return of->tree->scopes.at[scope].frame;
}

static void frame_spread_count(void *context, uint32_t scope, uint32_t frame)
{
	struct frame_rounds *of = context;

	of->total[frame * of->tree->n_rounds + of->round] += totals_of(&of->totals, scope, 0);
}

/* The cost of a line is that of the scope around it. */
static void frame_spread_add_self(struct frame_rounds *of, size_t n_nodes)
{
	const struct scope_tree *tree = of->tree;
	uint32_t first = tree->n_metrics - tree->n_rounds;

	for (size_t i = 0; i < tree->values.n; i++) {
		const struct scope_value *value = &tree->values.at[i];
		uint32_t scope = value->scope < n_nodes ? value->scope : tree->scopes.at[value->scope].parent;
		if (value->metric >= first)
			of->self[tree->scopes.at[scope].frame * tree->n_rounds + value->metric - first] +=
				value->value;
	}
}

static void frame_spread_add_totals(struct frame_rounds *of, size_t n_nodes)
{
	struct scope_tree *tree = of->tree;
	struct outermost outermost = { of, (uint32_t)tree->frames.n, frame_spread_group, frame_spread_count };

	for (of->round = 0; of->round < tree->n_rounds; of->round++) {
		totals_init(
			&of->totals, tree,
			&(struct totals_options){ .n_scopes = n_nodes,
						  .metric = tree->n_metrics - tree->n_rounds + of->round });
		outermost_visit(&outermost, tree, n_nodes);
		totals_done(&of->totals);
	}
}

static uint16_t frame_spread_pack(double spread)
{
	return (uint16_t)fmin(UINT16_MAX, ceil(spread * FRAME_SPREAD_UNIT));
}

static void frame_spread_drop_rounds(struct scope_tree *tree)
{
	size_t n = 0;

	tree->n_metrics -= tree->n_rounds;
	tree->n_rounds = 0;
	for (size_t i = 0; i < tree->values.n; i++)
		if (tree->values.at[i].metric < tree->n_metrics)
			tree->values.at[n++] = tree->values.at[i];
	tree->values.n = n;
}

void frame_spread_set(struct scope_tree *tree)
{
	size_t n_nodes = scope_tree_n_nodes(tree), m = tree->n_rounds;
	CLEANUP(freep) uint64_t *self = alloc_zero(tree->frames.n * m + 1, sizeof(*self));
	CLEANUP(freep) uint64_t *total = alloc_zero(tree->frames.n * m + 1, sizeof(*total));
	struct frame_rounds of = { .tree = tree, .self = self, .total = total };

	if (!m || !tree->scopes.n)
		return;
	frame_spread_add_self(&of, n_nodes);
	frame_spread_add_totals(&of, n_nodes);
	const uint64_t *all = &total[tree->scopes.at[0].frame * m];
	for (size_t i = 0; i < tree->frames.n; i++) {
		tree->frames.at[i].self_spread = frame_spread_pack(spread_factor(&self[i * m], all, m));
		tree->frames.at[i].total_spread = frame_spread_pack(spread_factor(&total[i * m], all, m));
	}
	frame_spread_drop_rounds(tree);
}
