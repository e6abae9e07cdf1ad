/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"
#include "report/spread.h"
#include "tests/test.h"

#define ROUNDS 32

/* Samples of a share of 30 %, each by itself. */
static uint64_t draw(uint64_t *random, uint64_t n)
{
	uint64_t hits = 0;

	for (uint64_t i = 0; i < n; i++)
		hits += hash_u64(++*random) % 100 < 30;
	return hits;
}

TEST(intervals_of_independent_samples_are_hardly_widened)
{
	uint64_t part[ROUNDS], whole[ROUNDS], random = 1;
	double sum = 0;

	for (unsigned run = 0; run < 100; run++) {
		for (unsigned i = 0; i < ROUNDS; i++)
			part[i] = draw(&random, whole[i] = 50);
		sum += spread_factor(part, whole, ROUNDS);
	}
	CHECK(sum / 100 < 1.6);
}

TEST(correlated_samples_widen_intervals)
{
	uint64_t part[ROUNDS], whole[ROUNDS];

	for (unsigned i = 0; i < ROUNDS; i++) {
		whole[i] = 50;
		part[i] = i % 3 == 0 ? 50 : 0; /* correlated: all samples of a round or none */
	}
	CHECK(spread_factor(part, whole, ROUNDS) > 20);
}

TEST(a_single_correlated_round_is_detected)
{
	uint64_t part[ROUNDS], whole[ROUNDS];

	for (unsigned i = 0; i < ROUNDS; i++) {
		whole[i] = 50;
		part[i] = i == 9 ? 50 : 15;
	}
	CHECK(spread_factor(part, whole, ROUNDS) > 3);
}

TEST(phases_of_a_program_do_not_widen_intervals)
{
	uint64_t part[ROUNDS], whole[ROUNDS];

	for (unsigned i = 0; i < ROUNDS; i++) {
		whole[i] = 50;
		part[i] = i < 11 ? 50 : 0;
	}
	CHECK(spread_factor(part, whole, ROUNDS) == 1);
}

TEST(few_rounds_and_shares_of_0_or_1_do_not_widen_intervals)
{
	uint64_t part[ROUNDS] = { 5, 0, 5, 0, 5 }, whole[ROUNDS] = { 5, 5, 5, 5, 5 }, none[ROUNDS] = { 0 };

	CHECK(spread_factor(part, whole, ROUNDS) == 1);
	CHECK(spread_factor(none, whole, ROUNDS) == 1);
	CHECK(spread_factor(none, none, ROUNDS) == 1);
	CHECK(spread_factor(whole, whole, ROUNDS) == 1);
	CHECK(spread_factor(NULL, NULL, 0) == 1);
}
