/* SPDX-License-Identifier: Apache-2.0 */
#include "report/tree/scope_calls.h"

#include "tests/test.h"

/* A root with two functions, the second of which occurs in two places. */
static void make(struct scope_tree *tree)
{
	static const struct scope_row rows[] = { { 0, 0, 0 }, { 0, 1, 0 }, { 1, 2, 0 }, { 0, 2, 0 } };

	*tree = (struct scope_tree){ .n_metrics = 3, .activations = 2 };
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		vec_push(&tree->scopes, rows[i]);
	for (size_t i = 0; i < 3; i++)
		vec_push(&tree->frames, ((struct scope_frame){ 0 }));
}

TEST(calls_are_removed_from_the_metrics_and_summed_by_function)
{
	struct scope_tree tree;
	struct scope_calls calls;

	make(&tree);
	vec_push(&tree.values, ((struct scope_value){ 1, 0, 0, 5 }));
	vec_push(&tree.values, ((struct scope_value){ 1, 0, 2, 1 }));
	vec_push(&tree.values, ((struct scope_value){ 2, 0, 2, 40 }));
	vec_push(&tree.values, ((struct scope_value){ 2, 1, 2, 2 }));
	vec_push(&tree.values, ((struct scope_value){ 3, 0, 1, 7 }));
	vec_push(&tree.values, ((struct scope_value){ 3, 0, 2, 3 }));
	scope_calls_take(&tree, &calls);
	CHECK_EQ(tree.n_metrics, 2);
	CHECK_EQ(tree.values.n, 2);
	CHECK_EQ(tree.values.at[1].value, 7);
	CHECK_EQ(calls.by_scope.at[1], 1);
	CHECK_EQ(calls.by_scope.at[2], 42);
	CHECK_EQ(calls.by_scope.at[3], 3);
	CHECK_EQ(calls.by_frame.at[2], 45);
	scope_calls_done(&calls);
	scope_tree_done(&tree);
}

TEST(a_profile_without_calls_has_no_counts_of_them)
{
	struct scope_tree tree;
	struct scope_calls calls;

	make(&tree);
	vec_push(&tree.values, ((struct scope_value){ 1, 0, 0, 5 }));
	scope_calls_take(&tree, &calls);
	CHECK_EQ(calls.by_scope.n, 0);
	CHECK_EQ(tree.n_metrics, 2);
	CHECK_EQ(tree.values.n, 1);
	scope_tree_done(&tree);
}
