/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allocators: functions that allocate and free memory, and which of their arguments is the size.
 */
#pragma once

#include "base/vec.h"
#include "collector/bpf/trace_layout.h"

struct allocators {
	VEC(char *) patterns;           /* as in recording/chosen.h */
	VEC(struct trace_grant) grants; /* by pattern */
};

/*
 * Those of the C library, under their usual names, and those that the user adds: NAME, or NAME:N, where the
 * N-th argument is the size in bytes (default 1).
 */
void allocators_init(struct allocators *allocators, char *const *more, size_t n_more);
void allocators_done(struct allocators *allocators);
