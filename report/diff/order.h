/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order: matches things that follow each other in a function (loops, calls of another function) between two
 * versions of it. Lines change when code is edited; the order rarely does.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define ORDER_NONE UINT32_MAX

struct order_place {
	uint32_t start; /* lines from the start of the function, or bytes */
	uint32_t end;   /* lines to the end of the function; ORDER_NONE = not known */
};

/*
 * Matches `ours` with the known ones: ret[i] is an index, ORDER_NONE = none. If all of ours are at places of
 * known ones, by place; otherwise, if there are as many, by order; otherwise first those at the same distance
 * from the start, then those at the same distance from the end, then those that are only a few lines apart.
 */
void order_match(const struct order_place *known, size_t n, const struct order_place *ours, size_t m,
		 uint32_t *ret);
