/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shadow: tracks the true call stack.
 */
#include "verify/shadow.h"

static struct shadow_stack *current(const struct shadow *shadow)
{
	return &shadow->stacks.at[shadow->current];
}

static struct shadow_entry *top(const struct shadow *shadow)
{
	struct shadow_stack *stack = current(shadow);

	return stack->entries.n ? &stack->entries.at[stack->entries.n - 1] : NULL;
}

static void push(struct shadow *shadow, uint64_t ra, uint64_t sp, bool is_interrupt)
{
	struct shadow_entry entry = {
		.ra = ra, .sp = sp, .call = ++shadow->n_calls, .is_interrupt = is_interrupt
	};

	entry.slot = shadow->isa->call_pushes_ra && !is_interrupt ? sp : 0;
	vec_push(&current(shadow)->entries, entry);
}

static void push_call(struct shadow *shadow, const struct shadow_step *step)
{
	push(shadow, step->ra, step->sp, false);
	if (step->is_moved)
		top(shadow)->slot = 0;
}

static void pop(struct shadow *shadow)
{
	current(shadow)->entries.n--;
}

/* The stack in that region; a new and empty one if it was not seen before. */
static size_t stack_of(struct shadow *shadow, uint64_t region)
{
	for (size_t i = 0; i < shadow->stacks.n; i++)
		if (shadow->stacks.at[i].region == region)
			return i;
	size_t index = shadow->stacks.n;
	vec_push(&shadow->stacks, ((struct shadow_stack){ .region = region, .interrupted = index }));
	return index;
}

static void clear_stacks(struct shadow *shadow)
{
	for (size_t i = 0; i < shadow->stacks.n; i++)
		vec_done(&shadow->stacks.at[i].entries);
	shadow->stacks.n = 0;
}

void shadow_init(struct shadow *shadow, const struct isa *isa)
{
	*shadow = (struct shadow){ .isa = isa };
	shadow_reset(shadow, 0);
}

void shadow_done(struct shadow *shadow)
{
	clear_stacks(shadow);
	vec_done(&shadow->stacks);
}

void shadow_reset(struct shadow *shadow, uint64_t region)
{
	clear_stacks(shadow);
	shadow->current = stack_of(shadow, region);
	shadow->is_settled = true;
}

/* Is target one of the stacks that were interrupted to get to this one? */
static bool was_interrupted(const struct shadow *shadow, size_t from, size_t target)
{
	for (size_t at = from; shadow->stacks.at[at].interrupted != at;
	     at = shadow->stacks.at[at].interrupted)
		if (shadow->stacks.at[at].interrupted == target)
			return true;
	return false;
}

/* sp is now on another stack: back from a signal's by longjmp, or on a coroutine's. */
static void switch_stack(struct shadow *shadow, uint64_t region)
{
	size_t from = shadow->current, to = stack_of(shadow, region);

	if (was_interrupted(shadow, from, to)) {
		shadow->stacks.at[from].entries.n = 0;
		shadow->stacks.at[from].interrupted = from;
	}
	shadow->current = to;
	shadow->is_settled = false;
}

static bool is_gone(const struct shadow *shadow, const struct shadow_entry *entry,
		    const struct shadow_step *step)
{
	bool is_there = step->sp == entry->sp && !entry->is_interrupt;

	if (step->sp > entry->sp)
		return true;
	/* The last call of a goroutine never returns; another goroutine gets its stack, and begins by a jump.
	 */
	if (shadow->isa->call_pushes_ra)
		return is_there && step->is_moved && step->flow == FLOW_JUMP_INDIRECT &&
		       step->ra != entry->ra;
	return is_there && step->pc == entry->ra;
}

/* On a coroutine's stack without a frame: it has not begun yet, or its function has returned. */
static bool is_between(const struct shadow *shadow)
{
	const struct shadow_stack *stack = current(shadow);

	return shadow->current != 0 && stack->interrupted == shadow->current && stack->entries.n == 0;
}

