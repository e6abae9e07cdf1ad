/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain: stacks that the kernel unwound by frame pointers: each step is checked like those of our own walks.
 */
#include "unwinder/walk_private.h"

/* Is the chain's last frame one that has no caller? */
static bool chain_is_root(const struct walker *walker, const struct pc_entry *entry)
{
	const struct recipes *recipes = knowledge_recipes(walker->knowledge);
	uint32_t recipe = entry->place.recipes.recipe[0];

	if (entry->place.is_root || entry->place.ends_thread)
		return true;
	if (recipe == RECIPE_NONE)
		return false;
	const struct rule *ra = recipe_rule(recipes, &recipes->recipes.at[recipe], walker->isa->ra);
	return ra && ra->kind == RULE_UNDEFINED;
}

void walk_chain(struct walker *walker, struct space *space, const struct event *event, struct stack *ret)
{
	const struct sample *sample = &event->sample;
	struct callee callee = { 0 };

	pc_table_limit(&walker->pcs);
	ret->end = STACK_NO_USER_REGS;
	for (uint32_t i = 0; i < sample->n_user_pc && i < STACK_MAX_FRAMES; i++) {
		struct pc_entry here = *walk_look(walker, space, event->pid, sample->user_pc[i], i > 0);
		if (i > 0) {
			struct frame *last = &ret->frames.at[ret->frames.n - 1];
			last->witness = WITNESS_FP;
			last->verdict = (uint8_t)walk_judge(walker, &callee, &here);
			walker->stats.steps_by_witness[WITNESS_FP]++;
			if (last->verdict == VERDICT_INVALID) {
				ret->end = STACK_INVALID_STEP;
				return;
			}
		}
		vec_push(&ret->frames, walk_frame(&here));
		walker->stats.frames++;
		callee = (struct callee){ here.image, here.place.function };
		ret->end = chain_is_root(walker, &here) ? STACK_COMPLETE : STACK_NO_RECIPE;
	}
}
