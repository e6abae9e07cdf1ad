/* SPDX-License-Identifier: Apache-2.0 */
#include "report/diff/stats.h"

#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "report/diff/statistics.h"
#include "report/label.h"
#include "report/tree/costs.h"
#include "report/tree/view.h"

#define AT_ONCE 16 /* units whose costs are in memory for every scope */

/* ---- the costs of some units --------------------------------------------------------------------- */

/* The joint tree with only the costs of units [first, first + n) as its metrics. The scopes are those of the
 * joint tree. */
static struct scope_tree tree_of_units(const struct joint *joint, uint32_t first, uint32_t n)
{
	struct scope_tree tree = joint->tree;

	tree.n_metrics = n;
	tree.values.at = NULL;
	tree.values.n = tree.values.cap = 0;
	for (size_t i = 0; i < joint->tree.values.n; i++) {
		struct scope_value value = joint->tree.values.at[i];
		if (value.metric < first || value.metric >= first + n)
			continue;
		value.metric -= first;
		vec_push(&tree.values, value);
	}
	return tree;
}

static void stats_rows_of_view(struct stats *stats, const struct view *view, uint32_t first, size_t n)
{
	uint32_t n_units = stats->joint->n_units;

	for (uint32_t row = 0; row < view->rows.n; row++)
		for (uint32_t u = 0; u < n; u++)
			stats->values[(size_t)row * n_units + first + u] = (double)view_cost(
				view, row, stats->by_self ? VIEW_BY_SELF : VIEW_BY_INCLUSIVE, u);
}

/* A row for each group; all units, a few at a time. */
static void stats_collect(struct stats *stats, const struct groups *groups)
{
	const struct joint *joint = stats->joint;

	for (uint32_t first = 0; first < joint->n_units; first += AT_ONCE) {
		uint32_t n = joint->n_units - first < AT_ONCE ? joint->n_units - first : AT_ONCE;
		struct scope_tree tree = tree_of_units(joint, first, n);
		CLEANUP(costs_done) struct costs costs;
		CLEANUP(view_done) struct view view;
		costs_init(&costs, &tree, NULL);
		if (groups)
			view_groups(&tree, &costs, groups, &view);
		else
			view_tree(&tree, &costs, &view);
		stats_rows_of_view(stats, &view, first, n);
		vec_done(&tree.values);
	}
}

/* ---- rows ----------------------------------------------------------------------------------------- */

static struct stats_row stats_row_of(uint32_t scope, const double *values, uint32_t n)
{
	struct run_spread spread = run_spread_of(values, n);
	struct stats_row row = { .scope = scope,
				 .mean = spread.mean,
				 .deviation = sqrt(spread.variance),
				 .min = values[0],
				 .max = values[0],
				 .values = values };

	for (uint32_t i = 0; i < n; i++) {
		row.sum += values[i];
		if (values[i] < row.min) {
			row.min = values[i];
			row.min_unit = i;
		}
		if (values[i] > row.max) {
			row.max = values[i];
			row.max_unit = i;
		}
	}
	row.range = row.sum > 0 ? (row.max - row.min) / row.sum : 0;
	return row;
}

static int stats_compare(const void *left, const void *right)
{
	const struct stats_row *a = left, *b = right;

	if (a->range != b->range)
		return a->range > b->range ? -1 : 1;
	if (a->sum != b->sum)
		return a->sum > b->sum ? -1 : 1;
	return a->scope < b->scope ? -1 : a->scope > b->scope;
}

static void stats_choose(struct stats *stats, const uint32_t *scopes, size_t n_rows,
			 const struct stats_options *options)
{
	uint32_t n = stats->joint->n_units;
	double least = options->percent / 100 * stats->total.sum;

	for (size_t i = 0; i < n_rows; i++) {
		struct stats_row row =
			stats_row_of(scopes ? scopes[i] : (uint32_t)i, stats->values + i * n, n);
		if (row.sum > 0 && row.sum >= least)
			vec_push(&stats->rows, row);
		else
			stats->n_left_out += row.sum > 0;
	}
	if (stats->rows.n)
		qsort(stats->rows.at, stats->rows.n, sizeof(*stats->rows.at), stats_compare);
	if (options->limit && stats->rows.n > options->limit) {
		stats->n_left_out += stats->rows.n - options->limit;
		stats->rows.n = options->limit;
	}
}

/* The total, after the rows. */
static void stats_add_total(struct stats *stats, size_t n_rows)
{
	const struct scope_tree *tree = &stats->joint->tree;
	uint32_t n = stats->joint->n_units;
	double *values = stats->values + n_rows * n;

	for (size_t i = 0; i < tree->values.n; i++)
		if (tree->values.at[i].metric < n)
			values[tree->values.at[i].metric] += (double)tree->values.at[i].value;
	stats->total = stats_row_of(0, values, n);
}

void stats_init(struct stats *stats, const struct joint *joint, const struct stats_options *options)
{
	static const enum group_by groups_by[] = {
		[STATS_FUNCTION] = GROUP_FUNCTION, [STATS_LOOP] = GROUP_LOOP, [STATS_MODULE] = GROUP_MODULE
	};
	CLEANUP(groups_done) struct groups groups = { 0 };
	bool is_path = options->by == STATS_PATH;

	*stats = (struct stats){ .joint = joint,
				 .by = options->by,
				 .by_self = options->by == STATS_FUNCTION || options->by == STATS_MODULE };
	if (!is_path)
		joint_groups(joint, groups_by[options->by], &groups);
	size_t n_rows = is_path ? joint->tree.scopes.n : groups.scopes.n;
	stats->values = alloc_zero((n_rows + 1) * joint->n_units, sizeof(*stats->values));
	stats_collect(stats, is_path ? NULL : &groups);
	stats_add_total(stats, n_rows);
	stats_choose(stats, is_path ? NULL : groups.scopes.at, n_rows, options);
}

void stats_done(struct stats *stats)
{
	vec_done(&stats->rows);
	free(stats->values);
}

void stats_label(const struct stats *stats, const struct stats_row *row, struct text *ret)
{
	const struct scope_tree *tree = &stats->joint->tree;
	uint32_t chain[4]; /* a path is labelled by its end */
	size_t n = 0;

	if (stats->by == STATS_MODULE) {
		text_printf(ret, "%s",
			    label_image(stats->joint->names, scope_frame(tree, row->scope)->image));
		return;
	}
	for (uint32_t at = row->scope; n < 4; at = tree->scopes.at[at].parent) {
		chain[n++] = at;
		if (at == 0 || stats->by != STATS_PATH || tree->scopes.at[at].parent == 0)
			break;
	}
	if (tree->scopes.at[chain[n - 1]].parent != 0 && stats->by == STATS_PATH)
		text_printf(ret, "... > ");
	while (n-- > 0) {
		struct scope scope = scope_at(tree, chain[n]);
		label_scope(stats->joint->names, &scope, ret);
		text_printf(ret, "%s", n ? " > " : "");
	}
}
