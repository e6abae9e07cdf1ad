/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "report/tree/preorder.h"
#include "report/tree/view.h"
#include "tests/test.h"

/* A tree built by hand: scope i + 2 is the function `name` below `parent`, with `self` of its own; or of
 * another kind. */
struct plan {
	uint32_t parent, name;
	uint64_t self;
	uint8_t kind;
};

struct world {
	struct scope_tree tree;
	struct costs costs;
	struct view view;
};

static void world_init(struct world *w, const struct plan *plan, size_t n)
{
	*w = (struct world){ .tree.n_metrics = 1 };
	CLEANUP(scope_maker_done) struct scope_maker maker;
	scope_maker_init(&maker, &w->tree);
	scope_maker_add(&maker, &(struct scope){ .kind = SCOPE_ROOT, .image = IMAGE_NONE });
	scope_maker_add(&maker, &(struct scope){ .kind = SCOPE_INCOMPLETE, .image = IMAGE_NONE });
	for (size_t i = 0; i < n; i++) {
		scope_maker_add(&maker, &(struct scope){ .parent = plan[i].parent,
							 .kind = plan[i].kind ? plan[i].kind : SCOPE_FUNCTION,
							 .name = plan[i].name,
							 .vaddr = plan[i].name * 16,
							 .image = plan[i].name % 2 });
		vec_push(&w->tree.values,
			 ((struct scope_value){ (uint32_t)i + 2, (uint32_t)i % 2, 0, plan[i].self }));
	}
	costs_init(&w->costs, &w->tree, NULL);
}

static void world_done(struct world *w)
{
	view_done(&w->view);
	costs_done(&w->costs);
	scope_tree_done(&w->tree);
}
#define WORLD CLEANUP(world_done) struct world

/* "<name self/inclusive <name ...>>", nested like the rows. */
static void print_row(const struct world *w, uint32_t row, struct text *ret)
{
	text_printf(ret, "<%u %u/%u", scope_frame(&w->tree, w->view.rows.at[row].scope)->name,
		    (unsigned)view_self(&w->view, row, 0), (unsigned)view_inclusive(&w->view, row, 0));
	for (uint32_t child = row + 1; child < w->view.rows.n; child++)
		if (w->view.rows.at[child].parent == row)
			print_row(w, child, ret);
	text_printf(ret, ">");
}

static void check_view(struct world *w, const struct view_cut *cut, const char *want)
{
	CLEANUP(text_done) struct text text = { 0 };

	view_arrange(&w->view, cut);
	for (uint32_t row = 0; row < w->view.rows.n; row++)
		if (w->view.rows.at[row].parent == VIEW_NONE)
			print_row(w, row, &text);
	CHECK_STR(text.at ? text.at : "", want);
}

enum { MAIN = 10, F, G, H };

/* main -> f -> g -> f, and main -> h. */
static const struct plan recursive[] = {
	{ 0, MAIN, 1, 0 }, { 2, F, 10, 0 }, { 3, G, 20, 0 }, { 4, F, 30, 0 }, { 2, H, 39, 0 },
};
#define N_RECURSIVE (sizeof(recursive) / sizeof(recursive[0]))

TEST(tree_view_orders_children_by_cost)
{
	WORLD w;

	world_init(&w, recursive, N_RECURSIVE);
	view_tree(&w.tree, &w.costs, &w.view);
	check_view(&w, &(struct view_cut){ 0 },
		   "<0 0/100<10 1/100<11 10/60<12 20/50<11 30/30>>><13 39/39>>>");
}

TEST(tree_view_sorted_by_self_still_keeps_whole_paths)
{
	WORLD w;

	world_init(&w, recursive, N_RECURSIVE);
	view_tree(&w.tree, &w.costs, &w.view);
	check_view(&w, &(struct view_cut){ .sort = VIEW_BY_SELF, .min = 35 },
		   "<0 0/100<10 1/100<13 39/39><11 10/60<12 20/50>>>>");
}

