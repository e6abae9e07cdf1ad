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

static uint64_t activations_base(const struct stack *stack)
{
	for (size_t i = 0; i < stack->frames.n - stack->n_kernel; i++)
		if (activations_frame(stack, i)->cfa)
			return activations_frame(stack, i)->cfa;
	return 0;
}

/* Is the frame still in the call that it was in? */
static bool activation_stands(const struct activation *last, const struct frame *now)
{
	if (!last->cfa || !now->cfa)
		return true;
	return last->pc == now->pc && (!last->held || !now->held || last->held == now->held);
}

/*
 * How many of the outermost frames are calls that the last stack had. What it did not know is forgotten:
 * calls inside of a frame are compared with the last stack that had them, and so must the frame be.
 */
static size_t activations_count_same(struct activations *last, const struct stack *stack, size_t n)
{
	bool is_next = stack->n_shared && stack->shared_serial == last->serial;
	size_t i = is_next && stack->n_shared <= n && stack->n_shared <= last->frames.n ? stack->n_shared : 0;

	for (; i < n && i < last->frames.n; i++) {
		struct activation *before = &last->frames.at[i];
		const struct frame *now = activations_frame(stack, i);
		if (before->cfa && now->cfa && before->cfa != now->cfa)
			return i;
		if (!activation_stands(before, now))
			return i + 1;
		before->held = now->held;
	}
	return i;
}

bool activations_take(const struct activations *last, const struct stack *stack)
{
	uint64_t base = activations_base(stack);

	return stack->end == STACK_COMPLETE && !stack->has_callee && base && base != FRAME_OF_COROUTINE &&
	       (!last->base || last->base == base);
}

size_t activations_meet(struct activations *last, const struct stack *stack)
{
	size_t n = stack->frames.n - stack->n_kernel;

	if (!activations_take(last, stack))
		return 0;
	size_t n_same = activations_count_same(last, stack, n);
	last->base = activations_base(stack);
	last->serial = stack->serial;
	last->frames.n = n_same ? n_same - 1 : 0; /* the last of them may be in another call now */
	for (size_t i = last->frames.n; i < n; i++) {
		const struct frame *frame = activations_frame(stack, i);
		vec_push(&last->frames, ((struct activation){ frame->cfa, frame->pc, frame->held }));
	}
	return n - n_same;
}
