/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of source with a function, and their margins. */
#include "base/cleanup.h"
#include "report/annotate/source_loops.h"
#include "report/annotate/source_range.h"
#include "tests/test.h"

#define LAST UINT32_MAX

struct world {
	struct function_map map;
	struct annotation annotation;
	uint64_t some[1], none[1];
	struct source_range range;
};

static void world_init(struct world *w, uint32_t first, uint32_t last)
{
	*w = (struct world){ .map = { .decl_line = first, .end_line = last }, .some = { 1 } };
	w->annotation.map = &w->map;
}

static void world_cost(struct world *w, uint32_t line, bool has_cost)
{
	vec_push(&w->annotation.lines,
		 ((struct annotated_line){
			 .line = line, .self = has_cost ? w->some : w->none, .calls = w->none }));
}

static void world_find(struct world *w, bool all)
{
	source_range_done(&w->range);
	source_range_find(&w->annotation, 0, all, 0, &w->range);
}

static void world_done(struct world *w)
{
	vec_done(&w->annotation.lines);
	source_range_done(&w->range);
}
#define WORLD CLEANUP(world_done) struct world

TEST(source_range_has_the_declaration_and_lines_near_costs)
{
	static const uint32_t want[] = { 10, 27, 28, 29, 30, 31, 32, 33, 34 };
	WORLD w;

	world_init(&w, 10, 50);
	world_cost(&w, 20, false);
	world_cost(&w, 30, true);
	world_cost(&w, 31, true);
	world_find(&w, false);
	CHECK_EQ(w.range.first, 10);
	CHECK_EQ(w.range.last, 50);
	CHECK_EQ(w.range.shown.n, ARRAY_LEN(want));
	for (size_t i = 0; i < ARRAY_LEN(want) && i < w.range.shown.n; i++)
		CHECK_EQ(w.range.shown.at[i], want[i]);
	world_find(&w, true);
	CHECK_EQ(w.range.shown.n, 41);
}

TEST(source_range_does_not_count_to_the_last_number)
{
	WORLD w;

	world_init(&w, 1, LAST);
	world_cost(&w, LAST / 2, true);
	world_cost(&w, LAST, true);
	world_find(&w, false);
	CHECK_EQ(w.range.last, LAST);
	CHECK_EQ(w.range.shown.n, 1 + 7 + 4);
	CHECK_EQ(w.range.shown.at[11], LAST);
	world_find(&w, true);
	CHECK(w.range.shown.n < 2000000);
	CHECK_EQ(w.range.shown.at[w.range.shown.n - 1], LAST);
}

/* The first MAX_LOOP_MARKS loops that contain the line, one after the other. */
static void check_marks(const source_loops *loops, uint32_t line, const struct loop_marks *marks)
{
	unsigned n = 0;

	for (size_t i = 0; i < loops->n && n < MAX_LOOP_MARKS; i++) {
		const struct loop_lines *loop = &loops->at[i];
		if (line < loop->first || line > loop->last)
			continue;
		unsigned want = line == loop->first  ? LOOP_FIRST
				: line == loop->last ? LOOP_LAST
						     : LOOP_INSIDE;
		CHECK(n < marks->n);
		CHECK_EQ(marks->marks[n], want);
		n++;
	}
	CHECK_EQ(marks->n, n);
}

TEST(source_loops_mark_as_if_every_line_were_compared_with_every_loop)
{
	enum { N = 60 };
	uint32_t lines[N], seed = 1;

	for (unsigned run = 0; run < 200; run++) {
		source_loops loops = { 0 };
		struct loop_marks marks[N] = { 0 };
		for (uint32_t i = 0, line = 5; i < N; i++) {
			seed = seed * 1103515245 + 12345;
			lines[i] = line += seed >> 28 ? 1 : 6;
		}
		for (unsigned i = 0; i < run % 40; i++) {
			seed = seed * 1103515245 + 12345;
			uint32_t first = seed >> 16 & 63;
			vec_push(&loops, ((struct loop_lines){ first, first + (seed >> 24 & 31), 0 }));
		}
		source_loops_mark(&loops, lines, N, marks);
		for (size_t i = 0; i < N; i++)
			check_marks(&loops, lines[i], &marks[i]);
		vec_done(&loops);
	}
}
