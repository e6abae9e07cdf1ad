/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain: stacks that the kernel unwound by frame pointers: each step is checked like those of our own walks.
 *
 * A function without a frame of its own leaves its caller's frame pointer unchanged: the chain then skips its
 * caller. If it was interrupted on a machine where calls leave the return address in a register, and that was
 * recorded, the caller is known all the same. Otherwise a chain that skips a caller is not complete.
 */
#include "unwinder/walk_private.h"

struct chain {
	struct walker *walker;
	struct space *space;
	const struct event *event;
	struct stack *stack;
	struct pc_entry here; /* of the last frame */
	bool has_skipped;     /* a caller is missing, or may be */
};

static const struct recipe *chain_recipe(const struct walker *walker, const struct pc_entry *entry)
{
	uint32_t recipe = entry->place.recipes.recipe[0];

	return recipe == RECIPE_NONE ? NULL : &knowledge_recipes(walker->knowledge)->recipes.at[recipe];
}

static const struct rule *chain_rule(const struct walker *walker, const struct recipe *recipe, unsigned reg)
{
	const struct rule *rule = recipe_rule(knowledge_recipes(walker->knowledge), recipe, reg);

	return rule && rule->kind != RULE_SAME ? rule : NULL;
}

/* Is the chain's last frame one that has no caller? */
static bool chain_is_root(const struct walker *walker, const struct pc_entry *entry)
{
	const struct recipe *recipe = chain_recipe(walker, entry);

	if (entry->place.is_root || entry->place.ends_thread)
		return true;
	if (!recipe)
		return false;
	const struct rule *ra = recipe_rule(knowledge_recipes(walker->knowledge), recipe, walker->isa->ra);
	return ra && ra->kind == RULE_UNDEFINED;
}

/* Has its function saved the frame pointer? Then it has set up a frame, or is about to. If nothing is known,
 * the check of the step has to do. */
static bool chain_has_frame(const struct walker *walker, const struct pc_entry *entry)
{
	const struct recipe *recipe = chain_recipe(walker, entry);

	if (!recipe)
		return true;
	return !recipe->is_signal_frame && chain_rule(walker, recipe, walker->isa->fp);
}

/* False: the chain ends here. */
static bool chain_add(struct chain *chain, struct pc_entry *next, enum witness witness)
{
	struct walker *walker = chain->walker;
	struct stack *stack = chain->stack;

	if (next->is_return) {
		struct callee callee = { chain->here.image, chain->here.place.function };
		struct frame *last = &stack->frames.at[stack->frames.n - 1];
		last->witness = (uint8_t)witness;
		last->verdict = (uint8_t)walk_judge(walker, &callee, next);
		walker->stats.steps_by_witness[witness]++;
		if (last->verdict == VERDICT_INVALID) {
			stack->end = STACK_INVALID_STEP;
			return false;
		}
	}
	chain->here = *next;
	vec_push(&stack->frames, walk_frame(next));
	walker->stats.frames++;
	stack->end = chain_is_root(walker, next) ? STACK_COMPLETE : STACK_NO_RECIPE;
	return true;
}

/* The register that calls leave the return address in; 0 = not recorded, or there is none. */
static uint64_t chain_link(const struct chain *chain)
{
	const struct isa *isa = chain->walker->isa;
	struct cursor *cursor = &chain->walker->cursor;
	uint64_t value;

	cursor_begin(cursor, isa, chain->event->pid, &chain->event->sample);
	if (isa->call_pushes_ra || !cursor_reg(cursor, isa->ra, &value))
		return 0;
	return isa->strip_pc ? isa->strip_pc(value) : value;
}

/* The caller of the innermost frame, if the chain skips it. next: where the chain goes on; 0 = nowhere. */
static void chain_add_skipped(struct chain *chain, uint64_t next)
{
	struct walker *walker = chain->walker;
	const struct recipe *recipe = chain_recipe(walker, &chain->here);
	bool has_frame = chain_has_frame(walker, &chain->here);
	uint64_t pc = chain_link(chain);

	if (!recipe || recipe->is_signal_frame || !pc) {
		chain->has_skipped = !has_frame;
		return;
	}
	/* Looking up the caller may move recipes. */
	bool is_saved = chain_rule(walker, recipe, walker->isa->ra);
	enum witness witness = recipe->witness;
	struct callee callee = { chain->here.image, chain->here.place.function };
	struct pc_entry link = *walk_look(walker, chain->space, chain->event->pid, pc, true);
	enum verdict verdict = walk_judge(walker, &callee, &link);
	bool is_inside = link.image == callee.image && link.place.function == callee.function;
	/* Its frame is set up; if the register has another value, the function has made a call since, after
	 * which the register points into the function itself, or has used it for something else. */
	if (has_frame && (pc == next || (is_saved && (is_inside || verdict == VERDICT_INVALID))))
		return;
	/* A register that may have been overwritten must point behind a call of just this function. */
	bool is_certain = is_saved || is_inside ? verdict == VERDICT_VALID : verdict != VERDICT_INVALID;
	if (is_certain && (has_frame || !is_saved))
		chain_add(chain, &link, witness);
	else
		chain->has_skipped = true;
}

/* The innermost frame is looked at closely: it may be in a prologue or an epilogue. */
static bool chain_begin(struct chain *chain, uint64_t pc)
{
	struct pc_entry first = *walk_look(chain->walker, chain->space, chain->event->pid, pc, false);

	if (chain->event->sample.has_frame_chain && !first.is_jit)
		walk_look_again(chain->walker, chain->space, chain->event->pid, &first);
	return chain_add(chain, &first, WITNESS_NONE);
}

void walk_chain(struct walker *walker, struct space *space, const struct event *event, struct stack *ret)
{
	const struct sample *sample = &event->sample;
	struct chain chain = { .walker = walker, .space = space, .event = event, .stack = ret };

	pc_table_limit(&walker->pcs);
	ret->end = STACK_NO_USER_REGS;
	bool goes_on = sample->n_user_pc && chain_begin(&chain, sample->user_pc[0]);
	if (goes_on && sample->has_frame_chain && !chain_is_root(walker, &chain.here))
		chain_add_skipped(&chain, sample->n_user_pc > 1 ? sample->user_pc[1] : 0);
	for (uint32_t i = 1; goes_on && i < sample->n_user_pc && i < STACK_MAX_FRAMES; i++) {
		if (ret->frames.n > ret->n_kernel + 1)
			chain.has_skipped |= sample->has_frame_chain && !chain_has_frame(walker, &chain.here);
		struct pc_entry next = *walk_look(walker, space, event->pid, sample->user_pc[i], true);
		goes_on = chain_add(&chain, &next, WITNESS_FP);
	}
	if (chain.has_skipped && ret->end == STACK_COMPLETE)
		ret->end = STACK_BAD_READ;
}
