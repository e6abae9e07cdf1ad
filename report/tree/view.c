/* SPDX-License-Identifier: Apache-2.0 */
#include "report/tree/view.h"

#include "base/cleanup.h"
#include "report/tree/numbering.h"
#include "report/tree/outermost.h"

uint32_t view_add_row(struct view *view, uint32_t parent, uint32_t scope)
{
	vec_push(&view->rows, (struct view_row){ .parent = parent, .scope = scope });
	for (size_t i = 0; i < view->n_metrics; i++) {
		vec_push(&view->self, 0);
		vec_push(&view->inclusive, 0);
	}
	return (uint32_t)view->rows.n - 1;
}

void view_done(struct view *view)
{
	vec_done(&view->rows);
	vec_done(&view->self);
	vec_done(&view->inclusive);
}

uint64_t view_cost(const struct view *view, uint32_t row, enum view_key key, uint32_t metric)
{
	return key == VIEW_BY_SELF ? view_self(view, row, metric) : view_inclusive(view, row, metric);
}

void view_tree(const struct scope_tree *tree, const struct costs *costs, struct view *ret)
{
	size_t n = costs->n_metrics;

	*ret = (struct view){ .n_metrics = n };
	for (size_t i = 0; i < tree->scopes.n; i++) {
		uint32_t row = view_add_row(ret, i ? tree->scopes.at[i].parent : VIEW_NONE, (uint32_t)i);
		for (size_t metric = 0; metric < n; metric++) {
			ret->self.at[row * n + metric] = costs->self[i * n + metric];
			ret->inclusive.at[row * n + metric] =
				costs_inclusive(costs, (uint32_t)i, (uint32_t)metric);
		}
	}
}

struct flat_view {
	const struct groups *groups;
	const struct costs *costs;
	struct view *view;
};

static uint32_t view_flat_group(void *context, uint32_t scope)
{
	return ((const struct flat_view *)context)->groups->of[scope];
}

static void count_inclusive(void *context, uint32_t scope, uint32_t group)
{
	const struct flat_view *flat = context;
	size_t n = flat->view->n_metrics;

	for (uint32_t metric = 0; metric < n; metric++)
		flat->view->inclusive.at[group * n + metric] += costs_inclusive(flat->costs, scope, metric);
}

void view_groups(const struct scope_tree *tree, const struct costs *costs, const struct groups *groups,
		 struct view *ret)
{
	struct flat_view flat = { groups, costs, ret };
	size_t n = costs->n_metrics;

	*ret = (struct view){ .n_metrics = n };
	for (size_t i = 0; i < groups->scopes.n; i++)
		view_add_row(ret, VIEW_NONE, groups->scopes.at[i]);
	for (size_t scope = 0; scope < tree->scopes.n; scope++)
		for (size_t metric = 0; metric < n && groups->of[scope] != GROUP_NONE; metric++)
			ret->self.at[groups->of[scope] * n + metric] += costs->self[scope * n + metric];
	struct outermost outermost = { &flat, (uint32_t)groups->scopes.n, view_flat_group, count_inclusive };
	outermost_visit(&outermost, tree, tree->scopes.n);
}

static bool view_has_cost(const struct costs *costs, uint32_t scope)
{
	for (uint32_t metric = 0; metric < costs->n_metrics; metric++)
		if (costs_inclusive(costs, scope, metric))
			return true;
	return false;
}

/* A line belongs to several functions if it is part of a template or a macro. The row is represented by the
 * first that has cost. */
static void view_count_functions(const struct scope_tree *tree, const struct costs *costs,
				 const struct groups *groups, struct view *view)
{
	CLEANUP(numbering_done) struct numbering numbering;

	numbering_init(&numbering, 2 * sizeof(uint32_t));
	for (uint32_t i = 0; i < tree->scopes.n; i++) {
		const struct scope_frame *frame = scope_frame(tree, i);
		uint32_t key[] = { groups->of[i], frame->name };
		if (frame->kind != SCOPE_LINE || groups->of[i] == GROUP_NONE || !view_has_cost(costs, i))
			continue;
		size_t n = numbering.n;
		if (numbering_add(&numbering, key) == n && view->rows.at[groups->of[i]].n_functions++ == 0)
			view->rows.at[groups->of[i]].scope = i;
	}
}

void view_flat(const struct scope_tree *tree, const struct costs *costs, enum group_by by, struct view *ret)
{
	CLEANUP(groups_done) struct groups groups;

	groups_init(&groups, tree, by);
	view_groups(tree, costs, &groups, ret);
	if (by == GROUP_LINE)
		view_count_functions(tree, costs, &groups, ret);
}

void view_loops(const struct scope_tree *tree, const struct costs *costs, struct view *ret)
{
	CLEANUP(groups_done) struct groups groups;

	groups_init(&groups, tree, GROUP_LOOP);
	view_groups(tree, costs, &groups, ret);
	for (uint32_t row = 0; row < ret->rows.n; row++) {
		uint32_t at = tree->scopes.at[ret->rows.at[row].scope].parent;
		while (scope_kind(tree, at) == SCOPE_INLINE)
			at = tree->scopes.at[at].parent;
		if (scope_kind(tree, at) == SCOPE_LOOP && groups.of[at] < row)
			ret->rows.at[row].parent = groups.of[at];
	}
}

