/* SPDX-License-Identifier: Apache-2.0 */
#include "report/tree/ranks.h"

#include <string.h>

#include "profile/merge.h"
#include "report/tree/view.h"
#include "tests/support/profiles.h"
#include "tests/test.h"

#define N 3

/* Three equal ranks, except for what `change` does to one of them. */
static struct profile *ranks_job(void (*change)(struct profile *profile), uint32_t changed)
{
	struct merger *merger = merger_new(&(struct merge_options){ .reduces = true });
	struct diag diag = { 0 };

	for (uint32_t i = 0; i < N; i++) {
		OWNED struct profile *p = sample_profile();
		for (size_t j = 0; j < p->processes.n; j++)
			p->processes.at[j].rank = 1 + i;
		if (i == changed)
			change(p);
		CHECK_EQ(merger_add(merger, p, "rank", &diag), 0);
	}
	struct profile *all = merger_finish(merger);
	profile_unpack(all);
	return all;
}

static void triple(struct profile *profile)
{
	for (size_t i = 0; i < profile->cct.values.n; i++)
		profile->cct.values.at[i].value *= 3;
}

/* Ten times as long in sin, which solve calls: 20 of 100 samples. */
static void slow_in_sin(struct profile *profile)
{
	for (size_t i = 0; i < profile->cct.values.n; i++) {
		const struct cct_node *node = &profile->cct.nodes.at[profile->cct.values.at[i].node];
		if (node->image == 1 && node->vaddr == 0x510 && node->parent != CCT_INCOMPLETE &&
		    profile->cct.nodes.at[node->parent].vaddr == 0x2090)
			profile->cct.values.at[i].value *= 10;
	}
}

struct ranks_seen {
	struct scope_tree tree;
	struct costs costs;
	struct view view;
	struct ranks ranks;
};

static void ranks_see(struct profile *profile, bool is_flat, struct ranks_seen *ret)
{
	struct fuse_options options = { .calls = FUSE_CALLS_BY_LINE };

	*ret = (struct ranks_seen){ 0 };
	ranks_extend(profile, &ret->ranks);
	profile_take_tree(profile, &options, &ret->tree);
	costs_init(&ret->costs, &ret->tree, NULL);
	if (is_flat)
		view_flat(&ret->tree, &ret->costs, GROUP_FUNCTION, &ret->view);
	else
		view_tree(&ret->tree, &ret->costs, &ret->view);
}

static void ranks_unsee(struct ranks_seen *seen)
{
	view_done(&seen->view);
	costs_done(&seen->costs);
	scope_tree_done(&seen->tree);
}

static double ranks_of_row(const struct ranks_seen *seen, uint32_t row, uint32_t *ret_rank)
{
	return ranks_imbalance(&seen->ranks, &seen->view.inclusive.at[row * seen->view.n_metrics], 1,
			       ret_rank);
}

static bool is_near(double a, double b)
{
	return a - b < 0.01 && b - a < 0.01;
}

TEST(a_rank_that_is_slow_everywhere_is_the_slowest_in_every_row)
{
	for (int is_flat = 0; is_flat < 2; is_flat++) {
		OWNED struct profile *all = ranks_job(triple, 1);
		struct ranks_seen seen;
		uint32_t rank;
		ranks_see(all, is_flat, &seen);
		CHECK(seen.view.rows.n > 3);
		for (uint32_t row = 0; row < seen.view.rows.n; row++) {
			/* 3 where the average is (1 + 3 + 1) / 3 */
			CHECK(is_near(ranks_of_row(&seen, row, &rank), 80));
			CHECK_EQ(rank, 1);
		}
		ranks_unsee(&seen);
	}
}

TEST(a_rank_that_is_slow_in_one_function_is_the_slowest_there_and_in_its_callers)
{
	OWNED struct profile *all = ranks_job(slow_in_sin, 2);
	struct ranks_seen seen;
	uint32_t rank, n_found = 0;

	ranks_see(all, false, &seen);
	/* All of it: 280 where the average is (100 + 100 + 280) / 3 = 160. */
	CHECK(is_near(ranks_of_row(&seen, 0, &rank), 75));
	CHECK_EQ(rank, 2);
	for (uint32_t row = 0; row < seen.view.rows.n; row++) {
		const struct scope scope = scope_at(&seen.tree, seen.view.rows.at[row].scope);
		uint32_t caller = scope.parent;
		while (caller > 1)
			caller = seen.tree.scopes.at[caller].parent;
		if (scope.kind != SCOPE_FUNCTION || caller == 1 || /* an incomplete stack */
		    strcmp(intern_text(&all->strings, scope.name), "sin") != 0)
			continue;
		n_found++;
		/* 200 where the average is (20 + 20 + 200) / 3 = 80. */
		CHECK(is_near(ranks_of_row(&seen, row, &rank), 150));
		CHECK_EQ(rank, 2);
	}
	CHECK_EQ(n_found, 1);
	ranks_unsee(&seen);
}

TEST(without_numbers_of_ranks_the_imbalance_is_not_known)
{
	struct merger *merger = merger_new(&(struct merge_options){ .reduces = true });
	struct diag diag = { 0 };
	struct ranks_seen seen;
	uint32_t rank;

	for (uint32_t i = 0; i < N; i++) {
		OWNED struct profile *p = sample_profile();
		if (i == 1)
			triple(p);
		CHECK_EQ(merger_add(merger, p, "file", &diag), 0);
	}
	OWNED struct profile *all = merger_finish(merger);
	profile_unpack(all);
	size_t n_told = 0;
	for (size_t i = 0; i < all->notes.n; i++)
		n_told += strstr(intern_text(&all->strings, all->notes.at[i]), "without an MPI rank") != NULL;
	CHECK_EQ(n_told, 1);
	ranks_see(all, true, &seen);
	CHECK_EQ(seen.ranks.n_ranks, N);
	CHECK_EQ(seen.ranks.n, 0);
	for (uint32_t row = 0; row < seen.view.rows.n; row++)
		CHECK(ranks_of_row(&seen, row, &rank) < 0);
	ranks_unsee(&seen);
}

TEST(a_profile_that_is_not_reduced_is_not_changed)
{
	OWNED struct profile *p = sample_profile();
	size_t n_metrics = p->metrics.n, n_values = p->cct.values.n;
	struct ranks ranks;

	ranks_extend(p, &ranks);
	CHECK_EQ(ranks.n_ranks, 0);
	CHECK_EQ(p->metrics.n, n_metrics);
	CHECK_EQ(p->cct.values.n, n_values);
}
