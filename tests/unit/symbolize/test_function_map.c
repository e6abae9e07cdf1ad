/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/function_map.h"

#include "tests/test.h"

enum { MAIN = 1, OUTER, INNER, FILE_A, FILE_B };

/* 0..10 main, 10..20 outer, 20..30 inner (in outer), 30..40 outer again, 40.. main */
static struct function_map sample_map(void)
{
	struct function_map map = {
		.name = MAIN, .decl_file = FILE_A, .decl_line = 3, .vaddr = 0x1000, .size = 64
	};

	vec_push(&map.inlines, (struct inline_call){ INLINE_NONE, OUTER, 0, FILE_B, 7, FILE_A, 5, 9 });
	vec_push(&map.inlines, (struct inline_call){ 0, INNER, 0, FILE_B, 2, FILE_B, 8, 1 });
	vec_push(&map.ranges, (struct inline_range){ 10, 20, 0 });
	vec_push(&map.ranges, (struct inline_range){ 20, 30, 1 });
	vec_push(&map.ranges, (struct inline_range){ 30, 40, 0 });
	vec_push(&map.lines, (struct line_row){ 4, FILE_A, 4, 1, 1, 0 });
	vec_push(&map.lines, (struct line_row){ 20, FILE_B, 3, 2, 1, 0 });
	vec_push(&map.lines, (struct line_row){ 40, FILE_A, 6, 3, 1, 0 });
	return map;
}

TEST(locate_returns_the_chain_innermost_first)
{
	struct function_map map = sample_map();
	struct location chain[4];

	CHECK_EQ(function_map_locate(&map, 29, chain, 4), 3);
	CHECK_EQ(chain[0].function, INNER);
	CHECK_EQ(chain[0].line, 3);
	CHECK(chain[0].is_inlined);
	CHECK_EQ(chain[1].function, OUTER);
	CHECK_EQ(chain[1].line, 8);
	CHECK_EQ(chain[2].function, MAIN);
	CHECK_EQ(chain[2].line, 5);
	CHECK_EQ(chain[2].decl_line, 3);
	CHECK(!chain[2].is_inlined);
	function_map_done(&map);
}

TEST(locate_before_the_first_row_knows_the_function_but_no_line)
{
	struct function_map map = sample_map();
	struct location chain[4];

	CHECK_EQ(function_map_locate(&map, 3, chain, 4), 1);
	CHECK_EQ(chain[0].function, MAIN);
	CHECK_EQ(chain[0].line, 0);
	function_map_done(&map);
}

TEST(locate_ends_a_range_before_its_end)
{
	struct function_map map = sample_map();

	CHECK_EQ(function_map_inline(&map, 39), 0);
	CHECK_EQ(function_map_inline(&map, 40), INLINE_NONE);
	CHECK_EQ(function_map_line(&map, 1000)->line, 6);
	function_map_done(&map);
}

TEST(locate_survives_calls_that_are_their_own_parents)
{
	struct function_map map = sample_map();
	struct location chain[LOCATION_MAX_DEPTH];

	map.inlines.at[0].parent = 1;
	CHECK_EQ(function_map_locate(&map, 25, chain, LOCATION_MAX_DEPTH), 3);
	function_map_done(&map);
}
