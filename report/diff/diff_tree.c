/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_tree: the calling contexts below which something changed, and the path of the change.
 */
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "report/diff/diff_private.h"

static const uint64_t *self_of(const struct diff *diff, uint32_t scope)
{
	return diff->costs.self + (size_t)scope * diff->costs.n_metrics;
}

/* By scope: the inclusive change, and the largest change of any scope at or below it. */
struct tree_changes {
	double *delta, *size, *largest;
};

static struct tree_changes tree_changes_of(const struct diff *diff)
{
	const struct scope_tree *tree = &diff->joint.tree;
	size_t n = tree->scopes.n;
	struct tree_changes changes = { alloc_zero(n, sizeof(double)), alloc_zero(n, sizeof(double)),
					alloc_zero(n, sizeof(double)) };
	CLEANUP(freep) uint64_t *values = alloc_zero(2 * diff_n_runs(diff), sizeof(*values));

	for (uint32_t i = 0; i < n; i++) {
		diff_inclusive(diff, i, values);
		struct change change = diff_means(diff, values);
		changes.delta[i] = change.delta;
		changes.size[i] = (change.a + change.b) / 2;
		changes.largest[i] = fabs(change.delta);
	}
	for (size_t i = n; i-- > 1;) {
		double *above = &changes.largest[tree->scopes.at[i].parent];
		if (changes.largest[i] > *above)
			*above = changes.largest[i];
	}
	return changes;
}

static void tree_changes_done(struct tree_changes *changes)
{
	free(changes->delta);
	free(changes->size);
	free(changes->largest);
}

struct ranked_scope {
	double size;
	uint32_t scope;
};

static int compare_ranked(const void *left, const void *right)
{
	const struct ranked_scope *a = left, *b = right;

	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	return a->scope < b->scope ? -1 : a->scope > b->scope;
}

/* Which scopes are shown: those with a large enough change at or below them, the largest first. This value is
 * never smaller for a scope than for those below it, so the kept scopes form a tree. */
static bool *tree_choose(const struct diff *diff, const struct tree_changes *changes,
			 const struct diff_cut *cut, size_t *ret_n)
{
	size_t n = diff->joint.tree.scopes.n, kept = 0;
	struct ranked_scope *ranked = alloc_zero(n, sizeof(*ranked));
	bool *is_kept = alloc_zero(n, sizeof(*is_kept));
	double least = diff_cut_least(diff, cut);

	for (uint32_t i = 0; i < n; i++)
		if (i == 0 || (changes->size[i] > 0 && changes->largest[i] >= least))
			ranked[kept++] = (struct ranked_scope){ i ? changes->largest[i] : INFINITY, i };
	if (cut->limit && kept > cut->limit) {
		qsort(ranked, kept, sizeof(*ranked), compare_ranked);
		kept = cut->limit;
	}
	for (size_t i = 0; i < kept; i++)
		is_kept[ranked[i].scope] = true;
	free(ranked);
	*ret_n = kept;
	return is_kept;
}

/* p of every scope that is large enough, so that what is tested does not depend on what is shown. */
static void tree_test(const struct diff *diff, const struct tree_changes *changes, struct diff_table *table)
{
	double least = DIFF_TESTED * changes->size[0];
	CLEANUP(freep) uint64_t *values = alloc_zero(2 * diff_n_runs(diff), sizeof(*values));
	CLEANUP(freep) uint32_t *number = alloc_zero(diff->joint.tree.scopes.n, sizeof(*number));
	VEC(double) p = { 0 };

	for (uint32_t i = 0; i < diff->joint.tree.scopes.n; i++) {
		if (changes->size[i] < least || changes->size[i] <= 0)
			continue;
		diff_inclusive(diff, i, values);
		vec_push(&p, diff_change(diff, values, 1).p);
		number[i] = (uint32_t)p.n;
	}
	CLEANUP(freep) bool *holds = alloc_zero(p.n + 1, sizeof(*holds));
	benjamini_hochberg(p.at, p.n, DIFF_FALSE_SHARE, holds);
	for (size_t i = 0; i < table->rows.n; i++) {
		struct diff_row *row = &table->rows.at[i];
		row->is_tested = number[row->scope] > 0;
		row->is_significant = row->is_tested && holds[number[row->scope] - 1];
	}
	for (size_t i = 0; i < p.n; i++)
		table->n_significant += holds[i];
	table->n_tested = p.n;
	vec_done(&p);
}

