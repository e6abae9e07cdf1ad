/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view: the three views of a tree, each a forest of rows with costs.
 *
 * Recursion is counted once: the inclusive cost of a row is that of the samples in which its
 * function is on the stack at all, never more than the whole.
 */
#pragma once

#include "report/tree/costs.h"
#include "report/tree/group.h"

#define VIEW_NONE UINT32_MAX

struct view_row {
	uint32_t parent;   /* VIEW_NONE at the top */
	uint32_t scope;    /* stands for the row: its name, kind and place */
	uint32_t n_loops;  /* of a loop: how many were folded into it, */
	bool has_schedule; /* and one more that hands out its iterations */
};

struct view {
	VEC(struct view_row) rows; /* parent before child */
	size_t n_metrics;
	VEC(uint64_t) self, inclusive; /* [row * n_metrics + metric] */
};

/* Which rows are too small, and in which order the others come. */
enum view_key { VIEW_BY_INCLUSIVE, VIEW_BY_SELF };
struct view_cut {
	uint32_t metric;
	enum view_key sort;  /* rows with the same parent: the largest first */
	enum view_key prune; /* what min and limit go by; must be inclusive for view_tree, where a child's own
				cost may be more than its parent's */
	uint64_t min; /* rows below it, and those that cost nothing, are left out with all below them */
	size_t limit; /* at most that many rows, the most costly ones; 0 = no limit */
};

/* Top-down: the calling contexts. The root is the only row at the top. */
void view_tree(const struct scope_tree *tree, const struct costs *costs, struct view *ret);
/* Flat: a row for every group. */
void view_flat(const struct scope_tree *tree, const struct costs *costs, enum group_by by, struct view *ret);
/* Flat by loop, but loops of one function below each other as they nest. */
void view_loops(const struct scope_tree *tree, const struct costs *costs, struct view *ret);
/* The same for groups that were found in another way. */
void view_groups(const struct scope_tree *tree, const struct costs *costs, const struct groups *groups,
		 struct view *ret);
/*
 * Bottom-up: a row for every function, below it its callers, below them theirs. Only rows that cut keeps
 * for their size are followed further, max_depth callers up.
 */
void view_callers(const struct scope_tree *tree, const struct costs *costs, const struct view_cut *cut,
		  size_t max_depth, struct view *ret);
void view_done(struct view *view);

/* Leaves out rows more than so many levels below the top. */
void view_flatten(struct view *view, size_t max_depth);
/* Leaves out what is too small and puts the rest into print order: preorder, the most costly child first. */
void view_arrange(struct view *view, const struct view_cut *cut);

/*
 * Loops that hold nothing but one more loop become one row, the innermost: an interpreter's dispatch is
 * dozens of them. For an arranged view.
 */
void view_fold_loops(struct view *view, const struct scope_tree *tree, uint32_t metric);

/* The scopes from the root down, each the most costly child and at least half of the one before. */
typedef VEC(uint32_t) view_path;
void view_hot_path(const struct scope_tree *tree, const struct costs *costs, uint32_t metric, view_path *ret);

/* Appends a row with no costs yet. */
uint32_t view_add_row(struct view *view, uint32_t parent, uint32_t scope);
static inline uint64_t view_self(const struct view *view, uint32_t row, uint32_t metric)
{
	return view->self.at[row * view->n_metrics + metric];
}
static inline uint64_t view_inclusive(const struct view *view, uint32_t row, uint32_t metric)
{
	return view->inclusive.at[row * view->n_metrics + metric];
}
uint64_t view_cost(const struct view *view, uint32_t row, enum view_key key, uint32_t metric);
