/* SPDX-License-Identifier: Apache-2.0 */
#include "structure/ways.h"

#include <errno.h>

#include "tests/test.h"

#define MAX 4096

/* A graph from pairs (from, to); the first of two edges of a block is the taken one. */
static struct cfg_block blocks[MAX];
static struct cfg_edge edges[2 * MAX];
static struct cfg cfg;
static struct ways ways;
static struct diag diag;

static void make(uint32_t n, const int (*pairs)[2], size_t n_pairs)
{
	uint32_t at = 0;

	for (uint32_t b = 0; b < n; b++) {
		blocks[b] = (struct cfg_block){ .start = 0x100 + b, .first_edge = at, .n_insns = 1 };
		for (size_t e = 0; e < n_pairs; e++)
			if (pairs[e][0] == (int)b)
				edges[at++] = (struct cfg_edge){ (uint32_t)pairs[e][1], (uint8_t)EDGE_TAKEN };
		blocks[b].n_edges = at - blocks[b].first_edge;
		blocks[b].end_kind = blocks[b].n_edges == 0   ? BLOCK_RETURNS
				     : blocks[b].n_edges == 1 ? BLOCK_RUNS_ON
				     : blocks[b].n_edges == 2 ? BLOCK_BRANCHES
							      : BLOCK_SWITCHES;
		if (blocks[b].n_edges == 2)
			edges[at - 1].kind = EDGE_NOT_TAKEN;
	}
	cfg = (struct cfg){ .blocks = blocks, .edges = edges, .n_blocks = n, .n_edges = at };
}

#define MAKE(n, ...)                                   \
	static const int pairs[][2] = { __VA_ARGS__ }; \
	make(n, pairs, sizeof(pairs) / sizeof(pairs[0]))

/* Every number identifies a different path, and the edges of that path add up to the number. */
static void check_numbers(void)
{
	struct way way = { 0 };

	for (uint32_t number = 0; number < ways.n; number++) {
		CHECK(ways_find(&ways, number, &way));
		uint32_t sum = ways.blocks[way.blocks.at[0]].start;
		for (size_t i = 0; i < way.blocks.n; i++) {
			const struct way_block *at = &ways.blocks[way.blocks.at[i]];
			uint32_t to = i + 1 < way.blocks.n ? way.blocks.at[i + 1] : way.to;
			for (uint32_t k = 0; k < at->n_edges; k++) {
				const struct way_edge *edge = &ways.edges.at[at->first_edge + k];
				if (edge->to == to && edge->is_cut == (i + 1 == way.blocks.n)) {
					sum += edge->add;
					break;
				}
			}
		}
		CHECK_EQ(sum, number);
	}
	CHECK(!ways_find(&ways, ways.n, &way));
	way_done(&way);
}

TEST(ways_straight_code_has_one)
{
	MAKE(3, { 0, 1 }, { 1, 2 });
	CHECK_EQ(ways_init(&ways, &cfg, &diag), 0);
	CHECK_EQ(ways.n, 1);
	check_numbers();
	ways_done(&ways);
}

TEST(ways_two_branches_in_a_row_have_four)
{
	MAKE(7, { 0, 1 }, { 0, 2 }, { 1, 3 }, { 2, 3 }, { 3, 4 }, { 3, 5 }, { 4, 6 }, { 5, 6 });
	CHECK_EQ(ways_init(&ways, &cfg, &diag), 0);
	CHECK_EQ(ways.n, 4);
	check_numbers();
	ways_done(&ways);
}

TEST(ways_of_a_loop_begin_and_end_at_its_header)
{
	/* 0, 1 { 2 | 3, 4 } 5 */
	MAKE(6, { 0, 1 }, { 1, 2 }, { 1, 3 }, { 2, 4 }, { 3, 4 }, { 4, 1 }, { 4, 5 });
	CHECK_EQ(ways_init(&ways, &cfg, &diag), 0);
	CHECK_EQ(ways.blocks[0].n_ways, 4); /* two paths, each to the back edge or the exit */
	CHECK_EQ(ways.blocks[1].start, 4);
	CHECK_EQ(ways.n, 8);
	check_numbers();
	ways_done(&ways);
}

TEST(ways_a_switch_has_one_for_each_target)
{
	MAKE(6, { 0, 1 }, { 0, 2 }, { 0, 3 }, { 0, 4 }, { 1, 5 }, { 2, 5 }, { 3, 5 });
	CHECK_EQ(ways_init(&ways, &cfg, &diag), 0);
	CHECK_EQ(ways.n, 4);
	check_numbers();
	ways_done(&ways);
}

TEST(ways_of_a_loop_with_two_headers_are_numbered)
{
	MAKE(5, { 0, 1 }, { 0, 2 }, { 1, 2 }, { 2, 1 }, { 2, 3 }, { 3, 4 });
	CHECK_EQ(ways_init(&ways, &cfg, &diag), 0);
	check_numbers();
	ways_done(&ways);
}

TEST(ways_are_cut_if_they_are_too_many)
{
	/* 40 branches in a row: 2^40 paths. */
	static int pairs[160][2];

	for (int i = 0; i < 40; i++) {
		const int four[4][2] = { { 3 * i, 3 * i + 1 },
					 { 3 * i, 3 * i + 2 },
					 { 3 * i + 1, 3 * i + 3 },
					 { 3 * i + 2, 3 * i + 3 } };
		memcpy(pairs[4 * i], four, sizeof(four));
	}
	make(121, pairs, 160);
	CHECK_EQ(ways_init(&ways, &cfg, &diag), 0);
	CHECK(ways.n_cuts > 0);
	CHECK(ways.n <= 3 * WAYS_MAX);
	ways_done(&ways);
}

TEST(ways_a_jump_with_unknown_targets_is_refused)
{
	MAKE(3, { 0, 1 }, { 0, 2 });
	blocks[1].end_kind = BLOCK_UNRESOLVED;
	CHECK_EQ(ways_init(&ways, &cfg, &diag), -ENOTSUP);
	CHECK(strstr(diag.why, "0x0") != NULL);
}

/* It may be a call of another function in its last place; not if there is code that nothing else leads to. */
TEST(ways_a_jump_with_unknown_targets_may_leave_the_function)
{
	MAKE(4, { 0, 1 }, { 0, 2 });
	blocks[1].end_kind = BLOCK_TAIL_CALLS;
	CHECK_EQ(ways_init(&ways, &cfg, &diag), 0);
	CHECK_EQ(ways.n, 2);
	ways_done(&ways);
	blocks[3].is_guess = true;
	CHECK_EQ(ways_init(&ways, &cfg, &diag), -ENOTSUP);
	blocks[1].tail_target = 0x500;
	CHECK_EQ(ways_init(&ways, &cfg, &diag), 0);
	ways_done(&ways);
}

TEST(ways_a_branch_may_leave_the_function)
{
	MAKE(2, { 0, 1 });
	blocks[0].end_kind = BLOCK_BRANCHES;
	edges[0].kind = EDGE_NOT_TAKEN;
	CHECK_EQ(ways_init(&ways, &cfg, &diag), 0);
	CHECK_EQ(ways.n, 2);
	CHECK_EQ(ways.edges.at[1].kind, EDGE_TAKEN);
	CHECK_EQ(ways.edges.at[1].to, WAYS_NONE);
	ways_done(&ways);
}
