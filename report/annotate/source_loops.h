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

/*
 * Loops of the function's own code; for an inlined one (is_inlined: the map has no code), those written in
 * it, in all copies. A loop ends at the last line of its code according to the static map: the lines that
 * `struct --lines` shows in it.
 */
void source_loops_find(const struct profile *profile, const struct function_map *map, bool is_inlined,
		       source_loops *ret);
