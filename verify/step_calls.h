/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_calls: compares the calls recognised as new with the actual calls.
 */
#pragma once

#include "unwinder/activations.h"
#include "verify/step_tally.h"

/* Start with zeros. */
struct step_calls {
	struct activations last;
	VEC(uint64_t) last_calls; /* of the same stack, outermost first; empty: nothing is counted yet */
	uint64_t n_new;           /* frames whose call was not in the thread's last sample */
	uint64_t n_found;         /* ... and were recognised as new */
	uint64_t n_wrong;         /* wrongly recognised as new */
};

/* Adds a stack that was unwound correctly. */
void step_calls_add(struct step_calls *calls, const struct step_truth *truth, const struct stack *stack);
/* To be called after an exec. */
void step_calls_forget(struct step_calls *calls);
void step_calls_done(struct step_calls *calls);
