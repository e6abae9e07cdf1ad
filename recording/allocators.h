/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allocators: functions that allocate and free memory, and which of their arguments is the size.
 */
#pragma once

#include "base/vec.h"
#include "collector/bpf/trace_layout.h"

struct allocators {
	VEC(char *) patterns;           /* as recording/chosen.h has them */
	VEC(struct trace_grant) grants; /* by pattern */
};

/*
 * Those of the C library, under their usual names, and what the user names besides: NAME, or NAME:N, where
 * the N-th argument says how many bytes it gives (1).
 */
void allocators_init(struct allocators *allocators, char *const *more, size_t n_more);
void allocators_done(struct allocators *allocators);