TEST(a_limit_keeps_the_most_costly_rows_and_they_are_a_tree)
{
	WORLD w;

	world_init(&w, recursive, N_RECURSIVE);
	view_tree(&w.tree, &w.costs, &w.view);
	check_view(&w, &(struct view_cut){ .limit = 4 }, "<0 0/100<10 1/100<11 10/60<12 20/50>>>>");
}

TEST(flat_view_counts_recursion_once)
{
	WORLD w;

	world_init(&w, recursive, N_RECURSIVE);
	view_flat(&w.tree, &w.costs, GROUP_FUNCTION, &w.view);
	check_view(&w, &(struct view_cut){ .sort = VIEW_BY_SELF, .prune = VIEW_BY_SELF },
		   "<11 40/60><13 39/39><12 20/50><10 1/100>");
}

TEST(flat_view_by_module_takes_functions_together)
{
	WORLD w;

	world_init(&w, recursive, N_RECURSIVE);
	view_flat(&w.tree, &w.costs, GROUP_MODULE, &w.view);
	/* Names stand for modules: main and g are in 0, f and h in 1. */
	check_view(&w, &(struct view_cut){ 0 }, "<10 21/100><11 79/99>");
}

TEST(flat_view_by_loop_counts_inlined_code_as_the_loops_own)
{
	/* main, a loop in it, a call inlined into the loop, a loop and a call of that; a call that is not
	 * inlined. */
	static const struct plan nest[] = { { 0, MAIN, 1, 0 },          { 2, 20, 5, SCOPE_LOOP },
					    { 3, F, 50, SCOPE_INLINE }, { 4, 21, 30, SCOPE_LOOP },
					    { 5, G, 4, SCOPE_INLINE },  { 3, H, 10, 0 } };
	WORLD w;

	world_init(&w, nest, ARRAY_LEN(nest));
	view_flat(&w.tree, &w.costs, GROUP_LOOP, &w.view);
	check_view(&w, &(struct view_cut){ 0 }, "<20 55/99><21 34/34>");
}

TEST(flat_view_by_line_counts_the_functions_that_share_it)
{
	static const struct plan plan[] = { { 0, 1, 0, 0 },
					    { 2, 1, 0, SCOPE_LINE },
					    { 0, 2, 0, 0 },
					    { 4, 2, 5, SCOPE_LINE },
					    { 0, 3, 0, 0 },
					    { 6, 3, 2, SCOPE_LINE },
					    { 6, 2, 0, SCOPE_INLINE },
					    { 8, 2, 1, SCOPE_LINE } };
	struct view_cut cut = { .sort = VIEW_BY_SELF, .prune = VIEW_BY_SELF, .min = 1 };

	for (size_t n = 4; n <= ARRAY_LEN(plan); n += 2) {
		WORLD w;
		world_init(&w, plan, n);
		view_flat(&w.tree, &w.costs, GROUP_LINE, &w.view);
		view_arrange(&w.view, &cut);
		CHECK_EQ(w.view.rows.n, 1);
		CHECK_EQ(w.view.rows.at[0].n_functions, n == 4 ? 1 : 2);
		CHECK_EQ(scope_frame(&w.tree, w.view.rows.at[0].scope)->name, 2); /* the first with cost */
	}
}

TEST(callers_view_splits_a_function_by_who_called_it)
{
	WORLD w;
	struct view_cut cut = { .sort = VIEW_BY_SELF, .prune = VIEW_BY_SELF };

	world_init(&w, recursive, N_RECURSIVE);
	view_callers(&w.tree, &w.costs, &cut, 64, &w.view);
	check_view(&w, &cut,
		   "<11 40/60<12 30/30<11 30/30<10 30/30>>><10 10/60>>"
		   "<13 39/39<10 39/39>>"
		   "<12 20/50<11 20/50<10 20/50>>>"
		   "<10 1/100>");
}

TEST(callers_view_is_limited_in_depth)
{
	WORLD w;
	struct view_cut cut = { .sort = VIEW_BY_SELF, .prune = VIEW_BY_SELF, .min = 35 };

	world_init(&w, recursive, N_RECURSIVE);
	view_callers(&w.tree, &w.costs, &cut, 1, &w.view);
	check_view(&w, &cut, "<11 40/60><13 39/39<10 39/39>>");
}

