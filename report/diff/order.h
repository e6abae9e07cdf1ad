/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order: things that stand one after the other in a function (loops, calls of another function), from one
 * version of it to the next. Lines change when code is edited, order rarely does.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define ORDER_NONE UINT32_MAX

struct order_place {
	uint32_t start; /* lines from the function's first one, or bytes */
	uint32_t end;   /* lines to its last one; ORDER_NONE = not known */
};

/*
 * Which of `ours` is which of the known ones: ret[i] is an index, ORDER_NONE = none. If all of ours are where
 * known ones are, by place; else if there are as many, by order; else those in the same place from the start,
 * of the rest those in the same place from the end,
 * and of the rest those that are a few lines apart.
 */
void order_match(const struct order_place *known, size_t n, const struct order_place *ours, size_t m,
		 uint32_t *ret);
