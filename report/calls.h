/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls: how long the calls of a traced function took, by call path.
 */
#pragma once

#include "base/vec.h"
#include "structure/scope.h"

/* Percentiles are right to a thirty-second part: calls are counted by classes (base/log_scale.h). */
struct call_row {
	uint32_t scope; /* the function, where it was called */
	uint64_t calls, sum, least, most;
	uint64_t p50, p90, p99;
};
typedef VEC(struct call_row) call_rows;

/* The longest sum first. The tree has durations. is_kept: by thread; NULL = all. */
void call_rows_find(const struct scope_tree *tree, const bool *is_kept, call_rows *ret);
