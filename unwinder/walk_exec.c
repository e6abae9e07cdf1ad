/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk_exec: samples that the kernel took while it was at work on an exec.
 *
 * What called it, and the stack of it, are gone then: the registers are those of the old program, in the
 * memory of the new one. Nothing is missing from what the kernel's part of the stack tells. That begins some
 * time before the kernel tells of the exec: the old memory is taken down first.
 */
#include "recipes/template.h"
#include "unwinder/walk_private.h"

static bool is_behind_exec(const struct walk *walk)
{
	const struct walker *walker = walk->walker;
	const struct pc_entry *here = &walk->here;

	return here->is_mapped && !here->is_jit &&
	       template_is_exec(images_get(walker->images, here->image), walker->isa, here->pc - here->bias);
}

bool walk_is_in_exec(struct walk *walk, const struct sample *sample)
{
	bool has_begun = walk->space && walk->space->is_in_exec;

	if (has_begun && (walk->here.is_mapped || !walk->stack->n_kernel))
		walk->space->is_in_exec = has_begun = false;
	if (has_begun || !walk->stack->n_kernel || sample->stack.len)
		return has_begun;
	return is_behind_exec(walk);
}

/* Where addresses are not random the new stack lies where the old one did, with something else on it. */
void walk_end_in_exec(struct walk *walk, uint64_t pc)
{
	struct stack *stack = walk->stack;
	bool is_broken = stack->end == STACK_INVALID_STEP || stack->end == STACK_BAD_READ ||
			 stack->end == STACK_NO_PROGRESS;

	if (!is_broken || !stack->n_kernel)
		return;
	walk->here = *walk_look(walk->walker, walk->space, walk->pid, pc, false);
	if (!is_behind_exec(walk))
		return;
	stack->frames.n = stack->n_kernel;
	stack->end = STACK_COMPLETE;
	stack->elsewhere = 0;
}
