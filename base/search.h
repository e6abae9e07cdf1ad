/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search: binary search in any sorted sequence.
 *
 *     size_t behind = search_first(i, rows.n, rows.at[i].start > vaddr);
 *     return behind ? &rows.at[behind - 1] : NULL; // the last that starts at vaddr or before it
 */
#pragma once

#include <stddef.h>

/*
 * The first i in [0, n) for which the condition holds, n if there is none. If it holds for some i, it must
 * hold for all larger ones; it is evaluated once for each i that is tried. `i` is the name of the variable,
 * which is visible only in the condition.
 */
#define search_first(i, n, condition) search_first_in(i, 0, n, condition)

/* The same in [from, to). */
#define search_first_in(i, from, to, condition)                  \
	({                                                       \
		size_t first_ = (from), end_ = (to);             \
		while (first_ < end_) {                          \
			size_t i = first_ + (end_ - first_) / 2; \
			if (condition)                           \
				end_ = i;                        \
			else                                     \
				first_ = i + 1;                  \
		}                                                \
		first_;                                          \
	})
