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
	VEC(uint64_t) last_calls; /* of the same stack, outermost first; none yet: nothing is counted */
	uint64_t n_new;           /* frames whose call the thread's last sample had not */
	uint64_t n_found;         /* ... and that were said to be */
	uint64_t n_wrong;         /* said to be new, and were not */
};

/* A stack that is the true one. */
void step_calls_add(struct step_calls *calls, const struct step_truth *truth, const struct stack *stack);
/* Another program runs now. */
void step_calls_forget(struct step_calls *calls);
void step_calls_done(struct step_calls *calls);
