/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Combines rows that say the same many times: loops that only contain another loop, and recursion.
 */
#include "base/cleanup.h"
#include "report/tree/view.h"

#define FOLD_PERCENT 95 /* of a loop's cost must be in the loop inside it */

/* By row: its child if it has only one, VIEW_NONE otherwise. */
static uint32_t *only_children(const struct view *view)
{
	uint32_t *only = alloc_zero(view->rows.n + 1, sizeof(*only));
	CLEANUP(freep) uint32_t *n_children = alloc_zero(view->rows.n + 1, sizeof(*n_children));

	for (uint32_t row = 0; row < view->rows.n; row++) {
		uint32_t parent = view->rows.at[row].parent;
		only[row] = VIEW_NONE;
		if (parent != VIEW_NONE)
			only[parent] = n_children[parent]++ ? VIEW_NONE : row;
	}
	return only;
}

static void add_self(const struct view *from, uint32_t row, struct view *to, uint32_t to_row)
{
	for (size_t metric = 0; metric < from->n_metrics; metric++)
		to->self.at[to_row * from->n_metrics + metric] += view_self(from, row, (uint32_t)metric);
}

static bool folds_into(const struct view *view, const struct scope_tree *tree, uint32_t metric, uint32_t row,
		       uint32_t child)
{
	if (child == VIEW_NONE || scope_kind(tree, view->rows.at[row].scope) != SCOPE_LOOP ||
	    scope_kind(tree, view->rows.at[child].scope) != SCOPE_LOOP)
		return false;
	return (double)view_inclusive(view, child, metric) * 100 >=
	       (double)view_inclusive(view, row, metric) * FOLD_PERCENT;
}

void view_fold_loops(struct view *view, const struct scope_tree *tree, uint32_t metric)
{
	CLEANUP(freep) uint32_t *only = only_children(view);
	CLEANUP(freep) uint32_t *moved_to = alloc_zero(view->rows.n + 1, sizeof(*moved_to));
	struct view folded = { .n_metrics = view->n_metrics };

	for (uint32_t row = 0; row < view->rows.n; row++) {
		uint32_t parent = view->rows.at[row].parent;
		if (parent == VIEW_NONE || only[parent] != row ||
		    !folds_into(view, tree, metric, parent, row)) {
			moved_to[row] = (uint32_t)folded.rows.n;
			view_copy_row(view, row, parent == VIEW_NONE ? VIEW_NONE : moved_to[parent], &folded);
			continue;
		}
		/* The outer row is kept, with its costs, under the name of the inner one. */
		uint32_t outer = moved_to[row] = moved_to[parent];
		bool is_schedule = scope_frame(tree, folded.rows.at[outer].scope)->flags & SCOPE_SCHEDULE;
		folded.rows.at[outer].scope = view->rows.at[row].scope;
		folded.rows.at[outer].n_loops += !is_schedule;
		folded.rows.at[outer].has_schedule |= is_schedule;
		add_self(view, row, &folded, outer);
	}
	view_done(view);
	*view = folded;
}

/* ---- recursion ---------------------------------------------------------------------------------- */

#define MAX_PERIOD 8 /* rows of one level: functions that call each other, with their loops */
#define MIN_LEVELS 5 /* fewer are easy to read, and are shown as they are */

struct recursion {
	const struct view *view;
	const struct scope_tree *tree;
	const uint32_t *only;
};

static bool is_same(const struct recursion *r, uint32_t a, uint32_t b)
{
	const struct view_row *x = &r->view->rows.at[a], *y = &r->view->rows.at[b];

	return r->tree->scopes.at[x->scope].frame == r->tree->scopes.at[y->scope].frame;
}

/* The number of levels from the row `first` on, if each has `period` rows. In print order, an only child
 * follows its parent directly. */
static uint32_t count_levels(const struct recursion *r, uint32_t first, uint32_t period)
{
	uint32_t n = 1;

	while (first + n < r->view->rows.n && r->only[first + n - 1] == first + n &&
	       (n < period || is_same(r, first + n - period, first + n)))
		n++;
	return n / period;
}

/* Tries the shortest period first. Returns the number of levels; 1 = there is no recursion to fold. */
static uint32_t find_recursion(const struct recursion *r, uint32_t first, uint32_t *ret_period)
{
	for (uint32_t period = 1; period <= MAX_PERIOD; period++) {
		uint32_t n = count_levels(r, first, period);
		*ret_period = period;
		if (n >= MIN_LEVELS)
			return n;
	}
	return *ret_period = 1;
}

void view_fold_recursion(struct view *view, const struct scope_tree *tree)
{
	CLEANUP(freep) uint32_t *only = only_children(view);
	CLEANUP(freep) uint32_t *moved_to = alloc_zero(view->rows.n + 1, sizeof(*moved_to));
	const struct recursion recursion = { view, tree, only };
	struct view folded = { .n_metrics = view->n_metrics };
	uint32_t row = 0;

	while (row < view->rows.n) {
		uint32_t period, n_levels = find_recursion(&recursion, row, &period), first = row;
		for (; row < first + period; row++) {
			uint32_t parent = view->rows.at[row].parent;
			moved_to[row] = (uint32_t)folded.rows.n;
			view_copy_row(view, row, parent == VIEW_NONE ? VIEW_NONE : moved_to[parent], &folded);
		}
		if (n_levels > 1) {
			folded.rows.at[moved_to[first]].n_levels = n_levels;
			folded.rows.at[moved_to[first]].level_rows = period;
		}
		/* Inner levels add their self cost; their total is already part of the outermost one's. */
		for (; row < first + n_levels * period; row++) {
			moved_to[row] = moved_to[row - period];
			add_self(view, row, &folded, moved_to[row]);
		}
	}
	view_done(view);
	*view = folded;
}
