/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "report/diff/fail_rule.h"
#include "tests/support/profiles.h"
#include "tests/test.h"

#define METRIC 1

/* Runs of random profiles: n_a before, n_b after, given by their seeds. */
static void join(struct joint *joint, const struct joint_options *options, const uint32_t *seeds, uint32_t n)
{
	joint_init(joint, options, n);
	for (uint32_t i = 0; i < n; i++) {
		OWNED struct profile *profile = seeds[i] ? random_profile(seeds[i], 300) : sample_profile();
		uint32_t unit[16];
		CHECK(profile->threads.n < ARRAY_LEN(unit));
		for (size_t k = 0; k < ARRAY_LEN(unit); k++)
			unit[k] = i;
		joint_add(joint, &(struct joint_part){ profile, METRIC, unit, false });
	}
	joint_finish(joint);
}

static uint64_t total_of(uint32_t seed, uint32_t metric)
{
	OWNED struct profile *profile = seed ? random_profile(seed, 300) : sample_profile();

	return profile_sum(profile, metric);
}

static void make_diff(struct diff *diff, const uint32_t *seeds, uint32_t n_a, uint32_t n_b,
		      const struct joint_options *options)
{
	struct joint joint;
	struct diag diag = { 0 };

	join(&joint, options, seeds, n_a + n_b);
	CHECK_EQ(diff_init(diff, &joint, n_a, n_b, &(struct diff_normalization){ 0 }, &diag), 0);
}

static bool is_near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * (1 + fabs(a) + fabs(b));
}

static void check_sums(const struct diff *diff, const struct diff_table *table)
{
	double a = table->left_a, b = table->left_b, delta = table->left_b - table->left_a;

	for (size_t i = 0; i < table->rows.n; i++) {
		a += table->rows.at[i].self.a;
		b += table->rows.at[i].self.b;
		delta += table->rows.at[i].self.delta;
	}
	CHECK(is_near(a, diff->total.a));
	CHECK(is_near(b, diff->total.b));
	CHECK(is_near(delta, diff->total.delta));
}

TEST(nothing_is_lost_in_any_view)
{
	static const uint32_t seeds[] = { 1, 2, 3, 4, 5 };
	static const enum group_by groups[] = { GROUP_FUNCTION, GROUP_MODULE, GROUP_FILE, GROUP_LOOP,
						GROUP_LINE };
	static const struct joint_options options[] = { { .lines = true },
							{ .call_sites = true },
							{ .no_loops = true } };

	for (size_t k = 0; k < ARRAY_LEN(options); k++) {
		struct diff diff;
		make_diff(&diff, seeds, 2, 3, &options[k]);
		double a = ((double)total_of(1, METRIC) + (double)total_of(2, METRIC)) / 2;
		double b = ((double)total_of(3, METRIC) + (double)total_of(4, METRIC) +
			    (double)total_of(5, METRIC)) /
			   3;
		CHECK(is_near(diff.total.a, a));
		CHECK(is_near(diff.total.b, b));
		for (size_t i = 0; i < ARRAY_LEN(groups); i++) {
			struct diff_table table;
			diff_flat(&diff, groups[i], &(struct diff_cut){ 1, 5 }, &table);
			check_sums(&diff, &table);
			diff_table_done(&table);
		}
		struct diff_table tree;
		diff_tree(&diff, &(struct diff_cut){ 1, 7 }, &tree);
		CHECK(tree.rows.n <= 7);
		check_sums(&diff, &tree);
		diff_table_done(&tree);
		diff_done(&diff);
	}
}

TEST(a_profile_does_not_differ_from_itself)
{
	static const uint32_t seeds[] = { 7, 7, 7, 7 };
	struct diff diff;
	struct diff_table table;

	make_diff(&diff, seeds, 2, 2, &(struct joint_options){ .lines = true });
	CHECK(diff.total.delta == 0);
	diff_flat(&diff, GROUP_FUNCTION, &(struct diff_cut){ 0 }, &table);
	CHECK(table.rows.n > 0);
	for (size_t i = 0; i < table.rows.n; i++) {
		CHECK(table.rows.at[i].self.delta == 0);
		CHECK(!table.rows.at[i].is_significant);
		CHECK_STR(diff_state(&table.rows.at[i]), "");
	}
	diff_table_done(&table);
	diff_done(&diff);
}

TEST(one_run_a_side_is_judged_by_its_samples)
{
	static const uint32_t seeds[] = { 1, 2 };
	struct diff diff;

	make_diff(&diff, seeds, 1, 1, &(struct joint_options){ 0 });
	CHECK(!diff.from_runs);
	CHECK(isinf(diff.total.welch.df));
	CHECK(diff.total.high > diff.total.low);
	diff_done(&diff);
}

TEST(shares_of_the_total_add_up_to_the_same)
{
	static const uint32_t seeds[] = { 1, 2, 3, 4 };
	struct joint joint;
	struct diff diff;
	struct diag diag = { 0 };

	join(&joint, &(struct joint_options){ 0 }, seeds, 4);
	CHECK_EQ(diff_init(&diff, &joint, 2, 2, &(struct diff_normalization){ .by = NORMALIZE_TOTAL }, &diag),
		 0);
	CHECK(is_near(diff.total.a, diff.total.b));
	diff_done(&diff);
	join(&joint, &(struct joint_options){ 0 }, seeds, 4);
	CHECK(diff_init(&diff, &joint, 2, 2,
			&(struct diff_normalization){ .by = NORMALIZE_SCOPE, .scope = "no such function" },
			&diag) < 0);
	CHECK(strstr(diag.what, "no such function"));
	diff_done(&diff);
}

/* ---- rules ---------------------------------------------------------------------------------------- */