TEST(loops_around_loops_are_one_row)
{
	static const struct plan plan[] = {
		{ 0, MAIN, 0, 0 }, { 2, 21, 1, 0 },  { 3, 22, 1, 0 },
		{ 4, 23, 48, 0 },  { 5, F, 50, 0 },  /* 21 contains 22, which contains 23 */
		{ 5, 24, 60, 0 },  { 5, 25, 40, 0 }, /* two loops in 23 remain separate */
	};
	WORLD w;

	world_init(&w, plan, 7);
	for (uint32_t i = 0; i < w.tree.frames.n; i++)
		if (w.tree.frames.at[i].name > 20)
			w.tree.frames.at[i].kind = SCOPE_LOOP;
	view_tree(&w.tree, &w.costs, &w.view);
	view_arrange(&w.view, &(struct view_cut){ 0 });
	view_fold_loops(&w.view, &w.tree, 0);
	check_view(&w, &(struct view_cut){ 0 },
		   "<0 0/200<10 0/200<23 50/200<24 60/60><11 50/50><25 40/40>>>>");
}

TEST(levels_of_recursion_are_one_row)
{
	/* f six times, then g and h in turn five times, and a last g, which calls two functions */
	static const struct plan plan[] = {
		{ 0, MAIN, 0, 0 }, { 2, F, 1, 0 },  { 3, F, 2, 0 },  { 4, F, 3, 0 },  { 5, F, 4, 0 },
		{ 6, F, 5, 0 },    { 7, F, 6, 0 },  { 8, G, 1, 0 },  { 9, H, 2, 0 },  { 10, G, 1, 0 },
		{ 11, H, 2, 0 },   { 12, G, 1, 0 }, { 13, H, 2, 0 }, { 14, G, 1, 0 }, { 15, H, 2, 0 },
		{ 16, G, 1, 0 },   { 17, H, 2, 0 }, { 18, G, 0, 0 }, { 19, F, 9, 0 }, { 19, H, 30, 0 },
	};
	WORLD w;

	world_init(&w, plan, ARRAY_LEN(plan));
	view_tree(&w.tree, &w.costs, &w.view);
	view_arrange(&w.view, &(struct view_cut){ 0 });
	view_fold_recursion(&w.view, &w.tree);
	CHECK_EQ(w.view.rows.at[2].n_levels, 6);
	CHECK_EQ(w.view.rows.at[2].level_rows, 1);
	CHECK_EQ(w.view.rows.at[3].n_levels, 5);
	CHECK_EQ(w.view.rows.at[3].level_rows, 2);
	check_view(&w, &(struct view_cut){ 0 },
		   "<0 0/75<10 0/75<11 21/75<12 5/54<13 10/53<12 0/39<13 30/30><11 9/9>>>>>>>");
}

TEST(short_or_branching_recursion_is_shown_as_it_is)
{
	static const struct plan plan[] = {
		{ 0, MAIN, 0, 0 }, { 2, F, 1, 0 }, { 3, F, 2, 0 }, { 4, G, 1, 0 },
		{ 4, F, 3, 0 },    { 6, F, 4, 0 }, { 7, H, 2, 0 },
	};
	WORLD w;

	world_init(&w, plan, ARRAY_LEN(plan));
	view_tree(&w.tree, &w.costs, &w.view);
	view_arrange(&w.view, &(struct view_cut){ 0 });
	view_fold_recursion(&w.view, &w.tree);
	for (uint32_t row = 0; row < w.view.rows.n; row++)
		CHECK_EQ(w.view.rows.at[row].n_levels, 0);
	check_view(&w, &(struct view_cut){ 0 },
		   "<0 0/13<10 0/13<11 1/13<11 2/12<11 3/9<11 4/6<13 2/2>>><12 1/1>>>>>");
}

TEST(hot_path_continues_while_one_child_has_half)
{
	WORLD w;
	view_path path = { 0 };

	world_init(&w, recursive, N_RECURSIVE);
	view_hot_path(&w.tree, &w.costs, 0, &path);
	CHECK_EQ(path.n, 5);
	CHECK_EQ(path.at[4], 5); /* 30 of g's 50 are in the inner f */
	vec_done(&path);
}

