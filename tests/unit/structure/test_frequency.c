/* SPDX-License-Identifier: Apache-2.0 */
#include "structure/frequency.h"

#include "tests/test.h"

#define MAX 64

/* A graph from pairs (from, to), and the samples of its blocks. */
static struct cfg_block blocks[MAX];
static struct cfg_edge edges[2 * MAX];
static struct cfg cfg;
static struct frequency frequency;
static double cycles[MAX], best[MAX];
static uint64_t samples[MAX];

static void make(uint32_t n, const int (*pairs)[2], size_t n_pairs)
{
	uint32_t at = 0;

	for (uint32_t b = 0; b < n; b++) {
		blocks[b] = (struct cfg_block){ .start = 0x100 + b, .first_edge = at, .n_insns = 1 };
		for (size_t e = 0; e < n_pairs; e++)
			if (pairs[e][0] == (int)b)
				edges[at++] = (struct cfg_edge){ (uint32_t)pairs[e][1], EDGE_TAKEN };
		blocks[b].n_edges = at - blocks[b].first_edge;
		blocks[b].end_kind = blocks[b].n_edges == 0   ? BLOCK_RETURNS
				     : blocks[b].n_edges == 1 ? BLOCK_RUNS_ON
				     : blocks[b].n_edges == 2 ? BLOCK_BRANCHES
							      : BLOCK_SWITCHES;
	}
	cfg = (struct cfg){ .blocks = blocks, .edges = edges, .n_blocks = n, .n_edges = at };
	frequency_init(&frequency, &cfg);
}

#define MAKE(n, ...)                                   \
	static const int pairs[][2] = { __VA_ARGS__ }; \
	make(n, pairs, sizeof(pairs) / sizeof(pairs[0]))

/* A block that was executed so often, waits aside, and what it would need. */
static void spend(uint32_t block, double executions, double needs, double waits)
{
	best[block] = needs;
	cycles[block] = executions * (needs + waits);
	samples[block] = (uint64_t)(cycles[block] / 100);
}

static void estimate(void)
{
	struct frequency_input input = { &cfg, cycles, samples, best };

	frequency_estimate(&frequency, &input);
}

static void check(uint32_t block, double executions, double within, enum confidence least)
{
	enum confidence confidence;
	double found = frequency_of(&frequency, block, &confidence), off = found - executions;

	if (off > within * executions || off < -within * executions || confidence < least)
		print_error("block %u: %.1f (%s), not %.1f\n", block, found, confidence_name(confidence),
			    executions);
	CHECK(off <= within * executions && off >= -within * executions);
	CHECK(confidence >= least);
}

static bool same(uint32_t a, uint32_t b)
{
	return frequency.class_of[a] == frequency.class_of[b];
}

TEST(both_ends_of_a_diamond_are_executed_equally_often)
{
	MAKE(4, { 0, 1 }, { 0, 2 }, { 1, 3 }, { 2, 3 });
	CHECK(same(0, 3));
	CHECK(!same(0, 1) && !same(0, 2) && !same(1, 2));
	frequency_done(&frequency);
}

TEST(a_loop_has_another_class_than_the_code_around_it)
{
	MAKE(5, { 0, 1 }, { 1, 2 }, { 2, 1 }, { 2, 3 }, { 3, 4 });
	CHECK(same(0, 3) && same(3, 4));
	CHECK(same(1, 2) && !same(0, 1));
	frequency_done(&frequency);
}

TEST(two_diamonds_in_a_row_have_one_class_around_them)
{
	MAKE(7, { 0, 1 }, { 0, 2 }, { 1, 3 }, { 2, 3 }, { 3, 4 }, { 3, 5 }, { 4, 6 }, { 5, 6 });
	CHECK(same(0, 3) && same(3, 6));
	CHECK(!same(1, 4) && !same(2, 5));
	frequency_done(&frequency);
}

TEST(an_infinite_loop_has_classes_too)
{
	MAKE(5, { 0, 1 }, { 1, 2 }, { 1, 3 }, { 2, 4 }, { 3, 4 }, { 4, 1 });
	CHECK(same(1, 4));
	CHECK(!same(2, 3) && !same(1, 2));
	frequency_done(&frequency);
}

TEST(unreachable_code_has_no_class)
{
	MAKE(3, { 0, 1 }, { 2, 1 });
	CHECK(frequency.class_of[2] == FREQUENCY_NONE);
	CHECK(same(0, 1));
	frequency_done(&frequency);
}

