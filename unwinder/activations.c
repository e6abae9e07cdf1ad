/* SPDX-License-Identifier: Apache-2.0 */
#include "unwinder/activations.h"

void activations_done(struct activations *last)
{
	vec_done(&last->frames);
	*last = (struct activations){ 0 };
}

/* User frames are counted from the outermost one. */
static const struct frame *activations_frame(const struct stack *stack, size_t i)
{
	return &stack->frames.at[stack->frames.n - 1 - i];
}

uint64_t activations_goroutine(const struct stack *stack)
{
	bool has_frames = stack->frames.n > stack->n_kernel;

	return has_frames && activations_frame(stack, 0)->cfa == FRAME_OF_COROUTINE
		       ? activations_frame(stack, 0)->held
		       : 0;
}

/* For a goroutine, it is that of its first function, which has no caller. */
static uint64_t activations_base(const struct stack *stack)
{
	for (size_t i = activations_goroutine(stack) ? 1 : 0; i < stack->frames.n - stack->n_kernel; i++)
		if (activations_frame(stack, i)->cfa)
			return activations_frame(stack, i)->cfa;
	return 0;
}

static struct activation activation_of(const struct frame *frame, uint64_t base)
{
	bool has_place = frame->cfa && frame->cfa != FRAME_OF_COROUTINE;

	return (struct activation){ has_place ? base - frame->cfa + 1 : 0, frame->pc, frame->held };
}

/* Is the frame still in the same call? */
static bool activation_stands(const struct activation *last, const struct activation *now)
{
	if (!last->depth || !now->depth)
		return true;
	return last->pc == now->pc && (!last->held || !now->held || last->held == now->held);
}

/*
 * How many of the outermost frames are calls that the last stack had. Calls that the last stack did not know
 * are dropped: calls inside a frame are compared with the last stack that had them, so the frame must be,
 * too. If a stack has moved, registers that point into it have changed without a call.
 */
static size_t activations_count_same(struct activations *last, const struct stack *stack, uint64_t base)
{
	size_t n = stack->frames.n - stack->n_kernel;
	bool is_next = stack->n_shared && stack->shared_serial == last->serial && stack->n_shared <= n &&
		       stack->n_shared <= last->frames.n;
	size_t i = is_next ? stack->n_same : 0;

	if (is_next && stack->is_new_inside) {
		for (size_t k = 0; k < i; k++)
			last->frames.at[k].held = 0; /* of an earlier stack */
		return i;
	}
	for (; i < n && i < last->frames.n; i++) {
		struct activation *before = &last->frames.at[i];
		struct activation now = activation_of(activations_frame(stack, i), base);
		if (before->depth && now.depth && before->depth != now.depth)
			return i;
		if (last->base != base)
			before->held = 0;
		if (!activation_stands(before, &now))
			return i + 1;
		before->held = now.held;
	}
	return i;
}

bool activations_take(const struct activations *last, const struct stack *stack)
{
	uint64_t base = activations_base(stack);

	return stack->end == STACK_COMPLETE && !stack->has_callee && base && base != FRAME_OF_COROUTINE &&
	       (!last->base || last->base == base || activations_goroutine(stack));
}

size_t activations_meet(struct activations *last, const struct stack *stack)
{
	size_t n = stack->frames.n - stack->n_kernel;

	if (!activations_take(last, stack))
		return 0;
	uint64_t base = activations_base(stack);
	size_t n_same = activations_count_same(last, stack, base);
	last->base = base;
	last->serial = stack->serial;
	last->frames.n = n_same ? n_same - 1 : 0; /* the last of them may now be in another call */
	for (size_t i = last->frames.n; i < n; i++)
		vec_push(&last->frames, activation_of(activations_frame(stack, i), base));
	return n - n_same;
}
