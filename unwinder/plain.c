/* SPDX-License-Identifier: Apache-2.0 */
#include "unwinder/plain.h"

#include <string.h>

#include "unwinder/walk_private.h"

enum plain_kind { PLAIN_UNKNOWN, PLAIN_NOT, PLAIN };

/* ---- recipes ------------------------------------------------------------------------------------ */

#define OFFSET_MAX (1 << 24) /* bytes; tables can say anything */

static bool is_plain_rule(const struct rule *rule, const struct isa *isa)
{
	return rule->kind == RULE_AT_CFA && rule->reg != isa->sp &&
	       (rule->reg != isa->pc || isa->pc == isa->ra) && rule->offset > -OFFSET_MAX &&
	       rule->offset < OFFSET_MAX;
}

static void add_slot(struct plain_step *step, const struct rule *rule)
{
	if (rule->offset < step->low || !step->restored)
		step->low = rule->offset;
	if (rule->offset + 8 > step->high || !step->restored)
		step->high = rule->offset + 8;
	step->restored |= 1ull << rule->reg;
}

static struct plain_step plain_step(const struct recipes *recipes, const struct isa *isa,
				    const struct recipe *recipe)
{
	const struct plain_step not = { .kind = PLAIN_NOT };
	struct plain_step step = { .kind = PLAIN,
				   .cfa_reg = recipe->cfa_reg,
				   .n_rules = recipe->n_rules,
				   .witness = recipe->witness,
				   .cfa_offset = recipe->cfa_offset,
				   .rules = recipe->rules };

	/* What a frame pointer alone tells is a guess, and the walk keeps an eye on it. */
	if (recipe->cfa_kind != CFA_REG || recipe->is_signal_frame || recipe->witness == WITNESS_FP)
		return not ;
	for (unsigned i = 0; i < recipe->n_rules; i++) {
		const struct rule *rule = &recipes->rules.at[recipe->rules + i];
		if (!is_plain_rule(rule, isa))
			return not ;
		add_slot(&step, rule);
		if (rule->reg == isa->ra) {
			step.has_ra_slot = true;
			step.ra_offset = rule->offset;
		}
	}
	return step;
}

static struct plain_step *slot_of(struct plain_steps *steps, uint32_t recipe)
{
	while (steps->by_recipe.n <= recipe)
		vec_push(&steps->by_recipe, (struct plain_step){ .kind = PLAIN_UNKNOWN });
	return &steps->by_recipe.at[recipe];
}

const struct plain_step *plain_step_of(struct plain_steps *steps, const struct recipes *recipes,
				       const struct isa *isa, uint32_t recipe)
{
	if (recipe == RECIPE_NONE)
		return NULL;
	struct plain_step *step = slot_of(steps, recipe);
	if (step->kind == PLAIN_UNKNOWN)
		*step = plain_step(recipes, isa, &recipes->recipes.at[recipe]);
	return step->kind == PLAIN ? step : NULL;
}

void plain_steps_done(struct plain_steps *steps)
{
	vec_done(&steps->by_recipe);
}

/* ---- steps -------------------------------------------------------------------------------------- */

/* A step that can be made: the frame it leads to. */
struct plain_caller {
	uint64_t cfa, ra;
	const uint8_t *slots; /* the bytes from the lowest slot on; NULL if the recipe has none */
};

static uint64_t load(const uint8_t *slots, int32_t offset)
{
	uint64_t value;

	memcpy(&value, slots + offset, sizeof(value));
	return value;
}

/* Of a frame that was interrupted, slots below sp have been given up: the walk knows what that means. */
static bool find_slots(const struct walk *walk, const struct plain_step *step, uint64_t sp,
		       struct plain_caller *ret)
{
	uint64_t first = ret->cfa + (uint64_t)(int64_t)step->low;

	ret->slots = NULL;
	if (!step->n_rules)
		return true;
	if (!walk->is_interrupted || first >= sp)
		ret->slots = memory_piece(&walk->walker->memory, first, (uint64_t)(step->high - step->low));
	return ret->slots != NULL;
}

/* False if that takes more than a plain step. */
static bool find_caller(const struct walk *walk, const struct plain_step *step, const struct regs *regs,
			struct plain_caller *ret)
{
	const struct isa *isa = walk->walker->isa;
	uint64_t sp = regs->value[isa->sp];
	bool is_in_register = !step->has_ra_slot && walk->is_interrupted && !isa->call_pushes_ra &&
			      regs_known(regs, isa->ra);

	ret->cfa = regs->value[step->cfa_reg] + (uint64_t)(int64_t)step->cfa_offset;
	if (!regs_known(regs, step->cfa_reg) || !regs_known(regs, isa->sp) ||
	    !find_slots(walk, step, sp, ret))
		return false;
	if (!step->has_ra_slot && !is_in_register)
		return false;
	ret->ra = step->has_ra_slot ? load(ret->slots, step->ra_offset - step->low) : regs->value[isa->ra];
	if (isa->strip_pc)
		ret->ra = isa->strip_pc(ret->ra);
	return ret->cfa > sp || (ret->cfa == sp && is_in_register && ret->ra != regs->value[isa->pc]);
}