TEST(hot_path_stops_where_it_splits)
{
	static const struct plan plan[] = {
		{ 0, MAIN, 0, 0 }, { 2, F, 40, 0 }, { 2, G, 35, 0 }, { 2, H, 25, 0 }
	};
	WORLD w;
	view_path path = { 0 };

	world_init(&w, plan, 4);
	view_hot_path(&w.tree, &w.costs, 0, &path);
	CHECK_EQ(path.n, 2);
	CHECK_EQ(path.at[1], 2);
	vec_done(&path);
}

TEST(costs_of_some_threads_add_up_to_those_of_all)
{
	WORLD w;
	struct costs even, odd;

	world_init(&w, recursive, N_RECURSIVE);
	costs_init(&even, &w.tree, (bool[]){ true, false });
	costs_init(&odd, &w.tree, (bool[]){ false, true });
	for (uint32_t i = 0; i < w.tree.scopes.n; i++) {
		CHECK_EQ(costs_self(&even, i, 0) + costs_self(&odd, i, 0), costs_self(&w.costs, i, 0));
		CHECK_EQ(costs_inclusive(&even, i, 0) + costs_inclusive(&odd, i, 0),
			 costs_inclusive(&w.costs, i, 0));
	}
	CHECK_EQ(costs_inclusive(&even, 0, 0), 60);
	costs_done(&even);
	costs_done(&odd);
}

TEST(loops_and_inlined_copies_belong_to_their_function)
{
	struct scope_tree tree = { .n_metrics = 1 };
	CLEANUP(groups_done) struct groups groups;
	CLEANUP(scope_maker_done) struct scope_maker maker;

	scope_maker_init(&maker, &tree);
	scope_maker_add(&maker, &(struct scope){ .kind = SCOPE_ROOT });
	scope_maker_add(&maker, &(struct scope){ .kind = SCOPE_INCOMPLETE });
	scope_maker_add(
		&maker,
		&(struct scope){ .kind = SCOPE_FUNCTION, .name = 5, .file = 7, .line = 3, .vaddr = 64 });
	scope_maker_add(&maker, &(struct scope){ .parent = 2, .kind = SCOPE_LOOP, .name = 5, .line = 4 });
	scope_maker_add(&maker, &(struct scope){
					.parent = 3, .kind = SCOPE_INLINE, .name = 6, .file = 7, .line = 9 });
	scope_maker_add(&maker,
			&(struct scope){ .parent = 4, .kind = SCOPE_LINE, .name = 6, .file = 7, .line = 10 });
	scope_maker_add(
		&maker,
		&(struct scope){ .kind = SCOPE_FUNCTION, .name = 6, .file = 7, .line = 9, .vaddr = 128 });
	scope_maker_add(
		&maker,
		&(struct scope){ .kind = SCOPE_FUNCTION, .name = 6, .file = 8, .line = 9, .vaddr = 256 });
	groups_init(&groups, &tree, GROUP_FUNCTION);
	CHECK_EQ(groups.of[3], groups.of[2]);
	CHECK_EQ(groups.of[5], groups.of[4]);
	CHECK_EQ(groups.of[6], groups.of[4]); /* the same declaration */
	CHECK(groups.of[7] != groups.of[4]);  /* the same name, another declaration */
	scope_tree_done(&tree);
}

/* ---- against a naive reference ------------------------------------------------------------------ */

#define N_RANDOM 60
#define N_NAMES 5

static void random_plan(struct plan *plan, unsigned seed)
{
	srandom(seed);
	for (uint32_t i = 0; i < N_RANDOM; i++)
		plan[i] = (struct plan){ .parent = random() % 2 ? i + 1 : (uint32_t)random() % (i + 2),
					 .name = 10 + (uint32_t)random() % N_NAMES,
					 .self = (uint64_t)random() % 10 };
}

