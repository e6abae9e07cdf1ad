/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk_plain: steps by plain recipes, made quickly. If all slots lie in one piece, of the snapshot or of a
 * page beyond it, one check and a few loads make the step. The result is the one that step and walk would
 * come to; whatever is not plain is left to them.
 */
#include "unwinder/walk_private.h"

/* A step that can be made: the frame it leads to. */
struct plain_caller {
	uint64_t cfa, ra;
	struct cursor_piece slots; /* from the lowest slot on, if the recipe has any */
};

/* In an interrupted frame, slots below sp have been popped: that is left to step. */
static bool plain_find_slots(const struct walk *walk, const struct plain_step *step, uint64_t sp,
			     struct plain_caller *ret)
{
	uint64_t first = ret->cfa + (uint64_t)(int64_t)step->low;

	if (!step->n_rules)
		return true;
	return (!walk->is_interrupted || first >= sp) &&
	       cursor_find_piece(&walk->walker->cursor, first, (uint64_t)(step->high - step->low),
				 &ret->slots);
}

/* False if that takes more than a plain step. */
static bool plain_find_caller(const struct walk *walk, const struct plain_step *step, uint64_t pc,
			      struct plain_caller *ret)
{
	const struct isa *isa = walk->walker->isa;
	struct cursor *cursor = &walk->walker->cursor;
	uint64_t base, sp;

	cursor_attempt(cursor);
	if (!cursor_reg(cursor, step->cfa_reg, &base) || !cursor_reg(cursor, isa->sp, &sp))
		return false;
	ret->cfa = base + (uint64_t)(int64_t)step->cfa_offset;
	if (!plain_find_slots(walk, step, sp, ret))
		return false;
	if (step->has_ra_slot)
		ret->ra = cursor_load(cursor, &ret->slots, ret->cfa + (uint64_t)(int64_t)step->ra_offset);
	else if (!walk->is_interrupted || isa->call_pushes_ra || !cursor_reg(cursor, isa->ra, &ret->ra))
		return false;
	if (isa->strip_pc)
		ret->ra = isa->strip_pc(ret->ra);
	return ret->cfa > sp || (ret->cfa == sp && !step->has_ra_slot && ret->ra != pc);
}

static void plain_move(struct walker *walker, const struct plain_step *step,
		       const struct plain_caller *caller)
{
	cursor_move(&walker->cursor,
		    &(struct cursor_move){
			    .isa = walker->isa,
			    .slots = &caller->slots,
			    .rules = recipe_cache_recipes(walker->cache)->rules.at + step->rules,
			    .n_rules = step->n_rules,
			    .restored = step->restored,
			    .cfa = caller->cfa,
			    .ra = caller->ra,
		    });
}

/*
 * What is known of the return address. Mostly it is the same as the last time: comparing the two lets the
 * processor speculate while the stack's word is still being loaded; a lookup would have to wait for it.
 */
static struct pc_entry *plain_look_at_caller(struct walk *walk, struct pc_entry *here, uint64_t ra)
{
	struct walker *walker = walk->walker;
	struct pc_entry *last = here->caller;

	if (last && last->pc == ra && last->is_return && walk->space &&
	    last->generation == walk->space->generation && !last->is_jit) {
		walker->stats.cache_hits++;
		return last;
	}
	here->caller = walk_look(walker, walk->space, walk->pid, ra, true);
	return here->caller;
}

/* The entry of the caller, if the frame could be left by a plain step; its frame is then on the stack. */
static struct pc_entry *plain_leave(struct walk *walk, struct pc_entry *here)
{
	struct walker *walker = walk->walker;
	const struct plain_step *step = plain_step_of(&walker->plain, recipe_cache_recipes(walker->cache),
						      walker->isa, here->place.recipes.recipe[0]);
	struct callee callee = { here->image, here->place.function };
	struct plain_caller found = { 0 };

	if (!step || !here->is_mapped || here->place.is_root ||
	    !plain_find_caller(walk, step, here->pc, &found))
		return NULL;
	walk->has_jit |= here->is_jit;
	struct pc_entry *caller = plain_look_at_caller(walk, here, found.ra);
	if (!caller->is_mapped || caller->place.is_trampoline || caller->place.has_wants)
		return NULL;
	enum verdict verdict = walk_judge(walker, &callee, caller);
	if (verdict == VERDICT_INVALID)
		return NULL;
	plain_move(walker, step, &found);
	struct frame frame = walk_frame(here);
	frame.witness = step->witness;
	frame.verdict = (uint8_t)verdict;
	vec_push(&walk->stack->frames, frame);
	walker->stats.frames++;
	walker->stats.steps_by_witness[step->witness]++;
	walk->is_interrupted = false;
	return caller;
}

/* With a recall, one step at a time: the walk asks after each whether the rest is known. */
bool walk_plainly(struct walk *walk)
{
	struct walker *walker = walk->walker;
	struct pc_entry *here = &walk->here, *caller;

	if (!walker->recalls || walker->observer)
		return false;
	while (walk->stack->frames.n - walk->stack->n_kernel < STACK_MAX_FRAMES - 1 &&
	       (caller = plain_leave(walk, here))) {
		here = caller;
		if (walk->can_recall)
			break;
	}
	if (here == &walk->here)
		return false;
	walk->here = *here;
	return walk->can_recall;
}