static void note_read(struct walk *walk, const struct plain_step *step, const struct plain_caller *caller,
		      uint8_t reg, int32_t offset)
{
	struct memory *memory = &walk->walker->memory;

	memory_note_for(memory, reg);
	if (walk->is_interrupted) /* the slot may have been given up already */
		memory_note(memory, NOTE_USE, 0, 1ull << (reg == REG_NONE ? walk->walker->isa->ra : reg));
	vec_push(&memory->log->notes, ((struct memory_note){ .addr = caller->cfa + (uint64_t)(int64_t)offset,
							     .value = load(caller->slots, offset - step->low),
							     .kind = NOTE_READ,
							     .size = 8,
							     .status = MEMORY_OK,
							     .reg = reg }));
}

/* What the step depended on, as the walk would have noted it. Not in line: only deep stacks are remembered.
 */
static __attribute__((noinline)) void note_step(struct walk *walk, const struct plain_step *step,
						const struct plain_caller *caller)
{
	struct walker *walker = walk->walker;
	const struct rule *rules = recipe_cache_recipes(walker->cache)->rules.at + step->rules;

	memory_note(&walker->memory, NOTE_STEP, walk->stack->frames.n + 1, 0);
	memory_note(&walker->memory, NOTE_USE, 0, 1ull << step->cfa_reg);
	if (step->has_ra_slot)
		note_read(walk, step, caller, REG_NONE, step->ra_offset);
	else
		memory_note(&walker->memory, NOTE_USE, 0, 1ull << walker->isa->ra);
	for (unsigned i = 0; i < step->n_rules; i++)
		note_read(walk, step, caller, rules[i].reg, rules[i].offset);
	memory_note_for(&walker->memory, REG_NONE);
}

static void restore(struct walker *walker, const struct plain_step *step, const struct plain_caller *caller,
		    struct regs *regs)
{
	const struct isa *isa = walker->isa;
	const struct rule *rules = recipe_cache_recipes(walker->cache)->rules.at + step->rules;
	uint64_t reach = caller->cfa + (uint64_t)(int64_t)step->high;

	for (unsigned i = 0; i < step->n_rules; i++)
		regs->value[rules[i].reg] = load(caller->slots, rules[i].offset - step->low);
	regs->value[isa->sp] = caller->cfa;
	regs->value[isa->pc] = caller->ra;
	regs->known = (((regs->known & isa->callee_saved) | step->restored | 1ull << isa->sp) &
		       ~(1ull << isa->ra)) |
		      1ull << isa->pc;
	if (step->n_rules && reach > walker->memory.reach)
		walker->memory.reach = reach;
}

/*
 * What is known of the return address. Mostly it is the one that was found here the last time: comparing the
 * two lets the processor go on while the stack's word still comes from memory, which looking it up would have
 * to wait for.
 */
static struct pc_entry *look_at_caller(struct walk *walk, struct pc_entry *here, uint64_t ra)
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
static struct pc_entry *leave(struct walk *walk, struct pc_entry *here, struct regs *regs)
{
	struct walker *walker = walk->walker;
	const struct plain_step *step = plain_step_of(&walker->plain, recipe_cache_recipes(walker->cache),
						      walker->isa, here->place.recipes.recipe[0]);
	struct callee callee = { here->image, here->place.function };
	struct plain_caller found;

	if (!step || !here->is_mapped || here->place.is_root || !find_caller(walk, step, regs, &found))
		return NULL;
	walk->has_jit |= here->is_jit;
	struct pc_entry *caller = look_at_caller(walk, here, found.ra);
	if (!caller->is_mapped || caller->place.is_trampoline || caller->place.has_wants)
		return NULL;
	enum verdict verdict = walk_judge(walker, &callee, caller);
	if (verdict == VERDICT_INVALID)
		return NULL;
	if (walker->memory.log)
		note_step(walk, step, &found);
	restore(walker, step, &found, regs);
	struct frame frame = walk_frame(here);
	frame.witness = step->witness;
	frame.verdict = (uint8_t)verdict;
	vec_push(&walk->stack->frames, frame);
	walker->stats.frames++;
	walker->stats.steps_by_witness[step->witness]++;
	walk->is_interrupted = false;
	return caller;
}

/* Where the way out is noted, so is each frame on it: the walk may know the rest from there. */
bool walk_plainly(struct walk *walk)
{
	struct walker *walker = walk->walker;
	struct pc_entry *here = &walk->here, *caller;

	if (!walker->recalls || walker->observer)
		return false;
	struct regs *regs = &walk->results[walk->regs == &walk->results[1].regs].regs;
	if (walk->regs != regs)
		*regs = *walk->regs;
	walk->regs = regs;
	while (walk->stack->frames.n - walk->stack->n_kernel < STACK_MAX_FRAMES - 1 &&
	       (caller = leave(walk, here, regs))) {
		here = caller;
		if (walker->memory.log)
			break;
	}
	if (here == &walk->here)
		return false;
	walk->here = *here;
	return walker->memory.log;
}
