/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls: durations of the calls of a traced function, by call path.
 */
#pragma once

#include "base/vec.h"
#include "structure/scope.h"

/* Percentiles are accurate to 1/32: calls are counted in classes (base/log_scale.h). */
struct call_row {
	uint32_t scope; /* the function, in its calling context */
	uint64_t calls, sum, least, most;
	uint64_t p50, p90, p99;
};
typedef VEC(struct call_row) call_rows;

/* The largest sum first. The tree must have durations. is_kept: by thread; NULL = all. */
void call_rows_find(const struct scope_tree *tree, const bool *is_kept, call_rows *ret);
