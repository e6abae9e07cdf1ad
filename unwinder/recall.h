/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recall: a thread's previous stack, so that only the changed part of the next one is unwound.
 *
 * A walk from some frame outwards depends only on that frame's registers and the words it reads, and not on
 * all of them: most restored registers are never needed. So a recall stores, every few frames, the registers
 * and which of them were needed (a mark), and the words that were needed. When a new walk reaches a mark with
 * the same registers, and these words are unchanged, the rest of the stack has exactly the same frames. Words
 * in pages with the same hash are not compared one by one.
 *
 * Other registers and words distinguish one call of a function from the next (activations.h). If only these
 * have changed, the frames are the same, but some of the calls are new.
 *
 * Only stacks of at least RECALL_LEAST frames are stored: unwinding shorter ones takes no longer than storing
 * them.
 */
#pragma once

#include "base/hash.h"
#include "base/vec.h"
#include "collector/event.h"
#include "recipes/recipe.h"
#include "unwinder/cursor.h"
#include "unwinder/stack.h"

#define RECALL_LEAST 48
#define RECALL_EVERY 8 /* frames from one mark to the next */

/* A frame to be left, with everything that the rest of the walk depends on, except for the cursor's data. */
struct recall_state {
	uint64_t pc;
	bool is_return, is_interrupted, has_guessed;
	bool is_told; /* registers distinguish calls of the rest */
};

/* The conditions under which a stored stack is valid: the code is unchanged. */
struct recall_scope {
	uint64_t generation; /* of the address space; 0 = there is none */
	uint64_t epoch;      /* of JIT code, if there was any */
};

struct recalls;
struct recalls *recalls_new(const struct isa *isa);
void recalls_drop_all(struct recalls *recalls);
void recalls_free(struct recalls *recalls);
/* The thread has ended. */
void recalls_forget(struct recalls *recalls, pid_t tid);

/*
 * A walk of the thread's stack begins: the cursor is at the innermost frame. False if the last stack was
 * short or there was none: the walk need not call recalls_meet. True: its accesses are recorded.
 */
bool recalls_begin(struct recalls *recalls, pid_t tid, struct recall_scope scope, struct cursor *cursor);
/*
 * The walk has reached a frame; `stack` has all frames before it. True: the rest of the last stack was
 * appended, its end is set, and the walk is over. ret_steps: the steps by each witness in that part.
 */
bool recalls_meet(struct recalls *recalls, const struct recall_state *state, struct stack *stack,
		  uint64_t ret_steps[WITNESS_N]);
/* The walk is over; stack->end must be set. Sets what the stack shares with the last one. has_jit: of the
 * part that was walked. */
void recalls_end(struct recalls *recalls, const struct sample *sample, bool has_jit, struct stack *stack);
