/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/dwarf/inlines.h"

#include "tests/test.h"

static uint32_t add_call(struct raw_function *f, uint32_t parent)
{
	vec_push(&f->calls,
		 (struct raw_call){ .parent = parent,
				    .depth = parent == INLINE_NONE ? 1 : f->calls.at[parent].depth + 1 });
	return (uint32_t)f->calls.n - 1;
}

static void add_range(struct raw_function *f, uint32_t call, uint64_t start, uint64_t end)
{
	vec_push(&f->call_ranges, (struct raw_range){ start, end, call });
}

static void check_ranges(const struct raw_function *f, uint64_t start, uint64_t end, const char *want)
{
	struct function_map map = { 0 };
	char got[256] = "";

	inlines_flatten(f, start, end, &map);
	for (size_t i = 0; i < map.ranges.n; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%u-%u:%u", i ? " " : "",
			 map.ranges.at[i].start, map.ranges.at[i].end, map.ranges.at[i].call);
	CHECK_STR(got, want);
	function_map_done(&map);
}

static void raw_done(struct raw_function *f)
{
	vec_done(&f->calls);
	vec_done(&f->call_ranges);
}

TEST(flatten_assigns_each_address_to_its_innermost_call)
{
	struct raw_function f = { 0 };
	uint32_t outer = add_call(&f, INLINE_NONE), inner = add_call(&f, outer),
		 other = add_call(&f, INLINE_NONE);

	add_range(&f, outer, 110, 140);
	add_range(&f, inner, 120, 130);
	add_range(&f, other, 140, 150);
	check_ranges(&f, 100, 200, "10-20:0 20-30:1 30-40:0 40-50:2");
	raw_done(&f);
}

TEST(flatten_clips_to_the_part)
{
	struct raw_function f = { 0 };
	uint32_t call = add_call(&f, INLINE_NONE);

	add_range(&f, call, 50, 120);
	add_range(&f, call, 190, 300);
	check_ranges(&f, 100, 200, "0-20:0 90-100:0");
	check_ranges(&f, 130, 180, "");
	raw_done(&f);
}

TEST(flatten_joins_neighbours_of_one_call)
{
	struct raw_function f = { 0 };
	uint32_t call = add_call(&f, INLINE_NONE);

	add_range(&f, call, 110, 120);
	add_range(&f, call, 120, 130);
	check_ranges(&f, 100, 200, "10-30:0");
	raw_done(&f);
}

TEST(flatten_accepts_a_child_that_extends_beyond_its_parent)
{
	struct raw_function f = { 0 };
	uint32_t outer = add_call(&f, INLINE_NONE), inner = add_call(&f, outer);

	add_range(&f, outer, 110, 120);
	add_range(&f, inner, 115, 130);
	check_ranges(&f, 100, 200, "10-15:0 15-30:1");
	raw_done(&f);
}

TEST(flatten_never_gives_overlapping_ranges)
{
	struct raw_function f = { 0 };
	struct function_map map = { 0 };
	uint32_t seed = 1;

	for (uint32_t i = 0; i < 600; i++)
		add_call(&f, i ? i - 1 : INLINE_NONE);
	for (uint32_t i = 0; i < 3000; i++) {
		seed = seed * 1103515245 + 12345;
		uint64_t start = seed >> 8 & 0xfff, len = seed >> 20 & 0x3f;
		add_range(&f, seed % 600, start, start + len);
	}
	inlines_flatten(&f, 16, 4000, &map);
	CHECK(map.ranges.n > 100);
	for (size_t i = 0; i < map.ranges.n; i++) {
		CHECK(map.ranges.at[i].start < map.ranges.at[i].end);
		CHECK(map.ranges.at[i].end <= 4000 - 16);
		CHECK(i == 0 || map.ranges.at[i - 1].end <= map.ranges.at[i].start);
	}
	function_map_done(&map);
	raw_done(&f);
}