TEST(the_lowest_quotients_determine_a_class_if_others_stall)
{
	MAKE(6, { 0, 1 }, { 1, 2 }, { 2, 3 }, { 3, 4 }, { 4, 1 }, { 4, 5 });
	spend(0, 1, 1, 0);
	spend(1, 10000, 4, 0);
	spend(2, 10000, 4, 40); /* waits for memory */
	spend(3, 10000, 4, 0.4);
	spend(4, 10000, 4, 0);
	spend(5, 1, 1, 0);
	estimate();
	for (uint32_t i = 1; i <= 4; i++)
		check(i, 10000, 0.1, CONFIDENCE_HIGH);
	frequency_done(&frequency);
}

TEST(flow_is_conserved)
{
	/* Side 2 of the diamond waits and is alone in its class: its frequency follows from the rest. */
	MAKE(6, { 0, 1 }, { 1, 2 }, { 1, 3 }, { 2, 4 }, { 3, 4 }, { 4, 0 }, { 4, 5 });
	spend(0, 10000, 3, 0);
	spend(1, 10000, 3, 0);
	spend(2, 2500, 2, 100);
	spend(3, 7500, 2, 0);
	spend(4, 10000, 3, 0);
	spend(5, 0, 1, 0);
	estimate();
	check(0, 10000, 0.02, CONFIDENCE_HIGH);
	enum confidence confidence;
	double waiting = frequency_of(&frequency, 2, &confidence);
	/* A single block without independent evidence: the result is not reported as certain. */
	CHECK(confidence <= CONFIDENCE_MEDIUM);
	CHECK(waiting > 0);
	frequency_done(&frequency);
}

TEST(a_single_block_never_has_high_confidence_from_its_own_time)
{
	MAKE(3, { 0, 1 }, { 1, 1 }, { 1, 2 });
	spend(0, 0, 1, 0);
	spend(1, 100000, 4, 30);
	spend(2, 0, 1, 0);
	estimate();
	enum confidence confidence;
	frequency_of(&frequency, 1, &confidence);
	CHECK(confidence == CONFIDENCE_LOW);
	frequency_done(&frequency);
}

TEST(counts_of_some_blocks_give_those_of_all)
{
	static const double counts[] = { 10, -1, 30, -1, 100, -1 };

	MAKE(6, { 0, 1 }, { 1, 2 }, { 1, 3 }, { 2, 4 }, { 3, 4 }, { 4, 1 }, { 4, 5 });
	frequency_take(&frequency, counts, CONFIDENCE_EXACT);
	check(1, 100, 0, CONFIDENCE_EXACT);
	check(3, 70, 0, CONFIDENCE_EXACT);
	check(5, 10, 0, CONFIDENCE_EXACT);
	CHECK(frequency_of_edge(&frequency, 4, 1) == 90);
	CHECK(frequency_of_edge(&frequency, 1, 3) == 70);
	CHECK(frequency_of_edge(&frequency, 3, 1) == -1);
	frequency_done(&frequency);
}

TEST(proportions_and_time_give_executions)
{
	static const double counts[] = { -1, 4, 1, 3, 4, -1 };
	struct frequency_input input = { &cfg, cycles, samples, best };

	MAKE(6, { 0, 1 }, { 1, 2 }, { 1, 3 }, { 2, 4 }, { 3, 4 }, { 4, 1 }, { 4, 5 });
	spend(0, 1, 1, 0);
	spend(1, 40000, 2, 0);
	spend(2, 10000, 2, 50);
	spend(3, 30000, 2, 0);
	spend(4, 40000, 2, 0);
	spend(5, 1, 1, 0);
	frequency_scale(&frequency, &input, counts);
	check(2, 10000, 0.01, CONFIDENCE_MEDIUM);
	check(3, 30000, 0.01, CONFIDENCE_MEDIUM);
	frequency_done(&frequency);
}

TEST(without_samples_there_is_no_estimate)
{
	MAKE(3, { 0, 1 }, { 1, 1 }, { 1, 2 });
	for (uint32_t i = 0; i < 3; i++)
		spend(i, 0, 1, 0);
	estimate();
	enum confidence confidence;
	frequency_of(&frequency, 1, &confidence);
	CHECK(confidence == CONFIDENCE_NONE);
	frequency_done(&frequency);
}
