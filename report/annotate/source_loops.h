/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_loops: the lines of the loops of a function, for the margin next to its source.
 */
#pragma once

#include "profile/profile.h"

struct loop_lines {
	uint32_t first, last;
	unsigned level; /* among loops that start on one line: the outermost is 0 */
};

typedef VEC(struct loop_lines) source_loops;

#define MAX_LOOP_MARKS 6

enum loop_mark { LOOP_FIRST, LOOP_INSIDE, LOOP_LAST };
/* In the margin of a line: one mark for each loop that contains it. */
struct loop_marks {
	uint8_t n, marks[MAX_LOOP_MARKS];
};

/*
 * Loops of the function's own code; for an inlined one (is_inlined: the map has no code), those written in
 * it, in all copies. A loop ends at the last line of its code according to the static map: the lines that
 * `struct --lines` shows in it.
 */
void source_loops_find(const struct profile *profile, const struct function_map *map, bool is_inlined,
		       source_loops *ret);
/* The marks of lines in rising order; of too many loops, those that were found first. ret: n, all zero. */
void source_loops_mark(const source_loops *loops, const uint32_t *lines, size_t n, struct loop_marks *ret);
