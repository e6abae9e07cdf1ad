/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often chance looks like a change, and how often a change is found: runs are drawn at random from one
 * profile, as by sampling, and also vary as a whole from run to run.
 */
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "report/diff/fail_rule.h"
#include "tests/support/profiles.h"
#include "tests/test.h"

#define RUNS 5
#define PAIRS 200
#define SAMPLES 5000
#define PERIOD 1000000
#define ROUND 47.3 /* samples per cycle of the program */

static uint64_t random_state;

static double random_unit(void)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (double)(random_state >> 11) / 9007199254740992.0;
}

static double random_normal(void)
{
	return sqrt(-2 * log(1 - random_unit())) * cos(2 * M_PI * random_unit());
}

/* The same tree for all runs; one leaf has 40 % of the cost. */
struct drawing {
	struct diff diff;
	uint32_t *leaves; /* scopes with self costs; the first is the most expensive */
	size_t n_leaves;
	bool is_regular;
};

static void drawing_init(struct drawing *drawing)
{
	struct joint joint;
	struct diag diag = { 0 };

	joint_init(&joint, &(struct joint_options){ 0 }, 2 * RUNS);
	for (uint32_t run = 0; run < 2 * RUNS; run++) {
		OWNED struct profile *profile = random_profile(11, 300);
		uint32_t unit[16];
		for (size_t i = 0; i < 16; i++)
			unit[i] = run;
		joint_add(&joint, &(struct joint_part){ profile, 1, unit, false });
	}
	joint_finish(&joint);
	drawing->leaves = alloc_zero(joint.tree.scopes.n, sizeof(uint32_t));
	drawing->n_leaves = 0;
	drawing->is_regular = false;
	for (size_t i = 0; i < joint.tree.values.n; i++)
		if (joint.tree.values.at[i].metric == 0)
			drawing->leaves[drawing->n_leaves++] = joint.tree.values.at[i].scope;
	CHECK(drawing->n_leaves > 20);
	/* The last one has nothing below it. */
	uint32_t last = drawing->leaves[drawing->n_leaves - 1];
	drawing->leaves[drawing->n_leaves - 1] = drawing->leaves[0];
	drawing->leaves[0] = last;
	CHECK_EQ(last, joint.tree.scopes.n - 1);
	CHECK_EQ(diff_init(&drawing->diff, &joint, RUNS, RUNS, &(struct diff_normalization){ 0 }, &diag), 0);
}

static void drawing_done(struct drawing *drawing)
{
	diff_done(&drawing->diff);
	free(drawing->leaves);
}

/* Where a sample of a run falls: at random or, like a clock tick in a program that repeats the same work, at
 * the next position in its cycle. */
static size_t draw_leaf(const struct drawing *drawing, double heavy, double tick)
{
	double others = (double)(drawing->n_leaves - 1), round = 0.6 + heavy;
	double at = drawing->is_regular ? fmod(tick / ROUND, round) : random_unit() * round;

	return at < heavy ? 0 : 1 + (size_t)fmin((at - heavy) / 0.6 * others, others - 1);
}

static void draw_run(struct drawing *drawing, uint32_t run, double heavy)
{
	struct scope_tree *tree = &drawing->diff.joint.tree;
	CLEANUP(freep) uint64_t *counts = alloc_zero(drawing->n_leaves, sizeof(*counts));
	double length = SAMPLES * (0.6 + heavy) * (1 + 0.005 * random_normal()), first = random_unit();

	for (double tick = first; tick < length; tick++)
		counts[draw_leaf(drawing, heavy, tick)]++;
	for (size_t i = 0; i < drawing->n_leaves; i++) {
		vec_push(&tree->values,
			 (struct scope_value){ drawing->leaves[i], 0, run, counts[i] * PERIOD });
		vec_push(&tree->values,
			 (struct scope_value){ drawing->leaves[i], 0, 2 * RUNS + run, counts[i] });
	}
}

