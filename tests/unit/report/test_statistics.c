/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "base/bytes.h"
#include "report/diff/statistics.h"
#include "tests/test.h"

static bool is_near(double got, double want, double tolerance)
{
	if (fabs(got - want) <= tolerance)
		return true;
	print_error("%.15g is not %.15g\n", got, want);
	return false;
}

/* From tables of the distribution, and closed forms: t of 1 degree of freedom is Cauchy's, of 2 algebraic. */
TEST(quantiles_of_t_are_those_of_the_tables)
{
	static const struct {
		double p, df, t;
	} cases[] = {
		{ 0.975, 1, 12.706204736 },       { 0.975, 2, 4.3026527297 },      { 0.975, 4, 2.7764451052 },
		{ 0.975, 8, 2.3060041352 },       { 0.975, 30, 2.0422724563 },     { 0.95, 5, 2.0150483733 },
		{ 0.995, 10, 3.1692726726 },      { 0.9995, 3, 12.923978637 },     { 0.9, 120, 1.2886462337 },
		{ 0.975, INFINITY, 1.959963985 }, { 0.95, INFINITY, 1.644853627 }, { 0.5, 7, 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CHECK(is_near(student_quantile(cases[i].p, cases[i].df), cases[i].t, 1e-8));
		CHECK(is_near(student_quantile(1 - cases[i].p, cases[i].df), -cases[i].t, 1e-7));
		CHECK(is_near(student_cdf(cases[i].t, cases[i].df), cases[i].p, 1e-10));
	}
	for (double t = -20; t < 20; t += 0.37) {
		CHECK(is_near(student_cdf(t, 1), 0.5 + atan(t) / M_PI, 1e-13));
		CHECK(is_near(student_cdf(t, 2), 0.5 + t / (2 * sqrt(2 + t * t)), 1e-13));
	}
}

TEST(far_tails_keep_their_digits)
{
	struct welch welch = { .delta = 40, .error = 1, .df = 1 };

	CHECK(is_near(welch_p(&welch) / (2 * (atan(1 / 40.0) / M_PI)), 1, 1e-12));
	welch = (struct welch){ .delta = 10, .error = 1, .df = INFINITY };
	CHECK(is_near(welch_p(&welch) / 1.5239706048321052e-23, 1, 1e-9));
}

/* Worked by hand: means 20 and 23, variances 26/3 and 10/3. */
TEST(welch_of_two_samples_is_the_textbook_one)
{
	const double left[] = { 17, 19, 20, 24 }, right[] = { 21, 22, 24, 25 };
	struct run_spread a = run_spread_of(left, 4), b = run_spread_of(right, 4);

	CHECK(is_near(a.mean, 20, 1e-12));
	CHECK(is_near(a.variance, 26.0 / 3, 1e-12));
	CHECK(is_near(b.mean, 23, 1e-12));
	CHECK(is_near(b.variance, 10.0 / 3, 1e-12));

	struct welch welch = welch_of_runs(&a, &b);
	double l = 26.0 / 12, r = 10.0 / 12;
	CHECK(is_near(welch.delta, 3, 1e-12));
	CHECK(is_near(welch.error, sqrt(3), 1e-12));
	CHECK(is_near(welch.df, 9 / (l * l / 3 + r * r / 3), 1e-12));
	CHECK(is_near(welch_half_width(&welch, 0.95), sqrt(3) * student_quantile(0.975, welch.df), 1e-12));
	CHECK(is_near(welch_p(&welch), 2 * (1 - student_cdf(sqrt(3), welch.df)), 1e-12));
	CHECK(is_near(welch_p_above(&welch, 0), welch_p(&welch) / 2, 1e-12));
	CHECK(is_near(welch_p_above(&welch, 3), 0.5, 1e-12));
}

TEST(equal_variances_and_numbers_give_the_degrees_of_freedom_of_students_test)
{
	struct run_spread a = { 1, 4, 5 }, b = { 2, 4, 5 };

	CHECK(is_near(welch_of_runs(&a, &b).df, 8, 1e-12));
}

TEST(a_single_value_has_no_variance)
{
	const double one[] = { 42 };

	CHECK(run_spread_of(one, 1).variance == 0);
	CHECK(run_spread_of(one, 1).mean == 42);
}

TEST(a_difference_without_variance_is_certain)
{
	struct welch same = { .delta = 0 }, other = { .delta = 1 };

	CHECK(welch_p(&same) == 1);
	CHECK(welch_p(&other) == 0);
	CHECK(welch_p_above(&other, 2) == 1);
}

/* The example of Benjamini and Hochberg's paper of 1995: four of fifteen hold, three by Bonferroni's rule. */
TEST(benjamini_and_hochberg_find_four_in_their_own_example)
{
	static const double p[] = { 0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
				    0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000 };
	double shuffled[ARRAY_LEN(p)];
	bool holds[ARRAY_LEN(p)];
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(p); i++)
		shuffled[i * 7 % ARRAY_LEN(p)] = p[i];
	benjamini_hochberg(shuffled, ARRAY_LEN(p), 0.05, holds);
	for (size_t i = 0; i < ARRAY_LEN(p); i++) {
		CHECK(holds[i] == (shuffled[i] < 0.01));
		n += holds[i];
	}
	CHECK_EQ(n, 4);
}

/* A later rank may hold and take those before it along. */
TEST(benjamini_and_hochberg_step_up)
{
	const double p[] = { 0.04, 0.045, 0.049 };
	bool holds[3];

	benjamini_hochberg(p, 3, 0.05, holds);
	CHECK(holds[0] && holds[1] && holds[2]);
	benjamini_hochberg(p, 0, 0.05, holds);
}
