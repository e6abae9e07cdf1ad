/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_tally: compares unwound stacks with true ones, and counts the results by outcome, module and place.
 */
#pragma once

#include "base/vec.h"
#include "unwinder/stack.h"

enum step_outcome {
	OUTCOME_EXACT,          /* the true stack, reported as complete */
	OUTCOME_TRUNCATED,      /* the inner part of the true stack, reported as incomplete */
	OUTCOME_WRONG,          /* wrong frames, reported as incomplete */
	OUTCOME_WRONG_COMPLETE, /* not the true stack, but reported as complete */
	OUTCOME_N,
};
/* JSON and report spelling. */
const char *step_outcome_name(enum step_outcome outcome);

struct step_truth {
	VEC(uint64_t) pcs;   /* innermost first */
	VEC(uint64_t) calls; /* the call that each frame belongs to; 0 = none: the outermost frame */
};

/* The outcome of one sample; ret_right: how many frames from the innermost one on are correct. */
enum step_outcome step_judge(const struct step_truth *truth, const struct stack *stack, size_t *ret_right);

struct tally_module {
	image_id image;
	uint64_t samples, by_outcome[OUTCOME_N];
};

/* Where walks failed: the last correct frame, and how they ended. */
struct tally_place {
	image_id image;
	uint64_t vaddr, count;
	bool is_return;
	enum step_outcome outcome;
	enum stack_end end;
};

struct tally {
	uint64_t samples, frames;
	uint64_t unjudged;    /* skipped: in the middle of a non-local jump */
	uint64_t overwritten; /* skipped: the program had overwritten a return address */
	uint64_t by_outcome[OUTCOME_N], by_end[STACK_END_N]; /* by_end: of those not exact */
	VEC(struct tally_module) modules;
	VEC(struct tally_place) places;
};

/* Counts the sample and returns its outcome. */
enum step_outcome tally_add(struct tally *tally, const struct step_truth *truth, const struct stack *stack);
/* Sorts modules by samples and places by frequency, largest first. */
void tally_sort(struct tally *tally);
void tally_done(struct tally *tally);
