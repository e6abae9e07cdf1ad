/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coverage: which instructions of a window of text the analysed functions reach. Kept as evidence
 * (EVIDENCE_COVERED), so that functions are searched only in code that no known function reaches.
 */
#pragma once

#include "base/hash.h"
#include "binary/flow/flow.h"
#include "binary/functions/function_private.h"

/* What one function reaches. */
struct coverage_reach {
	uint32_t first, n; /* in coverage.ranges */
	uint64_t end;      /* after the last instruction reached in its own interval */
};

struct coverage {
	struct functions *functions;
	struct vaddr_range window;
	VEC(struct vaddr_range) ranges;
	VEC(struct coverage_reach) reaches;
	struct map by_start; /* start of a function -> its last reach */
};

void coverage_init(struct coverage *coverage, struct functions *functions, struct vaddr_range window);
void coverage_done(struct coverage *coverage);
/* The functions that reach into the window: [*ret_first, *ret_end) of the index. */
void coverage_functions(const struct coverage *coverage, size_t *ret_first, size_t *ret_end);
/* Records what an analysed function reaches; coverage_apply marks it as covered. */
void coverage_note(struct coverage *coverage, const struct flow *flow);
/* Marks as covered what a suspected function reaches. */
void coverage_add(struct coverage *coverage, const struct flow *flow);
/* Recomputes the coverage from what the functions of the current index reach; functions whose end is inferred
 * then end where their code does. */
void coverage_apply(struct coverage *coverage);