/* Names on the stack of a scope, innermost first, root left out; 1 for the incomplete root. */
static size_t stack_of(const struct world *w, uint32_t scope, uint32_t *ret)
{
	size_t n = 0;

	for (; scope > 0; scope = w->tree.scopes.at[scope].parent)
		ret[n++] = scope == 1 ? 1 : scope_frame(&w->tree, scope)->name;
	return n;
}

/* The path of callers of a row: f first. */
static size_t path_of(const struct world *w, uint32_t row, uint32_t *ret)
{
	uint32_t reverse[N_RANDOM + 2];
	size_t n = 0;

	for (; row != VIEW_NONE; row = w->view.rows.at[row].parent) {
		uint32_t scope = w->view.rows.at[row].scope;
		reverse[n++] = scope == 1 ? 1 : scope_frame(&w->tree, scope)->name;
	}
	for (size_t i = 0; i < n; i++)
		ret[i] = reverse[n - 1 - i];
	return n;
}

static bool starts_with(const uint32_t *stack, size_t n_stack, const uint32_t *path, size_t n_path)
{
	return n_stack >= n_path && memcmp(stack, path, n_path * sizeof(*path)) == 0;
}

/* A sample is inclusive in a row if the row's path starts anywhere on its stack, self if at its top. */
static void check_row(const struct world *w, uint32_t row)
{
	uint32_t path[N_RANDOM + 2], stack[N_RANDOM + 2];
	size_t n_path = path_of(w, row, path);
	uint64_t self = 0, inclusive = 0;

	for (uint32_t scope = 0; scope < w->tree.scopes.n; scope++) {
		uint64_t cost = costs_self(&w->costs, scope, 0);
		size_t n = stack_of(w, scope, stack);
		bool is_in = false;
		for (size_t at = 0; at < n; at++)
			is_in |= starts_with(stack + at, n - at, path, n_path);
		self += starts_with(stack, n, path, n_path) ? cost : 0;
		inclusive += is_in ? cost : 0;
	}
	CHECK_EQ(view_self(&w->view, row, 0), self);
	CHECK_EQ(view_inclusive(&w->view, row, 0), inclusive);
}

TEST(callers_and_flat_views_of_random_trees_agree_with_a_naive_computation)
{
	struct plan plan[N_RANDOM];
	struct view_cut everything = { .prune = VIEW_BY_INCLUSIVE, .min = 0 };

	for (unsigned seed = 1; seed <= 25; seed++) {
		WORLD w;
		random_plan(plan, seed);
		world_init(&w, plan, N_RANDOM);
		view_callers(&w.tree, &w.costs, &everything, N_RANDOM, &w.view);
		uint64_t total = 0;
		for (uint32_t row = 0; row < w.view.rows.n; row++) {
			if (w.view.rows.at[row].scope == 0)
				continue;
			check_row(&w, row);
			if (w.view.rows.at[row].parent == VIEW_NONE)
				total += view_self(&w.view, row, 0);
		}
		CHECK_EQ(total, costs_inclusive(&w.costs, 0, 0));
		view_done(&w.view);

		view_flat(&w.tree, &w.costs, GROUP_FUNCTION, &w.view);
		for (uint32_t row = 0; row < w.view.rows.n; row++)
			if (w.view.rows.at[row].scope != 0)
				check_row(&w, row);
	}
}

TEST(preorder_makes_subtrees_ranges)
{
	struct plan plan[N_RANDOM];
	WORLD w;
	CLEANUP(preorder_done) struct preorder preorder;

	random_plan(plan, 99);
	world_init(&w, plan, N_RANDOM);
	preorder_init(&preorder, &w.tree, w.tree.scopes.n);
	for (uint32_t i = 0; i < w.tree.scopes.n; i++) {
		CHECK_EQ(preorder.scope[preorder.number[i]], i);
		for (uint32_t j = 0; j < w.tree.scopes.n; j++) {
			bool is_below = false;
			for (uint32_t up = j;; up = w.tree.scopes.at[up].parent) {
				is_below |= up == i;
				if (up == 0)
					break;
			}
			CHECK_EQ(is_below, preorder.number[j] >= preorder.number[i] &&
						   preorder.number[j] < preorder.end[i]);
		}
	}
}
