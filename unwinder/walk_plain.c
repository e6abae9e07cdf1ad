/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk_plain: a fast path for the steps that most of a walk consists of, directly from the packed rule of the
 * recipe. If all slots are contiguous, in the snapshot or in a page beyond it, a step is one check and a few
 * loads. The result is the same as that of step and walk; everything that is not plain is left to them.
 */
#include "unwinder/walk_private.h"

/* A possible step: the frame it leads to. */
struct plain_caller {
	uint64_t cfa, ra;
	struct cursor_piece slots; /* from the lowest slot on, if the recipe has any */
};

/*
 * The rule of a recipe, if a plain step can be made with it. A step by the frame pointer alone is a guess,
 * which the walk has to record. A copy: looking up the caller may add recipes, and move them.
 */
static bool plain_rule(const struct walker *walker, uint32_t recipe, struct packed_rule *ret)
{
	const struct isa *isa = walker->isa;
	uint64_t special = 1ull << isa->sp | (isa->pc == isa->ra ? 0 : 1ull << isa->pc);

	if (recipe == RECIPE_NONE)
		return false;
	*ret = knowledge_recipes(walker->knowledge)->packed.at[recipe];
	bool is_slots = packed_kind(ret) == PACKED_SLOTS,
	     is_leaf = packed_kind(ret) == PACKED_LEAF && packed_last_reg(ret) == isa->ra;
	return (is_slots || is_leaf) && packed_witness(ret) != WITNESS_FP && !(packed_saved(ret) & special);
}

/* In an interrupted frame, slots below sp have been popped: that is left to step. */
static bool plain_find_slots(const struct walk *walk, const struct packed_rule *rule, uint64_t sp,
			     struct plain_caller *ret)
{
	uint64_t first = ret->cfa + (uint64_t)(int64_t)packed_low(rule);

	if (!rule->n_words)
		return true;
	return (!walk->is_interrupted || first >= sp) &&
	       cursor_find_piece(&walk->walker->cursor, first, (uint64_t)rule->n_words * PACKED_WORD,
				 &ret->slots);
}

/* False if that takes more than a plain step. The slot of the return address is the first, if there is one.
 */
static bool plain_find_caller(const struct walk *walk, const struct packed_rule *rule, uint64_t pc,
			      struct plain_caller *ret)
{
	const struct isa *isa = walk->walker->isa;
	struct cursor *cursor = &walk->walker->cursor;
	bool has_ra_slot = packed_saved(rule) >> isa->ra & 1;
	uint64_t base, sp;

	cursor_attempt(cursor);
	if (!cursor_reg(cursor, rule->cfa_reg, &base) || !cursor_reg(cursor, isa->sp, &sp))
		return false;
	ret->cfa = base + (uint64_t)(int64_t)packed_cfa(rule);
	if (!plain_find_slots(walk, rule, sp, ret))
		return false;
	if (has_ra_slot)
		ret->ra = cursor_load(cursor, &ret->slots,
				      ret->cfa + (uint64_t)(int64_t)packed_low(rule) + packed_slot(rule, 0));
	else if (!walk->is_interrupted || isa->call_pushes_ra || !cursor_reg(cursor, isa->ra, &ret->ra))
		return false;
	if (isa->strip_pc)
		ret->ra = isa->strip_pc(ret->ra);
	return ret->cfa > sp || (ret->cfa == sp && !has_ra_slot && ret->ra != pc);
}

static uint64_t plain_move(const struct walk *walk, const struct packed_rule *rule,
			   const struct plain_caller *caller)
{
	struct walker *walker = walk->walker;
	bool is_held = walk_is_told(walk) && !walk_is_gateway(walker->isa, packed_saved(rule));

	return cursor_move(&walker->cursor, &(struct cursor_move){ .isa = walker->isa,
								   .rule = rule,
								   .slots = &caller->slots,
								   .cfa = caller->cfa,
								   .ra = caller->ra,
								   .is_held = is_held });
}

/*
 * What is known about the return address. Mostly it is the same as the last time: comparing the two lets the
 * processor speculate while the word is still being loaded from the stack; a lookup would have to wait for
 * it.
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
	struct packed_rule rule;
	struct callee callee = { here->image, here->place.function };
	struct plain_caller found = { 0 };

	if (!plain_rule(walker, here->place.recipes.recipe[0], &rule) || !here->is_mapped ||
	    here->place.is_root || !plain_find_caller(walk, &rule, here->pc, &found))
		return NULL;
	walk->has_jit |= here->is_jit;
	struct pc_entry *caller = plain_look_at_caller(walk, here, found.ra);
	if (!caller->is_mapped || caller->place.is_trampoline || caller->place.has_wants)
		return NULL;
	enum verdict verdict = walk_judge(walker, &callee, caller);
	if (verdict == VERDICT_INVALID || walk_is_doubtful(walk, here, verdict))
		return NULL;
	uint64_t held = plain_move(walk, &rule, &found);
	enum witness witness = packed_witness(&rule);
	struct frame frame = walk_frame(here);
	walk_tell_apart(here, found.cfa, held, &frame);
	walk->has_lost_regs |= here->place.loses_regs;
	frame.witness = (uint8_t)witness;
	frame.verdict = (uint8_t)verdict;
	vec_push(&walk->stack->frames, frame);
	walker->stats.frames++;
	walker->stats.steps_by_witness[witness]++;
	walk->is_interrupted = false;
	return caller;
}

/* With a recall, one step at a time: after each, the walk checks whether the rest is known. */
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
