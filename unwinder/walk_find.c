/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk_find: what a step needs and its recipe does not have: sp where only the frame pointer is known, a
 * return address that the kernel hides.
 */
#include "unwinder/walk_private.h"

/*
 * Behind a step by the frame pointer alone sp is not known (AArch64): the frame record is at the bottom of
 * its frame. If the code says how far sp is from the frame pointer, the frame can be left all the same.
 */
void walk_find_sp_from_fp(const struct walk *walk, uint32_t index, struct step_input *ret)
{
	struct walker *walker = walk->walker;
	const struct recipe *recipe = &ret->recipes->recipes.at[index];
	uint64_t sp, at = walk->here.pc - walk->here.bias - walk->here.is_return;

	if (recipe->cfa_reg != walker->isa->sp || walk->here.is_jit || walker->mode == UNWIND_FP ||
	    (recipe->cfa_kind != CFA_REG && recipe->cfa_kind != CFA_DEREF) ||
	    cursor_reg(&walker->cursor, walker->isa->sp, &sp))
		return;
	uint64_t distance = knowledge_number(walker->knowledge, ASK_SP_FROM_FP, walk->here.image, at, 0);
	ret->has_sp_from_fp = distance != VADDR_NONE;
	ret->sp_from_fp = (int64_t)distance;
}

bool walk_uncover(const struct walk *walk, uint64_t cfa, uint64_t *ra)
{
	uint64_t stack = cfa - (walk->walker->isa->call_pushes_ra ? sizeof(uint64_t) : 0);

	for (uint32_t i = 0; i < walk->sample->n_hidden; i++)
		if (walk->sample->hidden[i].stack == stack) {
			*ra = walk->sample->hidden[i].address;
			return true;
		}
	return false;
}

bool walk_loses_regs(const struct walk *walk, const struct recipe *recipe)
{
	const struct recipes *recipes = knowledge_recipes(walk->walker->knowledge);

	return recipe->witness == WITNESS_FP ||
	       walk_is_eh_return(walk->walker->isa, recipe_saved(recipes, recipe));
}

uint64_t walk_held(const struct walk *walk, uint32_t recipe)
{
	const struct recipes *recipes = knowledge_recipes(walk->walker->knowledge);
	const struct recipe *it = &recipes->recipes.at[recipe];

	uint64_t saved = recipe_saved(recipes, it);

	if (recipe != walk->here.place.recipes.recipe[0] || it->is_signal_frame ||
	    walk_is_gateway(walk->walker->isa, saved))
		return 0;
	return cursor_held(&walk->walker->cursor, saved & ~(1ull << walk->walker->isa->ra));
}

bool walk_leave_probe(struct walk *walk, uint64_t *pc)
{
	const struct isa *isa = walk->walker->isa;
	uint64_t sp;

	if (!walk->sample->n_hidden || !cursor_reg(&walk->walker->cursor, isa->sp, &sp))
		return false;
	const struct hidden_return *last = &walk->sample->hidden[0];
	if (last->stack != sp - (isa->call_pushes_ra ? sizeof(uint64_t) : 0))
		return false;
	*pc = last->address;
	walk->is_interrupted = false;
	return true;
}
