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
	uint32_t parent;      /* VIEW_NONE at the top */
	uint32_t scope;       /* represents the row: its name, kind and position */
	uint32_t n_loops;     /* for a loop: how many were folded into it, */
	bool has_schedule;    /* and another one that distributes its iterations */
	uint32_t n_functions; /* for a row of lines: how many functions have cost there */
	uint32_t n_levels;    /* of a recursion that was folded, of which this is the first row; 0 = none */
	uint32_t level_rows;  /* how many rows each of these levels has */
};

struct view {
	VEC(struct view_row) rows; /* parent before child */
	size_t n_metrics;
	VEC(uint64_t) self, inclusive; /* [row * n_metrics + metric] */
};

/* Which rows are left out, and the order of the others. */
enum view_key { VIEW_BY_INCLUSIVE, VIEW_BY_SELF };
struct view_cut {
	uint32_t metric;
	enum view_key sort;  /* rows with the same parent: the largest first */
	enum view_key prune; /* what min and limit apply to; must be inclusive for view_tree, where a child's
				self cost may exceed its parent's */
	uint64_t min; /* rows below it, and those without cost, are left out with all their descendants */
	size_t limit; /* maximum number of rows, the most expensive ones; 0 = no limit */
};

/* Top-down: the calling contexts. The root is the only row at the top. */
void view_tree(const struct scope_tree *tree, const struct costs *costs, struct view *ret);
/* Flat: a row for every group. */
void view_flat(const struct scope_tree *tree, const struct costs *costs, enum group_by by, struct view *ret);
/* Flat by loop, but with the loops of one function nested. */
void view_loops(const struct scope_tree *tree, const struct costs *costs, struct view *ret);
/* The same for given groups. */
void view_groups(const struct scope_tree *tree, const struct costs *costs, const struct groups *groups,
		 struct view *ret);
/*
 * Bottom-up: a row for every function, below it its callers, below them theirs. Only rows that are large
 * enough for cut are followed further, up to max_depth callers.
 */
void view_callers(const struct scope_tree *tree, const struct costs *costs, const struct view_cut *cut,
		  size_t max_depth, struct view *ret);
void view_done(struct view *view);

/* Removes rows more than max_depth levels below the top. */
void view_flatten(struct view *view, size_t max_depth);
/* Removes rows that are too small and puts the rest into print order: preorder, the most expensive child
 * first. */
void view_arrange(struct view *view, const struct view_cut *cut);

/*
 * Combines loops that only contain another loop into one row, the innermost: an interpreter's dispatch
 * consists of dozens of them. For an arranged view.
 */
void view_fold_loops(struct view *view, const struct scope_tree *tree, uint32_t metric);
/* Combines the levels of a recursion into the outermost one, where it does not branch. For an arranged view.
 */
void view_fold_recursion(struct view *view, const struct scope_tree *tree);

/* The scopes from the root down, each the most expensive child and at least half of the previous one. */
typedef VEC(uint32_t) view_path;
void view_hot_path(const struct scope_tree *tree, const struct costs *costs, uint32_t metric, view_path *ret);

/* Appends a row without costs; or a copy of a row of another view, below `parent`. */
uint32_t view_add_row(struct view *view, uint32_t parent, uint32_t scope);
void view_copy_row(const struct view *from, uint32_t row, uint32_t parent, struct view *to);
static inline uint64_t view_self(const struct view *view, uint32_t row, uint32_t metric)
{
	return view->self.at[row * view->n_metrics + metric];
}
static inline uint64_t view_inclusive(const struct view *view, uint32_t row, uint32_t metric)
{
	return view->inclusive.at[row * view->n_metrics + metric];
}
uint64_t view_cost(const struct view *view, uint32_t row, enum view_key key, uint32_t metric);
