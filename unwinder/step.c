/* SPDX-License-Identifier: Apache-2.0 */
#include "unwinder/step.h"

#include "unwinder/expr.h"

static enum step_status of_memory(enum memory_status status)
{
	return status == MEMORY_OK ? STEP_OK : status == MEMORY_BEYOND ? STEP_BEYOND : STEP_BAD_READ;
}

static enum step_status evaluate(const struct step_input *in, uint32_t expr, const uint64_t *cfa,
				 uint64_t *ret)
{
	struct expr_input input = { .regs = in->regs,
				    .memory = in->memory,
				    .bias = in->bias,
				    .has_initial = cfa != NULL,
				    .initial = cfa ? *cfa : 0 };

	memory_note(in->memory, NOTE_USE, 0, UINT64_MAX); /* whatever it asks for */
	switch (expr_eval(in->recipes->exprs.at[expr], &input, ret)) {
	case EXPR_OK:
		return STEP_OK;
	case EXPR_BEYOND:
		return STEP_BEYOND;
	case EXPR_BAD_READ:
		return STEP_BAD_READ;
	default:
		return STEP_UNKNOWN;
	}
}

static enum step_status find_cfa(const struct step_input *in, const struct recipe *recipe, uint64_t *ret)
{
	uint64_t base;

	if (recipe->cfa_kind == CFA_EXPR)
		return evaluate(in, recipe->cfa_expr, NULL, ret);
	memory_note(in->memory, NOTE_USE, 0, 1ull << recipe->cfa_reg);
	if (recipe->cfa_kind == CFA_NONE || !regs_known(in->regs, recipe->cfa_reg))
		return STEP_UNKNOWN;
	base = in->regs->value[recipe->cfa_reg] + (uint64_t)(int64_t)recipe->cfa_offset;
	if (recipe->cfa_kind == CFA_REG) {
		*ret = base;
		return STEP_OK;
	}
	enum step_status status = of_memory(memory_get(in->memory, base, 8, ret));
	*ret += (uint64_t)(int64_t)recipe->cfa_addend;
	return status;
}

/* The caller's value of one register. */
static enum step_status find_value(const struct step_input *in, const struct rule *rule, uint64_t cfa,
				   uint64_t *ret)
{
	uint64_t addr = 0;
	enum step_status status = STEP_OK;

	switch ((enum rule_kind)rule->kind) {
	case RULE_SAME:
	case RULE_REG: {
		unsigned from = rule->kind == RULE_SAME ? rule->reg : rule->from;
		memory_note(in->memory, NOTE_USE, 0, 1ull << from);
		*ret = in->regs->value[from];
		return regs_known(in->regs, from) ? STEP_OK : STEP_UNKNOWN;
	}
	case RULE_UNDEFINED:
		return STEP_UNKNOWN;
	case RULE_IS_CFA:
		*ret = cfa + (uint64_t)(int64_t)rule->offset;
		return STEP_OK;
	case RULE_IS_EXPR:
		return evaluate(in, rule->expr, &cfa, ret);
	case RULE_AT_CFA:
		addr = cfa + (uint64_t)(int64_t)rule->offset;
		break;
	case RULE_AT_REG:
		memory_note(in->memory, NOTE_USE, 0, 1ull << rule->from);
		if (!regs_known(in->regs, rule->from))
			return STEP_UNKNOWN;
		addr = in->regs->value[rule->from] + (uint64_t)(int64_t)rule->offset;
		break;
	case RULE_AT_EXPR:
		status = evaluate(in, rule->expr, &cfa, &addr);
		break;
	}
	/*
	 * A slot below sp has been popped: compilers do not bother to say that the register is back. The
	 * snapshot does not hold what is below sp, and need not.
	 */
	if (in->is_interrupted)
		memory_note(in->memory, NOTE_USE, 0, 1ull << rule->reg);
	if (status == STEP_OK && in->is_interrupted && rule->reg != in->isa->pc &&
	    regs_known(in->regs, rule->reg) && regs_known(in->regs, in->isa->sp) &&
	    addr < in->regs->value[in->isa->sp]) {
		*ret = in->regs->value[rule->reg];
		return STEP_OK;
	}
	return status == STEP_OK ? of_memory(memory_get(in->memory, addr, 8, ret)) : status;
}

/*
 * The return address register is live only in a frame that made no call: every call overwrites it.
 */
static enum step_status find_ra(const struct step_input *in, const struct recipe *recipe, uint64_t cfa,
				uint64_t *ret)
{
	const struct isa *isa = in->isa;
	const struct rule *rule = NULL;

	if (recipe->is_signal_frame)
		rule = recipe_rule(in->recipes, recipe, isa->pc);
	if (!rule)
		rule = recipe_rule(in->recipes, recipe, isa->ra);
	if (rule && rule->kind == RULE_UNDEFINED)
		return STEP_OUTERMOST;
	if (rule && rule->kind != RULE_SAME)
		return find_value(in, rule, cfa, ret);
	memory_note(in->memory, NOTE_USE, 0, 1ull << isa->ra);
	if (isa->call_pushes_ra || !in->is_interrupted || !regs_known(in->regs, isa->ra))
		return STEP_UNKNOWN;
	*ret = in->regs->value[isa->ra];
	return STEP_OK;
}

static void set(struct regs *regs, unsigned reg, uint64_t value)
{
	regs->value[reg] = value;
	regs->known |= 1ull << reg;
}

/* A register that cannot be found is not known in the caller; that is no fault unless it is needed. */
static void find_registers(const struct step_input *in, const struct recipe *recipe, uint64_t cfa,
			   struct regs *ret)
{
	const struct rule *rules = in->recipes->rules.at + recipe->rules;

	ret->known = in->regs->known & in->isa->callee_saved;
	for (uint64_t left = ret->known; left; left &= left - 1) {
		int reg = __builtin_ctzll(left);
		ret->value[reg] = in->regs->value[reg];
	}
	set(ret, in->isa->sp, cfa);
	for (unsigned i = 0; i < recipe->n_rules; i++) {
		uint64_t value;
		memory_note_for(in->memory, rules[i].reg);
		if (find_value(in, &rules[i], cfa, &value) == STEP_OK)
			set(ret, rules[i].reg, value);
		else
			ret->known &= ~(1ull << rules[i].reg);
	}
	memory_note_for(in->memory, REG_NONE);
	if (!recipe->is_signal_frame)
		ret->known &= ~(1ull << in->isa->ra);
}

enum step_status step_apply(const struct step_input *in, uint32_t index, struct step_result *ret)
{
	const struct recipe *recipe = &in->recipes->recipes.at[index];
	enum step_status status;

	/* The registers stay as they are until all else is found: they are most of the result. */
	ret->cfa = ret->ra = ret->regs.known = 0;
	status = find_cfa(in, recipe, &ret->cfa);
	/* The outermost frame needs no CFA. */
	enum step_status ra_status = find_ra(in, recipe, ret->cfa, &ret->ra);
	if (ra_status == STEP_OUTERMOST)
		return STEP_OUTERMOST;
	if (status != STEP_OK)
		return status;
	if (ra_status != STEP_OK)
		return ra_status;
	if (in->isa->strip_pc)
		ret->ra = in->isa->strip_pc(ret->ra);
	find_registers(in, recipe, ret->cfa, &ret->regs);
	set(&ret->regs, in->isa->pc, ret->ra);
	return STEP_OK;
}
