/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>

#include "report/tree/costs.h"
#include "report/tree/filter.h"
#include "structure/fuse.h"
#include "tests/support/profiles.h"
#include "tests/test.h"

/* The sample profile, fused and filtered by names. */
struct world {
	struct profile *profile;
	struct scope_tree tree, filtered;
	struct costs costs;
};

static void world_init(struct world *w, const char *focus, const char *hide)
{
	struct diag diag = { 0 };
	CLEANUP(freep) bool *is_focus = NULL;
	CLEANUP(freep) bool *is_hidden = NULL;

	*w = (struct world){ .profile = sample_profile() };
	struct fuse_input input = profile_fuse_input(w->profile);
	fuse(&input, &(struct fuse_options){ 0 }, &w->tree);
	if (focus)
		CHECK_EQ(scope_tree_match(&w->tree, w->profile, focus, &is_focus, &diag), 0);
	if (hide)
		CHECK_EQ(scope_tree_match(&w->tree, w->profile, hide, &is_hidden, &diag), 0);
	scope_tree_filter(&w->tree, &(struct filter){ is_focus, is_hidden, NULL }, &w->filtered);
	costs_init(&w->costs, &w->filtered, NULL);
}

static void world_done(struct world *w)
{
	costs_done(&w->costs);
	scope_tree_done(&w->tree);
	scope_tree_done(&w->filtered);
	profile_free(w->profile);
}
#define WORLD CLEANUP(world_done) struct world

/* The scope reached from the root by these names; 0 if there is none. */
static uint32_t find(const struct world *w, const char *const *names)
{
	uint32_t here = 0;

	for (; *names; names++) {
		uint32_t next = 0;
		for (uint32_t i = 1; i < w->filtered.scopes.n; i++)
			if (w->filtered.scopes.at[i].parent == here &&
			    strcmp(intern_text(&w->profile->strings, scope_frame(&w->filtered, i)->name),
				   *names) == 0)
				next = i;
		if (!next)
			return 0;
		here = next;
	}
	return here;
}
#define PATH(...) ((const char *const[]){ __VA_ARGS__, NULL })

TEST(no_filter_changes_nothing)
{
	WORLD w;

	world_init(&w, NULL, NULL);
	CHECK_EQ(w.filtered.scopes.n, w.tree.scopes.n);
	CHECK_EQ(w.filtered.values.n, w.tree.values.n);
	CHECK_EQ(costs_inclusive(&w.costs, 0, 0), 100);
}

TEST(what_metrics_mean_is_kept)
{
	WORLD w;
	struct scope_tree again;

	world_init(&w, NULL, NULL);
	w.tree.activations = 1;
	w.tree.n_rounds = 2;
	w.tree.has_addresses = true;
	scope_tree_filter(&w.tree, &(struct filter){ 0 }, &again);
	CHECK_EQ(again.n_metrics, w.tree.n_metrics);
	CHECK_EQ(again.activations, 1);
	CHECK_EQ(again.n_rounds, 2);
	CHECK(again.has_addresses);
	scope_tree_done(&again);
}

TEST(focus_keeps_stacks_that_pass_through)
{
	WORLD w;

	world_init(&w, "^sin$", NULL);
	CHECK_EQ(costs_inclusive(&w.costs, 0, 0), 25);
	CHECK_EQ(costs_inclusive(&w.costs, find(&w, PATH("main", "solve", "solve")), 0), 20);
	CHECK_EQ(w.filtered.values.n, 4); /* two scopes, two metrics */
}

TEST(hidden_functions_leave_their_costs_to_their_callers)
{
	WORLD w;

	world_init(&w, NULL, "^solve$");
	CHECK_EQ(costs_inclusive(&w.costs, 0, 0), 100);
	uint32_t main = find(&w, PATH("main"));
	CHECK_EQ(costs_self(&w.costs, main, 0), 10); /* its own 5 and solve's 5 */
	CHECK_EQ(find(&w, PATH("main", "solve")), 0);
	/* The calls of dot at both levels of the recursion are merged. */
	CHECK_EQ(costs_inclusive(&w.costs, find(&w, PATH("main", "dot")), 0), 50);
	CHECK_EQ(costs_inclusive(&w.costs, find(&w, PATH("main", "dot", "mul")), 0), 30);
}

TEST(filters_combine)
{
	WORLD w;

	world_init(&w, "mul|sin", "solve|dot");
	CHECK_EQ(costs_inclusive(&w.costs, 0, 0), 55);
	CHECK_EQ(costs_inclusive(&w.costs, find(&w, PATH("main", "mul")), 0), 30);
}

TEST(an_invalid_expression_is_refused_with_the_reason)
{
	WORLD w;
	struct diag diag = { 0 };
	bool *matches = NULL;

	world_init(&w, NULL, NULL);
	CHECK_EQ(scope_tree_match(&w.tree, w.profile, "a(", &matches, &diag), -EINVAL);
	CHECK_STR(diag.what, "cannot search for 'a('");
	CHECK(diag.why[0]);
	CHECK(matches == NULL);
}