static void tree_add_row(const struct diff *diff, struct diff_table *table, uint32_t scope, uint32_t parent)
{
	CLEANUP(freep) uint64_t *values = alloc_zero(2 * diff_n_runs(diff), sizeof(*values));
	struct diff_row row = { .scope = scope,
				.parent = parent,
				.depth = parent == UINT32_MAX ? 0 : table->rows.at[parent].depth + 1 };

	diff_inclusive(diff, scope, values);
	row.total = diff_change(diff, values, 1);
	row.self = diff_change(diff, self_of(diff, scope), 1);
	vec_push(&table->rows, row);
}

struct visit {
	uint32_t scope, parent;
};

/* Scopes below each other, the largest change first. */
static void tree_arrange(const struct diff *diff, const struct tree_changes *changes, const bool *is_kept,
			 size_t n_kept, struct diff_table *table)
{
	const struct scope_tree *tree = &diff->joint.tree;
	CLEANUP(freep) struct ranked_scope *ranked = alloc_zero(n_kept + 1, sizeof(*ranked));
	CLEANUP(freep) uint32_t *child = alloc_zero(tree->scopes.n, sizeof(*child));
	CLEANUP(freep) uint32_t *sibling = alloc_zero(tree->scopes.n, sizeof(*sibling));
	VEC(struct visit) stack = { 0 };
	size_t n = 0;

	for (uint32_t i = 1; i < tree->scopes.n; i++)
		if (is_kept[i])
			ranked[n++] = (struct ranked_scope){ changes->largest[i], i };
	qsort(ranked, n, sizeof(*ranked), compare_ranked);
	/* Each list of children ends with the largest, which is then popped first. */
	for (size_t i = 0; i < n; i++) {
		uint32_t scope = ranked[i].scope, parent = tree->scopes.at[scope].parent;
		sibling[scope] = child[parent];
		child[parent] = scope;
	}
	vec_push(&stack, (struct visit){ 0, UINT32_MAX });
	while (stack.n) {
		struct visit here = stack.at[--stack.n];
		uint32_t row = (uint32_t)table->rows.n;
		tree_add_row(diff, table, here.scope, here.parent);
		for (uint32_t at = child[here.scope]; at; at = sibling[at])
			vec_push(&stack, (struct visit){ at, row });
	}
	vec_done(&stack);
}

void diff_tree(const struct diff *diff, const struct diff_cut *cut, struct diff_table *ret)
{
	CLEANUP(tree_changes_done) struct tree_changes changes = tree_changes_of(diff);
	size_t n_kept;
	CLEANUP(freep) bool *is_kept = tree_choose(diff, &changes, cut, &n_kept);

	*ret = (struct diff_table){ .is_tree = true, .by_total = true };
	tree_arrange(diff, &changes, is_kept, n_kept, ret);
	tree_test(diff, &changes, ret);
	for (uint32_t i = 0; i < diff->joint.tree.scopes.n; i++) {
		struct change self = diff_means(diff, self_of(diff, i));
		if (is_kept[i])
			continue;
		ret->n_left_out += changes.size[i] > 0;
		ret->left_a += self.a;
		ret->left_b += self.b;
	}
}

void diff_hot_path(const struct diff *diff, view_path *ret)
{
	const struct scope_tree *tree = &diff->joint.tree;
	CLEANUP(tree_changes_done) struct tree_changes changes = tree_changes_of(diff);
	CLEANUP(freep) uint32_t *hottest = alloc_zero(tree->scopes.n, sizeof(*hottest));
	uint32_t here = 0;

	for (uint32_t i = 1; i < tree->scopes.n; i++) {
		uint32_t *best = &hottest[tree->scopes.at[i].parent];
		if (*best == 0 || fabs(changes.delta[i]) > fabs(changes.delta[*best]))
			*best = i;
	}
	vec_clear(ret);
	for (;;) {
		uint32_t child = hottest[here];
		vec_push(ret, here);
		if (child == 0 || changes.delta[child] == 0 ||
		    fabs(changes.delta[child]) < fabs(changes.delta[here]) / 2)
			return;
		here = child;
	}
}
