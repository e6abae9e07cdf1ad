/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bottom-up view. A row represents "f, called by g, called by h": all instances of f with these callers.
 * For each instance it stores how far its callers have been followed; expanding a row means to follow each
 * instance one caller further and to group them by that caller.
 */
#include <string.h>

#include "base/cleanup.h"
#include "report/tree/preorder.h"
#include "report/tree/view.h"

struct instance {
	uint32_t frame; /* the scope of f */
	uint32_t at;    /* the scope of its outermost caller so far */
};

struct callers {
	const struct scope_tree *tree;
	const struct costs *costs;
	struct groups groups;
	struct preorder preorder;
	uint32_t *frame_of;   /* by scope: the function or inlined call it is part of */
	uint64_t *frame_self; /* [frame * n_metrics + metric]: its self cost, including loops and lines */
	uint32_t *row_of;     /* by group, while one row is expanded */
	struct view *view;
};

/* Instances of one row, in preorder, and the number of callers between it and f. */
struct row_set {
	uint32_t row, depth;
	VEC(struct instance) instances;
};

static void find_frames(struct callers *c)
{
	size_t n_scopes = c->tree->scopes.n, n = c->costs->n_metrics;

	c->frame_of = alloc_zero(n_scopes, sizeof(*c->frame_of));
	c->frame_self = alloc_zero(n_scopes * n + 1, sizeof(*c->frame_self));
	for (size_t i = 0; i < n_scopes; i++) {
		unsigned kind = scope_kind(c->tree, i);
		bool is_part = kind == SCOPE_LOOP || kind == SCOPE_LINE;
		c->frame_of[i] = is_part ? c->frame_of[c->tree->scopes.at[i].parent] : (uint32_t)i;
		for (size_t metric = 0; metric < n; metric++)
			c->frame_self[c->frame_of[i] * n + metric] += c->costs->self[i * n + metric];
	}
}

/* Adds up a row's instances. Those below another one of the same row are included in its inclusive cost. */
static void sum_row(const struct callers *c, const struct row_set *set)
{
	size_t n = c->costs->n_metrics;
	uint32_t covered = 0;

	for (size_t i = 0; i < set->instances.n; i++) {
		uint32_t frame = set->instances.at[i].frame;
		bool is_outermost = c->preorder.number[frame] >= covered;
		for (size_t metric = 0; metric < n; metric++) {
			c->view->self.at[set->row * n + metric] += c->frame_self[frame * n + metric];
			if (is_outermost)
				c->view->inclusive.at[set->row * n + metric] +=
					costs_inclusive(c->costs, frame, (uint32_t)metric);
		}
		if (is_outermost)
			covered = c->preorder.end[frame];
	}
}

typedef VEC(struct row_set) row_sets;

/* The set of the row for a group below `parent`; created if necessary. */
static struct row_set *set_for(struct callers *c, row_sets *sets, uint32_t group, uint32_t parent,
			       uint32_t depth)
{
	if (c->row_of[group] == VIEW_NONE) {
		c->row_of[group] = (uint32_t)sets->n;
		vec_push(sets,
			 ((struct row_set){ .row = view_add_row(c->view, parent, c->groups.scopes.at[group]),
					    .depth = depth }));
	}
	return &sets->at[c->row_of[group]];
}

/* The rows of one round are complete: adds them up and clears the map. */
static void close_round(struct callers *c, row_sets *sets, size_t from)
{
	for (size_t i = from; i < sets->n; i++) {
		uint32_t scope = c->view->rows.at[sets->at[i].row].scope;
		sum_row(c, &sets->at[i]);
		c->row_of[c->groups.of[scope]] = VIEW_NONE;
	}
}

static void view_callers_start(struct callers *c, row_sets *sets)
{
	for (uint32_t number = 0; number < c->tree->scopes.n; number++) {
		uint32_t scope = c->preorder.scope[number];
		if (c->frame_of[scope] != scope)
			continue;
		struct row_set *set = set_for(c, sets, c->groups.of[scope], VIEW_NONE, 0);
		vec_push(&set->instances, (struct instance){ scope, scope });
	}
	close_round(c, sets, 0);
}

static void expand(struct callers *c, row_sets *sets, size_t index)
{
	struct row_set set = sets->at[index];
	size_t from = sets->n;

	for (size_t i = 0; i < set.instances.n; i++) {
		struct instance instance = set.instances.at[i];
		uint32_t caller = c->frame_of[c->tree->scopes.at[instance.at].parent];
		if (caller == 0)
			continue;
		struct row_set *next = set_for(c, sets, c->groups.of[caller], set.row, set.depth + 1);
		vec_push(&next->instances, (struct instance){ instance.frame, caller });
	}
	close_round(c, sets, from);
}

void view_callers(const struct scope_tree *tree, const struct costs *costs, const struct view_cut *cut,
		  size_t max_depth, struct view *ret)
{
	struct callers c = { .tree = tree, .costs = costs, .view = ret };
	row_sets sets = { 0 };

	*ret = (struct view){ .n_metrics = costs->n_metrics };
	groups_init(&c.groups, tree, GROUP_FUNCTION);
	preorder_init(&c.preorder, tree, tree->scopes.n);
	find_frames(&c);
	c.row_of = alloc_resize(NULL, c.groups.scopes.n + 1, sizeof(*c.row_of));
	memset(c.row_of, 0xff, (c.groups.scopes.n + 1) * sizeof(*c.row_of));

	view_callers_start(&c, &sets);
	for (size_t i = 0; i < sets.n; i++) {
		uint64_t cost = view_cost(ret, sets.at[i].row, cut->prune, cut->metric);
		if (cost > 0 && cost >= cut->min && sets.at[i].depth < max_depth)
			expand(&c, &sets, i);
		vec_done(&sets.at[i].instances);
	}
	vec_done(&sets);
	free(c.row_of);
	free(c.frame_self);
	free(c.frame_of);
	preorder_done(&c.preorder);
	groups_done(&c.groups);
}
