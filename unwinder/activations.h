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

/* What is stored about a frame. */
struct activation {
	uint64_t depth;    /* 1 + the distance of its CFA below the base; 0 = not known */
	uint64_t pc, held; /* as in struct frame */
};

/* A thread's last stack, or a goroutine's; start with zeros. */
struct activations {
	uint64_t base;   /* CFA of its outermost frame; if that of a thread is different, the stack is a
			    coroutine's */
	uint64_t serial; /* as in struct stack */
	VEC(struct activation) frames; /* outermost first */
};

/* The address of the goroutine that the stack belongs to; 0 = a thread's own stack, or not known. */
uint64_t activations_goroutine(const struct stack *stack);
/* Can the stack be compared? Not if it is incomplete or that of another coroutine. */
bool activations_take(const struct activations *last, const struct stack *stack);
/* The number of innermost user frames that are new calls; also 0 if the stack cannot be compared. The stack
 * becomes the last one. */
size_t activations_meet(struct activations *last, const struct stack *stack);
void activations_done(struct activations *last);
