/* SPDX-License-Identifier: Apache-2.0 */
/*
 * activations: which frames of a stack are calls that the thread's last stack did not show.
 *
 * Two stacks of a thread often show the same functions at the same addresses. They are different calls for
 * sure if the frame's CFA differs, or if its caller is not where it was: at another return address, or with
 * another value in a register that it has saved, and so uses itself (a loop's counter is often there). A call
 * that differs makes all calls inside of it different. Where none of this can be seen a call counts as the
 * same: what is found is a lower bound.
 */
#pragma once

#include "base/vec.h"
#include "unwinder/stack.h"

/* What is remembered of a frame. */
struct activation {
	uint64_t cfa, pc, held; /* as in struct frame; cfa 0 = it may be any */
};

/* A thread's last stack; start with zeros. */
struct activations {
	uint64_t base;                 /* CFA of its outermost frame: another one is a coroutine's */
	uint64_t serial;               /* as in struct stack */
	VEC(struct activation) frames; /* outermost first */
};

/* Can anything be said of the stack? Not of incomplete ones, nor of those of coroutines. */
bool activations_take(const struct activations *last, const struct stack *stack);
/* How many of the innermost user frames are new calls; the stack becomes the last one. 0 also if nothing can
 * be said. */
size_t activations_meet(struct activations *last, const struct stack *stack);
void activations_done(struct activations *last);
