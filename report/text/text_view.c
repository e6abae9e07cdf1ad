/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the options to rows in print order; their appearance is decided elsewhere.
 */
#include "base/cleanup.h"
#include "report/text/text_rows.h"

#define CALLERS_DEPTH 64 /* maximum number of callers followed: recursion is thousands of levels deep */
#define HOT_CHILDREN 8   /* number of children shown at the end of the hot path */

static struct view_cut cut_of(const struct text_report *report, enum view_key prune)
{
	return (struct view_cut){ .metric = report->metric,
				  .sort = report->options->sort,
				  .prune = prune,
				  .min = text_min_cost(report) };
}

/* Rows that cost something. */
static size_t text_view_count_rows(const struct text_report *report, const struct view *view,
				   enum view_key key)
{
	size_t n = 0;

	for (uint32_t row = 0; row < view->rows.n; row++)
		n += view_cost(view, row, key, report->metric) > 0;
	return n;
}

/* The limit applies to rows that are shown: not to those that loops were folded into, nor to a hidden root.
 * For a view that is arranged and, if required, folded. Returns how many were left out. */
static size_t limit_rows(const struct text_report *report, struct view *view, enum view_key prune)
{
	struct view_cut cut = cut_of(report, prune);
	size_t before = view->rows.n;

	if (!report->options->limit || !before)
		return 0;
	cut.limit = report->options->limit + !text_is_shown(report, view, 0);
	view_arrange(view, &cut);
	return before - view->rows.n;
}

static void fold_rows(const struct text_report *report, struct view *view)
{
	view_fold_loops(view, report->tree, report->metric);
	if (report->options->folds_recursion)
		view_fold_recursion(view, report->tree);
}

static size_t build_tree(const struct text_report *report, struct view *ret)
{
	struct view_cut cut = cut_of(report, VIEW_BY_INCLUSIVE);

	view_tree(report->tree, report->costs, ret);
	size_t before = text_view_count_rows(report, ret, VIEW_BY_INCLUSIVE);
	view_arrange(ret, &cut);
	size_t n_left_out = before - ret->rows.n;
	fold_rows(report, ret);
	if (report->options->max_depth) {
		size_t n = ret->rows.n;
		view_flatten(ret, report->options->max_depth + 1); /* the root is not shown */
		view_arrange(ret, &cut);
		n_left_out += n - ret->rows.n;
	}
	return n_left_out + limit_rows(report, ret, VIEW_BY_INCLUSIVE);
}

/* Other functions have no cost here, so they are dropped with their callers. */
static void keep_callers_of(struct view *view, const bool *callers_of)
{
	CLEANUP(freep) bool *is_kept = alloc_zero(view->rows.n + 1, sizeof(*is_kept));
	size_t n = view->n_metrics;

	for (uint32_t row = 0; row < view->rows.n; row++) {
		uint32_t parent = view->rows.at[row].parent;
		is_kept[row] = parent == VIEW_NONE ? callers_of[view->rows.at[row].scope] : is_kept[parent];
		for (size_t metric = 0; !is_kept[row] && metric < n; metric++)
			view->self.at[row * n + metric] = view->inclusive.at[row * n + metric] = 0;
	}
}

static void build_callers(const struct text_report *report, struct view *ret)
{
	struct view_cut cut = cut_of(report, report->options->sort);
	size_t depth = report->options->max_depth;

	cut.limit = report->options->callers_of ? 0 : report->options->limit;
	view_callers(report->tree, report->costs, &cut,
		     depth && depth < CALLERS_DEPTH ? depth : CALLERS_DEPTH, ret);
	cut.limit = 0;
	if (report->options->callers_of)
		keep_callers_of(ret, report->options->callers_of);
	view_arrange(ret, &cut);
	limit_rows(report, ret, report->options->sort);
}

static size_t build_flat(const struct text_report *report, struct view *ret)
{
	struct view_cut cut = cut_of(report, report->options->sort);

	view_flat(report->tree, report->costs, report->options->group, ret);
	size_t before = text_view_count_rows(report, ret, report->options->sort);
	view_arrange(ret, &cut);
	size_t after = ret->rows.n;
	return before - after + limit_rows(report, ret, report->options->sort);
}

static void add_path_row(const struct text_report *report, struct view *view, uint32_t parent, uint32_t scope)
{
	uint32_t row = view_add_row(view, parent, scope);

	for (uint32_t metric = 0; metric < view->n_metrics; metric++) {
		view->self.at[row * view->n_metrics + metric] = costs_self(report->costs, scope, metric);
		view->inclusive.at[row * view->n_metrics + metric] =
			costs_inclusive(report->costs, scope, metric);
	}
}

/* The hot path as a separate tree: its scopes below each other, then the children of its end. */
static void build_hot(const struct text_report *report, struct view *ret)
{
	struct view_cut cut = cut_of(report, VIEW_BY_INCLUSIVE);
	view_path path = { 0 };

	*ret = (struct view){ .n_metrics = report->costs->n_metrics };
	view_hot_path(report->tree, report->costs, report->metric, &path);
	for (uint32_t i = 0; i < path.n; i++)
		add_path_row(report, ret, i ? i - 1 : VIEW_NONE, path.at[i]);
	for (uint32_t scope = 1; scope < report->tree->scopes.n; scope++)
		if (report->tree->scopes.at[scope].parent == path.at[path.n - 1])
			add_path_row(report, ret, (uint32_t)path.n - 1, scope);
	/* Rows of the path cost most, so the limit applies to what comes after them. */
	cut.limit = path.n + HOT_CHILDREN;
	view_arrange(ret, &cut);
	fold_rows(report, ret);
	limit_rows(report, ret, VIEW_BY_INCLUSIVE);
	vec_done(&path);
}

/* Loop nests: each loop once for all callers, below the loop around it in its function. */
static size_t build_loops(const struct text_report *report, struct view *ret)
{
	struct view_cut cut = cut_of(report, VIEW_BY_INCLUSIVE);

	view_loops(report->tree, report->costs, ret);
	size_t before = text_view_count_rows(report, ret, VIEW_BY_INCLUSIVE);
	view_arrange(ret, &cut);
	size_t after = ret->rows.n;
	return before - after + limit_rows(report, ret, VIEW_BY_INCLUSIVE);
}

size_t text_build_view(const struct text_report *report, struct view *ret)
{
	switch (report->options->view) {
	case TEXT_TREE:
		return build_tree(report, ret);
	case TEXT_CALLERS:
		build_callers(report, ret);
		return 0;
	case TEXT_HOT:
		build_hot(report, ret);
		return 0;
	case TEXT_LOOPS:
		return build_loops(report, ret);
	default:
		return build_flat(report, ret);
	}
}
