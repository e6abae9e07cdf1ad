/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "report/merge_threads.h"
#include "report/tree/thread_spread.h"
#include "tests/test.h"

/* f calls g calls f: three scopes, 2, 3 and 4, of functions 1, 2 and 1. */
static void make_tree(struct scope_tree *tree)
{
	CLEANUP(scope_maker_done) struct scope_maker maker;

	*tree = (struct scope_tree){ .n_metrics = 2 };
	scope_maker_init(&maker, tree);
	scope_maker_add(&maker, &(struct scope){ .kind = SCOPE_ROOT, .image = IMAGE_NONE });
	scope_maker_add(&maker, &(struct scope){ .kind = SCOPE_INCOMPLETE, .image = IMAGE_NONE });
	for (uint32_t i = 0; i < 3; i++)
		scope_maker_add(&maker, &(struct scope){ .parent = i ? i + 1 : 0,
							 .kind = SCOPE_FUNCTION,
							 .name = 1 + i % 2,
							 .vaddr = 16 + i % 2,
							 .image = 0 });
	vec_push(&tree->values, (struct scope_value){ 2, 0, 1, 10 });
	vec_push(&tree->values, (struct scope_value){ 3, 0, 1, 20 });
	vec_push(&tree->values, (struct scope_value){ 4, 0, 1, 30 });
	vec_push(&tree->values, (struct scope_value){ 4, 1, 1, 40 });
	vec_push(&tree->values,
		 (struct scope_value){ 2, 2, 0, 1 }); /* sampled, but without a value of this metric */
}

TEST(statistics_of_a_row_are_over_all_sampled_threads)
{
	struct scope_tree tree;
	CLEANUP(thread_spreads_done) struct thread_spreads spreads;

	make_tree(&tree);
	thread_spreads_init(&spreads, &tree, 1, NULL, NULL);
	CHECK_EQ(spreads.n_threads, 3);
	struct thread_spread root = thread_spreads_find(&spreads, 0),
			     inner = thread_spreads_find(&spreads, 4);
	CHECK_EQ(root.sum, 100);
	CHECK_EQ(root.most, 60);
	CHECK_EQ(root.least, 0);
	CHECK_EQ(inner.sum, 70);
	CHECK_EQ(inner.most, 40);
	CHECK(thread_spread_mean(&root, 3) > 33.3 && thread_spread_mean(&root, 3) < 33.4);
	CHECK(thread_spread_imbalance(&root, 3) > 79.9 && thread_spread_imbalance(&root, 3) < 80.1);
	CHECK(thread_spread_imbalance(&(struct thread_spread){ 0 }, 3) < 0);
	scope_tree_done(&tree);
}

TEST(recursion_counts_once_for_each_thread)
{
	struct scope_tree tree;
	enum group_by by = GROUP_FUNCTION;
	CLEANUP(thread_spreads_done) struct thread_spreads spreads;
	bool is_kept[] = { true, true, false };

	make_tree(&tree);
	thread_spreads_init(&spreads, &tree, 1, is_kept, &by);
	CHECK_EQ(spreads.n_threads, 2);
	struct thread_spread f = thread_spreads_find(&spreads, 2), g = thread_spreads_find(&spreads, 3);
	CHECK_EQ(f.sum, 100);
	CHECK_EQ(f.most, 60);
	CHECK_EQ(f.least, 40);
	CHECK_EQ(g.sum, 90);
	CHECK_EQ(g.most, 50);
	scope_tree_done(&tree);
}

static void add_thread(struct profile *profile, uint32_t process, const char *name)
{
	vec_push(&profile->threads,
		 (struct profile_thread){ .process = process, .comm = intern_add(&profile->strings, name) });
	vec_push(&profile->cct.values,
		 (struct cct_value){ CCT_INCOMPLETE, (uint32_t)profile->threads.n - 1, 1, 5 });
}

TEST(threads_are_merged_by_the_common_part_of_their_names)
{
	struct profile *profile = profile_new();
	struct diag diag = { 0 };

	add_thread(profile, 0, "io-1");
	add_thread(profile, 0, "io-2");
	add_thread(profile, 1, "io-3"); /* another process */
	add_thread(profile, 0, "main");
	CHECK(threads_merge(profile, "^(", &diag) < 0);
	CHECK_EQ(threads_merge(profile, "^(.*)-[0-9]+$", &diag), 0);
	CHECK_STR(intern_text(&profile->strings, profile->threads.at[0].comm), "io");
	CHECK_EQ(profile->cct.values.at[1].thread, 0);
	CHECK_EQ(profile->cct.values.at[2].thread, 2);
	CHECK_EQ(profile->cct.values.at[3].thread, 3);
	CHECK_EQ(threads_merge(profile, "i", &diag), 0); /* "main" contains an i, too */
	CHECK_EQ(profile->cct.values.at[3].thread, 0);
	profile_free(profile);
}