TEST(invalid_rules_are_explained)
{
	static const char *const bad[] = { "",
					   "total",
					   "total>",
					   "total>x",
					   "total:a>1%",
					   "function>1%",
					   "function:>1%",
					   "thing:a>1%",
					   "function:(>1%",
					   "total>1 h",
					   "total>-1%",
					   "total>nan%" };
	static const char *const good[] = { "total>2%",
					    "function:parse_.*>5%",
					    "loop:.*>10 %",
					    "module:libz.*>20ms",
					    "line:a\\.c:1>5%",
					    "total>1000",
					    "function:operator>.*>1.5%" };
	fail_rules rules = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct diag diag = { 0 };
		CHECK(fail_rules_add(&rules, bad[i], NULL, &diag) < 0);
		CHECK(strstr(diag.what, "invalid rule") && diag.why[0] && diag.hint[0]);
	}
	CHECK_EQ(rules.n, 0);
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		struct diag diag = { 0 };
		CHECK_EQ(fail_rules_add(&rules, good[i], NULL, &diag), 0);
	}
	CHECK(fail_rules_need_lines(&rules));
	CHECK(rules.at[3].limit == 20e6 && !rules.at[3].is_percent);
	CHECK(rules.at[2].limit == 10 && rules.at[2].is_percent);
	fail_rules_done(&rules);
}

TEST(rules_are_read_from_json)
{
	static const char text[] =
		"{\"rules\": [\"total>2%\", {\"rule\": \"function:f>5%\", \"why\": \"slow\"}]}";
	static const char *const bad[] = { "[]",
					   "{\"rules\": []}",
					   "{\"rules\": [1]}",
					   "{\"rules\": [{\"why\": \"x\"}]}",
					   "{\"rules\": [\"nonsense\"]}",
					   "{" };
	fail_rules rules = { 0 };
	struct diag diag = { 0 };
	int error = fail_rules_read(&rules, (struct bytes){ (const uint8_t *)text, strlen(text) }, "r.json",
				    &diag);

	if (error == -ENOSYS)
		SKIP("built without cJSON");
	CHECK_EQ(error, 0);
	CHECK_EQ(rules.n, 2);
	CHECK_STR(rules.at[1].why, "slow");
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		CHECK(fail_rules_read(&rules, (struct bytes){ (const uint8_t *)bad[i], strlen(bad[i]) },
				      "r.json", &diag) < 0);
	fail_rules_done(&rules);
}

/* Everything costs 2000 before and 3000 after. */
TEST(rules_fail_beyond_their_limit_and_report_if_nothing_matches)
{
	static const struct {
		const char *rule;
		bool fails;
		bool matches;
	} cases[] = {
		{ "total>10%", true, true },   { "total>99%", false, true },
		{ "total>1", true, true },     { "function:.*>10%", true, true },
		{ "module:.*>1", true, true }, { "function:none>1%", false, false },
	};
	static const uint32_t seeds[] = { 1, 1, 1, 1 };
	struct diff diff;
	fail_rules rules = { 0 };
	rule_verdicts verdicts = { 0 };
	struct diag diag = { 0 };

	make_diff(&diff, seeds, 2, 2, &(struct joint_options){ 0 });
	for (size_t i = 0; i < 4; i++)
		diff.weight[i] = 1;
	for (size_t i = 0; i < diff.joint.tree.values.n; i++)
		diff.joint.tree.values.at[i].value =
			diff.joint.tree.values.at[i].metric % 4 < 2 ? 2000 : 3000;
	costs_done(&diff.costs);
	costs_init(&diff.costs, &diff.joint.tree, NULL);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		CHECK_EQ(fail_rules_add(&rules, cases[i].rule, NULL, &diag), 0);
	fail_rules_judge(&rules, &diff, &verdicts);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CHECK(cases[i].fails == (verdicts.at[i].n_failed > 0));
		CHECK(cases[i].matches == (verdicts.at[i].n_matches > 0));
	}
	rule_verdicts_done(&verdicts);
	fail_rules_done(&rules);
	diff_done(&diff);
}

/* That many calls in every context of a profile. */
static void add_calls(struct profile *profile, uint64_t n)
{
	for (uint32_t node = CCT_INCOMPLETE + 1; node < profile->cct.nodes.n; node++)
		cct_add_value(&profile->cct, node, 0, CCT_ACTIVATIONS, n);
	vec_push(&profile->metrics,
		 ((struct profile_metric){ intern_add(&profile->strings, JOINT_CALLS),
					   intern_add(&profile->strings, "count"), UINT32_MAX }));
}

TEST(observed_calls_can_be_compared)
{
	struct joint_options options = { .no_samples = true };
	struct joint joint;
	struct diff diff;
	struct diag diag = { 0 };
	uint32_t unit[16];
	uint64_t n_contexts = 0;

	joint_init(&joint, &options, 2);
	for (uint32_t run = 0; run < 2; run++) {
		OWNED struct profile *profile = sample_profile();
		n_contexts = profile->cct.nodes.n - CCT_INCOMPLETE - 1;
		add_calls(profile, run ? 5 : 3);
		for (size_t k = 0; k < ARRAY_LEN(unit); k++)
			unit[k] = run;
		joint_add(&joint,
			  &(struct joint_part){ profile, (uint32_t)profile->metrics.n - 1, unit, false });
	}
	joint_finish(&joint);
	CHECK_EQ(diff_init(&diff, &joint, 1, 1, &(struct diff_normalization){ 0 }, &diag), 0);
	CHECK(is_near(diff.total.a, 3 * (double)n_contexts));
	CHECK(is_near(diff.total.b, 5 * (double)n_contexts));
	diff_done(&diff);
}
