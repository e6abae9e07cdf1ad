/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk_exec: samples that were taken while the kernel carried out an exec.
 *
 * The caller and its stack no longer exist then: the registers are those of the old program, the memory is
 * the new one's. The kernel frames are the whole stack. This state begins before the event that reports the
 * exec, because the kernel unmaps the old memory first. The recording of a command begins there, too: then no
 * event has told anything about the process.
 */
#include "recipes/template.h"
#include "unwinder/walk_private.h"

static bool walk_comes_from_exec(const struct walk *walk)
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
	return !walk->space || walk_comes_from_exec(walk);
}

/* Without address randomization the new stack is at the address of the old one, with other contents. */
void walk_end_in_exec(struct walk *walk, uint64_t pc)
{
	struct stack *stack = walk->stack;
	bool is_broken = stack->end == STACK_INVALID_STEP || stack->end == STACK_BAD_READ ||
			 stack->end == STACK_NO_PROGRESS;

	if (!is_broken || !stack->n_kernel)
		return;
	walk->here = *walk_look(walk->walker, walk->space, walk->pid, pc, false);
	if (!walk_comes_from_exec(walk))
		return;
	stack->frames.n = stack->n_kernel;
	stack->end = STACK_COMPLETE;
	stack->elsewhere = 0;
}
