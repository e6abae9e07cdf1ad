/* SPDX-License-Identifier: Apache-2.0 */
#include "report/derived.h"
#include "report/formula.h"
#include "tests/test.h"

#include <errno.h>
#include <math.h>

static struct profile *profile_with(const char *const *names)
{
	struct profile *profile = profile_new();

	for (; *names; names++)
		vec_push(&profile->metrics,
			 (struct profile_metric){ .name = intern_add(&profile->strings, *names) });
	return profile;
}

static const char *const names[] = { "samples", "cycles", "instructions", "cache", "cache-misses", NULL };

static uint64_t all_of(const void *context, uint32_t metric)
{
	return ((const uint64_t *)context)[metric];
}

static double value_of(const char *text)
{
	static const uint64_t self[] = { 1, 10, 30, 5, 7 }, total[] = { 2, 20, 50, 6, 8 },
			      all[] = { 10, 100, 200, 60, 80 };
	struct profile *profile = profile_with(names);
	struct formula formula;
	struct diag diag = { 0 };

	CHECK_EQ(formula_parse(text, profile, &formula, &diag), 0);
	double value = formula_value(&formula, &(struct formula_costs){ self, total, all_of, all });
	formula_done(&formula);
	profile_free(profile);
	return value;
}

TEST(a_formula_is_over_totals_unless_it_says_otherwise)
{
	CHECK(value_of("ipc = instructions / cycles") == 2.5);
	CHECK(value_of("self(instructions) / self(cycles)") == 3);
	CHECK(value_of("100 * cycles / all(cycles)") == 20);
	CHECK(value_of("1 + 2 * 3 - 4 / 2") == 5);
	CHECK(value_of("-(1 + 2) * -2") == 6);
	CHECK(value_of("1.5e1 - 5") == 10);
}

TEST(the_longest_matching_metric_name_is_used)
{
	CHECK(value_of("cache-misses / 2") == 4);
	CHECK(value_of("\"cache\" - 1") == 5);
	CHECK(value_of("cache - 1") == 5);
}

TEST(zero_divided_by_zero_has_no_value)
{
	CHECK(!isfinite(value_of("cycles / (cycles - cycles)")));
}

TEST(a_formula_has_a_label)
{
	struct profile *profile = profile_with(names);
	struct formula formula;
	struct diag diag = { 0 };

	CHECK_EQ(formula_parse(" ipc =instructions/cycles", profile, &formula, &diag), 0);
	CHECK_STR(formula.label, "ipc");
	CHECK_EQ(formula.metric, UINT32_MAX);
	formula_done(&formula);
	CHECK_EQ(formula_parse("cycles", profile, &formula, &diag), 0);
	CHECK_STR(formula.label, "cycles");
	CHECK_EQ(formula.metric, 1);
	formula_done(&formula);
	profile_free(profile);
}

TEST(errors_in_a_formula_are_reported)
{
	static const char *const wrong[] = { "",         "1 +",           "(1",
					     "nonsense", "cycles cycles", "self(cycles",
					     "1 / / 2",  "cyclesx",       "0x10",
					     "= " };
	struct profile *profile = profile_with(names);
	struct formula formula;

	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		struct diag diag = { 0 };
		CHECK_EQ(formula_parse(wrong[i], profile, &formula, &diag), -EINVAL);
		CHECK(diag.why[0] != '\0');
	}
	char text[FORMULA_LONGEST + 10];
	memset(text, '(', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	struct diag diag = { 0 };
	CHECK_EQ(formula_parse(text, profile, &formula, &diag), -EINVAL);
	text[FORMULA_LONGEST] = '\0';
	CHECK_EQ(formula_parse(text, profile, &formula, &diag), -EINVAL);
	profile_free(profile);
}

TEST(usual_formulas_need_their_events)
{
	struct profile *profile = profile_with(names);
	struct formula formula;
	struct diag diag = { 0 };
	size_t n = 0;

	for (size_t i = 0; formula_usual(i); i++)
		if (formula_parse(formula_usual(i), profile, &formula, &diag) == 0) {
			CHECK_STR(formula.label, "ipc");
			formula_done(&formula);
			n++;
		}
	CHECK_EQ(n, 1);
	profile_free(profile);
}

TEST(exports_have_the_usual_ratios_and_the_requested_ones)
{
	struct profile *profile = profile_with(names);
	char *asked[] = { "ipc = 2 * instructions / cycles", "twice = 2 * cycles" },
	     *wrong[] = { "nonsense" };
	struct diag diag = { 0 };
	struct derived derived;

	CHECK_EQ(derived_make(&derived, profile, NULL, 0, &diag), 0);
	CHECK_EQ(derived.of.n, 1);
	CHECK_STR(derived.of.at[0].label, "ipc");
	CHECK_STR(derived.texts.at[0], formula_usual(0));
	derived_done(&derived);
	CHECK_EQ(derived_make(&derived, profile, asked, 2, &diag), 0);
	CHECK_EQ(derived.of.n, 2); /* of two with the same name, the requested one */
	CHECK_STR(derived.texts.at[0], asked[0]);
	derived_done(&derived);
	CHECK_EQ(derived_make(&derived, profile, wrong, 1, &diag), -EINVAL);
	CHECK_EQ(derived.of.n, 0);
	profile_free(profile);
}
