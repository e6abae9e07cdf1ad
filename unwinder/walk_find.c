/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk_find: what a step needs and its recipe does not provide: sp if only the frame pointer is known.
 */
#include "unwinder/walk_private.h"

/* The distance from sp up to the saved frame pointer, if the return address is saved directly after it;
 * otherwise 0. */
static uint64_t walk_find_record(const struct walk *walk, const struct recipe *recipe)
{
	const struct recipes *recipes = knowledge_recipes(walk->walker->knowledge);
	const struct rule *fp = recipe_rule(recipes, recipe, walk->walker->isa->fp);
	const struct rule *ra = recipe_rule(recipes, recipe, walk->walker->isa->ra);

	if (recipe->cfa_kind != CFA_REG || !fp || !ra || fp->kind != RULE_AT_CFA || ra->kind != RULE_AT_CFA)
		return 0;
	int64_t fp_at = fp->offset, distance = recipe->cfa_offset + fp_at;
	return ra->offset == fp_at + (int64_t)sizeof(uint64_t) && distance > 0 ? (uint64_t)distance : 0;
}

/*
 * After a step by the frame pointer alone, sp is not known (AArch64): the frame record is at the bottom of
 * its frame. If the code shows the distance between sp and the frame pointer, the frame can still be unwound.
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
	uint64_t distance = knowledge_number(walker->knowledge, ASK_SP_FROM_FP, walk->here.image, at,
					     walk_find_record(walk, recipe));
	ret->has_sp_from_fp = distance != VADDR_NONE;
	ret->sp_from_fp = (int64_t)distance;
}

uint64_t walk_held(const struct walk *walk, uint32_t recipe)
{
	const struct recipes *recipes = knowledge_recipes(walk->walker->knowledge);
	const struct recipe *it = &recipes->recipes.at[recipe];

	uint64_t saved = recipe_saved(recipes, it);

	if (recipe != walk->here.place.recipes.recipe[0] || it->is_signal_frame ||
	    walk_is_gateway(walk->walker->isa, saved) || !walk_is_told(walk))
		return 0;
	return cursor_held(&walk->walker->cursor, saved & ~(1ull << walk->walker->isa->ra));
}

void walk_note_elsewhere(struct walk *walk, const struct recipe *recipe, uint64_t cfa)
{
	struct cursor *cursor = &walk->walker->cursor;
	uint64_t base;

	if (recipe->is_signal_frame && recipe->cfa_kind == CFA_DEREF && !recipe->cfa_addend &&
	    !cursor_can_read(cursor, cfa) && cursor_reg(cursor, recipe->cfa_reg, &base))
		walk->elsewhere = base + (uint64_t)(int64_t)recipe->cfa_offset;
}