void view_hot_path(const struct scope_tree *tree, const struct costs *costs, uint32_t metric, view_path *ret)
{
	uint32_t here = 0;

	/* Children follow their parents: one pass finds each scope's most expensive child. */
	CLEANUP(freep) uint32_t *hottest = alloc_zero(tree->scopes.n, sizeof(*hottest));
	for (uint32_t i = 1; i < tree->scopes.n; i++) {
		uint32_t parent = tree->scopes.at[i].parent;
		if (hottest[parent] == 0 ||
		    costs_inclusive(costs, i, metric) > costs_inclusive(costs, hottest[parent], metric))
			hottest[parent] = i;
	}
	vec_clear(ret);
	for (;;) {
		vec_push(ret, here);
		uint64_t cost = costs_inclusive(costs, here, metric);
		uint32_t child = hottest[here];
		if (child == 0 || cost == 0 || costs_inclusive(costs, child, metric) < cost - cost / 2)
			return;
		here = child;
	}
}

/* ---- print order -------------------------------------------------------------------------------- */

struct sortable {
	uint64_t cost;
	uint32_t row;
};

static int compare_sortables(const void *a, const void *b)
{
	const struct sortable *x = a, *y = b;

	if (x->cost != y->cost)
		return x->cost > y->cost ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

/*
 * The rows to keep, the largest first. By the key used for pruning, a row is never larger than its parent,
 * and comes after it if they are equal: so the first ones form a forest again.
 */
static struct sortable *view_choose_rows(const struct view *view, const struct view_cut *cut, size_t *ret_n)
{
	struct sortable *rows = alloc_zero(view->rows.n + 1, sizeof(*rows));
	size_t n = 0;

	for (uint32_t row = 0; row < view->rows.n; row++) {
		uint64_t cost = view_cost(view, row, cut->prune, cut->metric);
		if (cost > 0 && cost >= cut->min)
			rows[n++] = (struct sortable){ cost, row };
	}
	qsort(rows, n, sizeof(*rows), compare_sortables);
	if (cut->limit && cut->limit < n)
		n = cut->limit;
	if (cut->sort != cut->prune) {
		for (size_t i = 0; i < n; i++)
			rows[i].cost = view_cost(view, rows[i].row, cut->sort, cut->metric);
		qsort(rows, n, sizeof(*rows), compare_sortables);
	}
	*ret_n = n;
	return rows;
}

/* Children of each row as linked lists, in the order of `rows`; top rows are the children of slot n. */
struct children {
	uint32_t *first, *next;
};

static struct children link_children(const struct view *view, const struct sortable *rows, size_t n)
{
	size_t n_rows = view->rows.n;
	struct children children = { alloc_zero(n_rows + 1, sizeof(uint32_t)),
				     alloc_zero(n_rows + 1, sizeof(uint32_t)) };

	for (size_t i = 0; i <= n_rows; i++)
		children.first[i] = children.next[i] = VIEW_NONE;
	for (size_t i = n; i-- > 0;) {
		uint32_t row = rows[i].row, parent = view->rows.at[row].parent;
		uint32_t *first = &children.first[parent == VIEW_NONE ? n_rows : parent];
		children.next[row] = *first;
		*first = row;
	}
	return children;
}

void view_copy_row(const struct view *from, uint32_t row, uint32_t parent, struct view *to)
{
	uint32_t copy = view_add_row(to, parent, from->rows.at[row].scope);

	to->rows.at[copy] = from->rows.at[row];
	to->rows.at[copy].parent = parent;
	for (size_t metric = 0; metric < from->n_metrics; metric++) {
		to->self.at[copy * from->n_metrics + metric] = view_self(from, row, (uint32_t)metric);
		to->inclusive.at[copy * from->n_metrics + metric] =
			view_inclusive(from, row, (uint32_t)metric);
	}
}

/* Rows without cost are removed by view_arrange. */
void view_flatten(struct view *view, size_t max_depth)
{
	CLEANUP(freep) size_t *depth = alloc_zero(view->rows.n + 1, sizeof(*depth));

	for (size_t row = 0; row < view->rows.n; row++) {
		uint32_t parent = view->rows.at[row].parent;
		depth[row] = parent == VIEW_NONE ? 0 : depth[parent] + 1;
		if (depth[row] <= max_depth)
			continue;
		for (size_t metric = 0; metric < view->n_metrics; metric++)
			view->self.at[row * view->n_metrics + metric] =
				view->inclusive.at[row * view->n_metrics + metric] = 0;
	}
}

void view_arrange(struct view *view, const struct view_cut *cut)
{
	size_t n;
	CLEANUP(freep) struct sortable *rows = view_choose_rows(view, cut, &n);
	struct children children = link_children(view, rows, n);
	CLEANUP(freep) uint32_t *moved_to = alloc_zero(view->rows.n + 1, sizeof(*moved_to));
	struct view arranged = { .n_metrics = view->n_metrics };
	uint32_t row = children.first[view->rows.n];

	while (row != VIEW_NONE) {
		uint32_t parent = view->rows.at[row].parent;
		moved_to[row] = (uint32_t)arranged.rows.n;
		view_copy_row(view, row, parent == VIEW_NONE ? VIEW_NONE : moved_to[parent], &arranged);
		if (children.first[row] != VIEW_NONE) {
			row = children.first[row];
			continue;
		}
		while (row != VIEW_NONE && children.next[row] == VIEW_NONE)
			row = view->rows.at[row].parent;
		if (row != VIEW_NONE)
			row = children.next[row];
	}
	free(children.first);
	free(children.next);
	view_done(view);
	*view = arranged;
}
