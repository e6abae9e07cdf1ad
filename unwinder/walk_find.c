/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk_find: what a step needs and its recipe does not provide: sp if only the frame pointer is known, a
 * return address that the kernel hides.
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

/* Of all candidates for the return address, the only one that follows a call which leads here. */
static bool walk_choose(const struct walk *walk, uint64_t stack, uint64_t *ra)
{
	struct walker *walker = walk->walker;
	struct callee callee = { walk->here.image, walk->here.place.function };
	unsigned n = 0;

	for (uint32_t i = 0; i < walk->sample->n_hidden; i++) {
		const struct hidden_return *it = &walk->sample->hidden[i];
		if (!it->is_maybe || it->stack != stack || it->address == walk->here.pc)
			continue;
		struct pc_entry *caller = walk_look(walker, walk->space, walk->pid, it->address, true);
		if (caller->place.is_trampoline || walk_judge(walker, &callee, caller) == VERDICT_INVALID)
			continue;
		*ra = it->address;
		n++;
	}
	return n == 1;
}

bool walk_uncover(const struct walk *walk, uint64_t cfa, uint64_t *ra)
{
	uint64_t stack = cfa - (walk->walker->isa->call_pushes_ra ? sizeof(uint64_t) : 0), chosen;

	for (uint32_t i = 0; i < walk->sample->n_hidden; i++)
		if (walk->sample->hidden[i].stack == stack && !walk->sample->hidden[i].is_maybe) {
			*ra = walk->sample->hidden[i].address;
			return true;
		}
	if (!walk_choose(walk, stack, &chosen))
		return false;
	*ra = chosen;
	return true;
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

/*
 * x86-64, since Linux 6.11: the kernel's code at its return address saves three registers, makes a system
 * call, and returns through a word that the call has written over the first of them. By offset in that code.
 */
#define PROBE_SAVES 3
#define PROBE_CALLED 13
#define PROBE_POPPED 15
#define PROBE_RETURNS 16

/* Is the pc in the kernel's page for probes? Other trampolines are in files. */
static bool walk_is_at_probe(const struct walk *walk)
{
	return walk->here.place.is_trampoline &&
	       images_peek(walk->walker->images, walk->here.image)->kind == IMAGE_UNKNOWN;
}

/* If the system call is over: the offset of that word from sp. False if it is not. */
static bool walk_find_probe_word(const struct walk *walk, uint64_t *ret_distance)
{
	uint64_t at = walk->here.pc - walk->here.bias;

	*ret_distance = at == PROBE_CALLED ? 16 : at == PROBE_POPPED ? 8 : 0;
	return walk->walker->isa->call_pushes_ra && walk_is_at_probe(walk) &&
	       (at == PROBE_CALLED || at == PROBE_POPPED || at == PROBE_RETURNS);
}

/* sp as the function left it, after its return. */
static void walk_restore_sp(const struct walk *walk, uint64_t sp)
{
	struct cursor *cursor = &walk->walker->cursor;

	cursor_attempt(cursor);
	cursor_inherit(cursor, UINT64_MAX);
	cursor_give(cursor, walk->walker->isa->sp, sp);
	cursor_advance(cursor);
}

bool walk_leave_probe(struct walk *walk, uint64_t *pc)
{
	const struct isa *isa = walk->walker->isa;
	bool is_probe = walk_is_at_probe(walk);
	uint64_t sp, word, distance, popped = isa->call_pushes_ra ? sizeof(uint64_t) : 0;

	if ((walk->here.is_mapped && !is_probe) || !cursor_reg(&walk->walker->cursor, isa->sp, &sp))
		return false;
	for (uint64_t i = 0; walk->sample->n_hidden && i <= (is_probe && popped ? PROBE_SAVES : 0); i++) {
		const struct hidden_return *last = &walk->sample->hidden[0];
		if (last->stack != sp + i * sizeof(uint64_t) - popped)
			continue;
		*pc = last->address;
		walk->is_interrupted = false;
		walk_restore_sp(walk, sp + i * sizeof(uint64_t));
		return true;
	}
	if (!walk_find_probe_word(walk, &distance) ||
	    cursor_read(&walk->walker->cursor, sp + distance, sizeof(word), &word) != MEMORY_OK)
		return false;
	*pc = word;
	walk->is_interrupted = false;
	walk_restore_sp(walk, sp + distance + popped);
	return true;
}

void walk_note_elsewhere(struct walk *walk, const struct recipe *recipe, uint64_t cfa)
{
	struct cursor *cursor = &walk->walker->cursor;
	uint64_t base;

	if (recipe->is_signal_frame && recipe->cfa_kind == CFA_DEREF && !recipe->cfa_addend &&
	    !cursor_can_read(cursor, cfa) && cursor_reg(cursor, recipe->cfa_reg, &base))
		walk->elsewhere = base + (uint64_t)(int64_t)recipe->cfa_offset;
}
