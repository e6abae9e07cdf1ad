/* SPDX-License-Identifier: Apache-2.0 */
#include "structure/loops.h"

#include <stdlib.h>

#include "tests/test.h"

#define MAX_EDGES 4096

/* A graph from pairs (from, to), ended by -1. */
struct made {
	struct loop_graph graph;
	uint32_t first[512], successors[MAX_EDGES];
};

static void make(struct made *made, uint32_t n, const int (*edges)[2], size_t n_edges)
{
	uint32_t at = 0;

	for (uint32_t b = 0; b < n; b++) {
		made->first[b] = at;
		for (size_t e = 0; e < n_edges; e++)
			if (edges[e][0] == (int)b)
				made->successors[at++] = (uint32_t)edges[e][1];
	}
	made->first[n] = at;
	made->graph = (struct loop_graph){ n, 0, made->first, made->successors };
}

#define FOREST(n, ...)                                           \
	static const int edges[][2] = { __VA_ARGS__ };           \
	struct made made;                                        \
	struct loop_forest forest = { 0 };                       \
	make(&made, n, edges, sizeof(edges) / sizeof(edges[0])); \
	loops_find(&made.graph, &forest)

TEST(straight_code_has_no_loop)
{
	FOREST(3, { 0, 1 }, { 1, 2 });
	CHECK_EQ(forest.loops.n, 0);
	CHECK_EQ(forest.innermost.at[1], LOOP_NONE);
	loop_forest_done(&forest);
}

TEST(a_block_that_jumps_to_itself_is_a_loop)
{
	FOREST(3, { 0, 1 }, { 1, 1 }, { 1, 2 });
	CHECK_EQ(forest.loops.n, 1);
	CHECK_EQ(forest.loops.at[0].header, 1);
	CHECK_EQ(forest.innermost.at[1], 0);
	CHECK_EQ(forest.innermost.at[2], LOOP_NONE);
	loop_forest_done(&forest);
}

TEST(loops_nest)
{
	/* 1 { 2 { 3 } 4 } 5 */
	FOREST(6, { 0, 1 }, { 1, 2 }, { 2, 3 }, { 3, 2 }, { 3, 4 }, { 4, 1 }, { 4, 5 });
	CHECK_EQ(forest.loops.n, 2);
	CHECK_EQ(forest.loops.at[0].header, 1);
	CHECK_EQ(forest.loops.at[1].header, 2);
	CHECK_EQ(forest.loops.at[1].parent, 0);
	CHECK_EQ(forest.loops.at[1].depth, 2);
	CHECK_EQ(forest.innermost.at[3], 1);
	CHECK_EQ(forest.innermost.at[4], 0);
	CHECK_EQ(forest.innermost.at[5], LOOP_NONE);
	CHECK(loops_contain(&forest, 0, 3));
	CHECK(!loops_contain(&forest, 1, 4));
	loop_forest_done(&forest);
}

TEST(two_back_edges_to_one_header_are_one_loop)
{
	FOREST(5, { 0, 1 }, { 1, 2 }, { 2, 1 }, { 1, 3 }, { 3, 1 }, { 1, 4 });
	CHECK_EQ(forest.loops.n, 1);
	CHECK_EQ(forest.innermost.at[2], 0);
	CHECK_EQ(forest.innermost.at[3], 0);
	loop_forest_done(&forest);
}

TEST(a_region_with_two_entries_is_irreducible)
{
	/* 1 <-> 2, both entered from 0 */
	FOREST(4, { 0, 1 }, { 0, 2 }, { 1, 2 }, { 2, 1 }, { 1, 3 });
	CHECK_EQ(forest.loops.n, 1);
	CHECK(forest.loops.at[0].is_irreducible);
	CHECK_EQ(forest.innermost.at[1], 0);
	CHECK_EQ(forest.innermost.at[2], 0);
	loop_forest_done(&forest);
}