/* A non-local jump has ended. */
static void settle(struct shadow *shadow, const struct shadow_step *step)
{
	struct shadow_entry *entry = top(shadow);

	const struct shadow_entry popped = shadow->popped;

	shadow->is_settled = true;
	shadow->popped = (struct shadow_entry){ 0 };
	if (popped.ra && popped.sp == step->sp && popped.ra == step->ra) { /* it was pushed again */
		push(shadow, popped.ra, popped.sp, popped.is_interrupt);
		*top(shadow) = popped;
		return;
	}
	if (is_between(shadow)) {
		struct shadow_step begun = *step;

		/* makecontext set the return address of the coroutine's function. A return that begins one
		 * leaves its own target in the register: no address to return to. */
		if (step->ra == step->pc)
			begun.ra = 0;
		push_call(shadow, &begun);
	} else if (entry && !shadow->isa->call_pushes_ra &&
		   entry->sp == step->sp) /* a call of the current frame */
		pop(shadow);
}

static void drop_gone(struct shadow *shadow, const struct shadow_step *step)
{
	struct shadow_entry last = { 0 };
	size_t n = 0;

	for (struct shadow_entry *entry = top(shadow); entry && is_gone(shadow, entry, step);
	     entry = top(shadow)) {
		last = *entry;
		n++;
		pop(shadow);
	}
	if (n == 0)
		return;
	shadow->is_settled = last.ra == step->pc;
	shadow->popped = n == 1 && !shadow->is_settled && shadow->isa->call_pushes_ra
				 ? last
				 : (struct shadow_entry){ 0 };
}

void shadow_step(struct shadow *shadow, const struct shadow_step *step)
{
	bool is_indirect = step->flow == FLOW_JUMP_INDIRECT || step->flow == FLOW_RETURN;
	bool is_call = step->flow == FLOW_CALL || step->flow == FLOW_CALL_INDIRECT;

	if (step->region != current(shadow)->region)
		switch_stack(shadow, step->region);
	bool was_settled = shadow->is_settled;
	drop_gone(shadow, step);
	if (was_settled && is_between(shadow))
		shadow->is_settled = false;
	else if (!shadow->is_settled && is_indirect)
		settle(shadow, step);
	/* `call next` only reads the pc. */
	if (is_call && step->pc != step->next && step->ra == step->next)
		push_call(shadow, step);
}

void shadow_saved(struct shadow *shadow, uint64_t ra, uint64_t slot)
{
	struct shadow_entry *entry = top(shadow);

	/* The last store is valid: a function that was reached by a tail call saves it again. */
	if (entry && entry->ra == shadow->isa->strip_pc(ra))
		entry->slot = slot;
}

void shadow_signal(struct shadow *shadow, const struct shadow_signal *signal)
{
	size_t from = shadow->current;

	push(shadow, signal->pc, signal->sp, true);
	shadow->current = stack_of(shadow, signal->region);
	if (shadow->current != from && !was_interrupted(shadow, from, shadow->current)) {
		current(shadow)->entries.n = 0;
		current(shadow)->interrupted = from;
	}
	push(shadow, signal->trampoline, signal->handler_sp, false);
}

void shadow_signal_return(struct shadow *shadow, uint64_t pc, uint64_t sp, uint64_t region)
{
	size_t from = shadow->current;

	if (region != current(shadow)->region)
		switch_stack(shadow, region);
	while (top(shadow) && !top(shadow)->is_interrupt && shadow->current == from)
		pop(shadow);
	if (top(shadow) && top(shadow)->is_interrupt)
		pop(shadow);
	drop_gone(shadow, &(struct shadow_step){ .pc = pc, .sp = sp });
	shadow->is_settled = true;
}

struct shadow_walk shadow_walk(const struct shadow *shadow)
{
	return (struct shadow_walk){ shadow, shadow->current, current(shadow)->entries.n };
}

const struct shadow_entry *shadow_walk_next(struct shadow_walk *walk)
{
	const struct shadow_stack *stack = &walk->shadow->stacks.at[walk->stack];

	while (walk->left == 0 && stack->interrupted != walk->stack) {
		walk->stack = stack->interrupted;
		stack = &walk->shadow->stacks.at[walk->stack];
		walk->left = stack->entries.n;
	}
	return walk->left ? &stack->entries.at[--walk->left] : NULL;
}
