/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search: binary search in whatever is sorted.
 *
 *     size_t behind = search_first(i, rows.n, rows.at[i].start > vaddr);
 *     return behind ? &rows.at[behind - 1] : NULL; // the last that starts at vaddr or before it
 */
#pragma once

#include <stddef.h>

/*
 * The first i of [0, n) for which the condition holds, n if there is none. It must hold for every i behind
 * one for which it holds; it is looked at once for each i that is tried. `i` is the caller's name for it, and
 * known to the condition alone.
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