TEST(an_irreducible_region_inside_a_loop_stays_inside)
{
	/* 1 { (2 <-> 3 entered at both) 4 } */
	FOREST(6, { 0, 1 }, { 1, 2 }, { 1, 3 }, { 2, 3 }, { 3, 2 }, { 3, 4 }, { 4, 1 }, { 4, 5 });
	CHECK_EQ(forest.loops.n, 2);
	CHECK_EQ(forest.loops.at[0].header, 1);
	CHECK(!forest.loops.at[0].is_irreducible);
	CHECK(forest.loops.at[1].is_irreducible);
	CHECK_EQ(forest.loops.at[1].parent, 0);
	CHECK_EQ(forest.innermost.at[5], LOOP_NONE);
	loop_forest_done(&forest);
}

TEST(a_cycle_the_entry_does_not_reach_is_found)
{
	FOREST(4, { 0, 1 }, { 2, 3 }, { 3, 2 });
	CHECK_EQ(forest.loops.n, 1);
	CHECK_EQ(forest.innermost.at[3], 0);
	loop_forest_done(&forest);
}

/* reach[a][b]: b can be reached from a by at least one edge. */
static void closure(const struct loop_graph *graph, bool reach[64][64])
{
	memset(reach, 0, 64 * 64);
	for (uint32_t b = 0; b < graph->n_blocks; b++)
		for (uint32_t e = graph->first[b]; e < graph->first[b + 1]; e++)
			reach[b][graph->successors[e]] = true;
	for (uint32_t k = 0; k < graph->n_blocks; k++)
		for (uint32_t i = 0; i < graph->n_blocks; i++)
			for (uint32_t j = 0; reach[i][k] && j < graph->n_blocks; j++)
				reach[i][j] |= reach[k][j];
}

/*
 * For any graph: a block is in a loop exactly if it is on a cycle, the blocks of an outermost loop are
 * exactly one strongly connected component, and parents precede children.
 */
TEST(outermost_loops_are_the_strongly_connected_components)
{
	struct made made;
	struct loop_forest forest = { 0 };
	bool reach[64][64];

	srandom(7);
	for (int round = 0; round < 500; round++) {
		uint32_t n = 2 + (uint32_t)random() % 40;
		int edges[200][2];
		size_t n_edges = (size_t)random() % 120;
		for (size_t e = 0; e < n_edges; e++) {
			edges[e][0] = (int)((uint32_t)random() % n);
			edges[e][1] = (int)((uint32_t)random() % n);
		}
		make(&made, n, (const int(*)[2])edges, n_edges);
		loops_find(&made.graph, &forest);
		closure(&made.graph, reach);
		uint32_t outer[64];
		for (uint32_t b = 0; b < n; b++) {
			outer[b] = forest.innermost.at[b];
			while (outer[b] != LOOP_NONE && forest.loops.at[outer[b]].parent != LOOP_NONE) {
				CHECK(forest.loops.at[outer[b]].parent < outer[b]);
				outer[b] = forest.loops.at[outer[b]].parent;
			}
			CHECK_EQ(outer[b] != LOOP_NONE, reach[b][b]);
		}
		for (uint32_t a = 0; a < n; a++)
			for (uint32_t b = 0; b < n; b++)
				if (a != b && outer[a] != LOOP_NONE)
					CHECK_EQ(outer[a] == outer[b], reach[a][b] && reach[b][a]);
	}
	loop_forest_done(&forest);
}

TEST(ten_thousand_nested_loops_are_found_without_recursion)
{
	uint32_t n = 10001;
	uint32_t *first = malloc((n + 1) * sizeof(*first)), *successors = malloc(2 * n * sizeof(*successors));
	struct loop_forest forest = { 0 };
	uint32_t at = 0;

	for (uint32_t b = 0; b < n; b++) {
		first[b] = at;
		if (b + 1 < n)
			successors[at++] = b + 1;
		else
			for (uint32_t back = 1; back < n; back += 1)
				if (at < 2 * n)
					successors[at++] = back;
	}
	first[n] = at;
	struct loop_graph graph = { n, 0, first, successors };
	loops_find(&graph, &forest);
	CHECK_EQ(forest.loops.n, n - 1);
	CHECK_EQ(forest.loops.at[forest.loops.n - 1].depth, n - 1);
	loop_forest_done(&forest);
	free(first);
	free(successors);
}
