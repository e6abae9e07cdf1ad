/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/budget.h"

#include <math.h>

#include "tests/test.h"

#define MS 1000000ull

/* A deterministic random number. */
static uint64_t draw(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state;
}

TEST(budget_the_window_is_within_its_cycle)
{
	uint64_t state = 1;

	for (uint64_t n = 2; n <= 1000; n++) {
		struct budget_cycle cycle = budget_cycle_plan(5000, n, draw(&state));
		CHECK_EQ(cycle.len_ns, n * cycle.on_ns);
		CHECK(cycle.on_ns >= 10 * MS && cycle.on_ns <= 300 * MS);
		CHECK(cycle.on_at_ns >= 5000 && cycle.on_at_ns + cycle.on_ns <= budget_cycle_end(&cycle));
	}
}

TEST(budget_a_window_that_opens_late_makes_its_cycle_longer)
{
	struct budget_cycle cycle = budget_cycle_plan(0, 4, 0);

	CHECK_EQ(cycle.on_ns, 250 * MS);
	CHECK_EQ((uint64_t)budget_cycle_open(&cycle, 700 * MS), 4);
	CHECK_EQ(budget_cycle_end(&cycle), 1000 * MS);
	CHECK_EQ((uint64_t)(budget_cycle_open(&cycle, 1000 * MS) * 10), 50);
	CHECK_EQ(budget_cycle_end(&cycle), 1250 * MS);
}

/* Compares the estimate from the windows of a run with the true count: the rate of calls rises with time. */
static double estimate(uint64_t n, uint64_t run_ns, uint64_t *state)
{
	double sum = 0;

	for (uint64_t start = 0; start < run_ns;) {
		struct budget_cycle cycle = budget_cycle_plan(start, n, draw(state));
		double weight = budget_cycle_open(&cycle, cycle.on_at_ns);
		double from = (double)cycle.on_at_ns, to = from + (double)cycle.on_ns;
		to = to < (double)run_ns ? to : (double)run_ns;
		sum += from < to ? weight * (to * to - from * from) / 2 : 0;
		start = budget_cycle_end(&cycle);
	}
	return sum;
}

TEST(budget_estimates_are_right_on_average)
{
	static const uint64_t apart[] = { 2, 3, 10, 100, 400 };
	const uint64_t run_ns = 20300 * MS;
	const double truth = (double)run_ns * (double)run_ns / 2;
	uint64_t state = 7;

	for (size_t i = 0; i < sizeof(apart) / sizeof(*apart); i++) {
		double sum = 0;
		for (int k = 0; k < 20000; k++)
			sum += estimate(apart[i], run_ns, &state);
		CHECK(fabs(sum / 20000 / truth - 1) < 0.02);
	}
}

TEST(budget_the_error_comes_from_the_variation_among_windows)
{
	struct budget_windows windows = { 0 };

	for (int i = 0; i < 4; i++)
		budget_windows_add(&windows, i % 2 ? 90 : 110);
	CHECK(budget_windows_error(&windows) == 0); /* too few */
	for (int i = 0; i < 6; i++)
		budget_windows_add(&windows, i % 2 ? 90 : 110);
	/* 10 values, standard deviation 10.541, t = 2.262: 7.54 % */
	CHECK(fabs(budget_windows_error(&windows) - 0.0754) < 0.0005);
	CHECK(fabs(windows.mean - 100) < 1e-9);
}
