/* SPDX-License-Identifier: Apache-2.0 */
/*
 * activations: which frames of a stack belong to calls that are new since the previous stack of the thread or
 * goroutine.
 *
 * Two stacks of a thread often have the same functions at the same addresses. They are certainly different
 * calls if the frame's CFA differs, or if its caller has moved on: to another return address, or with another
 * value in a callee-saved register that it uses (often a loop counter). If a call is new, so are all calls
 * inside it. Otherwise a call is assumed to be the same, so the result is a lower bound.
 *
 * The stack of a goroutine moves when it grows, and any thread may run it. So frames are compared by their
 * distance from the outermost one, and each goroutine has its own previous stack.
 */
#pragma once

#include "base/vec.h"
#include "unwinder/stack.h"

/* What is remembered of a frame. */
struct activation {
	uint64_t depth;    /* 1 + how far its CFA is below the base; 0 = it may be any */
	uint64_t pc, held; /* as in struct frame */
};

/* A thread's last stack, or a goroutine's; start with zeros. */
struct activations {
	uint64_t base;   /* CFA of its outermost frame: of a thread, another one is a coroutine's */
	uint64_t serial; /* as in struct stack */
	VEC(struct activation) frames; /* outermost first */
};

/* The goroutine that the stack is of, by its address; 0 = a thread's own stack, or nothing can be said. */
uint64_t activations_goroutine(const struct stack *stack);
/* Can anything be said of the stack? Not of incomplete ones, nor of those of other coroutines. */
bool activations_take(const struct activations *last, const struct stack *stack);
/* How many of the innermost user frames are new calls; the stack becomes the last one. 0 also if nothing can
 * be said. */
size_t activations_meet(struct activations *last, const struct stack *stack);
void activations_done(struct activations *last);