static void draw_pair(struct drawing *drawing, double heavy_after)
{
	struct diff *diff = &drawing->diff;
	struct scope_tree *tree = &diff->joint.tree;
	struct diag diag = { 0 };

	vec_clear(&tree->values);
	for (uint32_t run = 0; run < 2 * RUNS; run++)
		draw_run(drawing, run, run < RUNS ? 0.4 : heavy_after);
	tree->values.n = scope_values_settle(tree->values.at, tree->values.n, tree->scopes.n);
	struct joint joint = diff->joint;
	diff->joint = (struct joint){ 0 };
	diff_done(diff);
	CHECK_EQ(diff_init(diff, &joint, RUNS, RUNS, &(struct diff_normalization){ 0 }, &diag), 0);
}

static bool is_any_significant(const struct diff *diff)
{
	struct diff_table flat, tree;

	diff_flat(diff, GROUP_FUNCTION, &(struct diff_cut){ 0 }, &flat);
	diff_tree(diff, &(struct diff_cut){ 0 }, &tree);
	bool is_any = flat.n_significant > 0 || tree.n_significant > 0;
	diff_table_done(&flat);
	diff_table_done(&tree);
	return is_any;
}

static bool is_any_failed(const struct diff *diff, const fail_rules *rules)
{
	rule_verdicts verdicts = { 0 };
	bool is_any = false;

	fail_rules_judge(rules, diff, &verdicts);
	for (size_t i = 0; i < verdicts.n; i++)
		is_any |= verdicts.at[i].n_failed > 0;
	rule_verdicts_done(&verdicts);
	return is_any;
}

TEST(runs_of_one_program_rarely_look_different)
{
	struct drawing drawing;
	fail_rules total = { 0 }, functions = { 0 };
	struct diag diag = { 0 };
	size_t n_significant = 0, n_total = 0, n_functions = 0;

	random_state = 1;
	fail_rules_add(&total, "total>0%", NULL, &diag);
	fail_rules_add(&functions, "function:.*>0%", NULL, &diag);
	drawing_init(&drawing);
	for (size_t i = 0; i < PAIRS; i++) {
		draw_pair(&drawing, 0.4);
		n_significant += is_any_significant(&drawing.diff);
		n_total += is_any_failed(&drawing.diff, &total);
		n_functions += is_any_failed(&drawing.diff, &functions);
	}
	print_message("of %d pairs: %zu with significant rows, %zu and %zu with failed rules\n", PAIRS,
		      n_significant, n_total, n_functions);
	CHECK(n_significant <= PAIRS / 10);
	CHECK(n_total <= PAIRS / 10);
	CHECK(n_functions <= PAIRS / 10);
	CHECK(n_total > 0); /* 1 in 20 is expected; 0 would mean that the rules are not evaluated */
	fail_rules_done(&total);
	fail_rules_done(&functions);
	drawing_done(&drawing);
}

/* One function has 40 % of the time and becomes 5 % slower. */
TEST(a_function_that_became_slower_is_found)
{
	struct drawing drawing;
	size_t n_found = 0, n_path = 0;

	random_state = 2;
	drawing_init(&drawing);
	drawing.is_regular = true;
	for (size_t i = 0; i < PAIRS; i++) {
		struct diff_table tree;
		view_path path = { 0 };
		draw_pair(&drawing, 0.4 * 1.05);
		diff_tree(&drawing.diff, &(struct diff_cut){ 0 }, &tree);
		for (size_t k = 0; k < tree.rows.n; k++)
			n_found += tree.rows.at[k].scope == drawing.leaves[0] &&
				   tree.rows.at[k].is_significant && tree.rows.at[k].total.delta > 0;
		diff_hot_path(&drawing.diff, &path);
		n_path += path.at[path.n - 1] == drawing.leaves[0];
		vec_done(&path);
		diff_table_done(&tree);
	}
	print_message("of %d pairs: found in %zu, on top of the path in %zu\n", PAIRS, n_found, n_path);
	CHECK(n_found >= PAIRS * 95 / 100);
	CHECK(n_path >= PAIRS * 95 / 100);
	drawing_done(&drawing);
}
