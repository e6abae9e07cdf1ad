/* SPDX-License-Identifier: Apache-2.0 */
#include "unwinder/step.h"

#include "unwinder/expr.h"

static enum step_status step_of_memory(enum memory_status status)
{
	return status == MEMORY_OK ? STEP_OK : status == MEMORY_BEYOND ? STEP_BEYOND : STEP_BAD_READ;
}

static enum step_status step_evaluate(const struct step_input *in, uint32_t expr, const uint64_t *cfa,
				      uint64_t *ret)
{
	struct expr_input input = {
		.cursor = in->cursor, .bias = in->bias, .has_initial = cfa != NULL, .initial = cfa ? *cfa : 0
	};

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

static bool step_find_base(const struct step_input *in, const struct recipe *recipe, uint64_t *ret)
{
	if (!in->has_sp_from_fp || recipe->cfa_reg != in->isa->sp)
		return cursor_reg(in->cursor, recipe->cfa_reg, ret);
	uint64_t fp = 0;
	bool is_known = cursor_reg(in->cursor, in->isa->fp, &fp);
	*ret = fp + (uint64_t)in->sp_from_fp;
	return is_known;
}

static enum step_status step_find_cfa(const struct step_input *in, const struct recipe *recipe, uint64_t *ret)
{
	uint64_t base;

	if (recipe->cfa_kind == CFA_EXPR)
		return step_evaluate(in, recipe->cfa_expr, NULL, ret);
	if (recipe->cfa_kind == CFA_NONE || !step_find_base(in, recipe, &base))
		return STEP_UNKNOWN;
	base += (uint64_t)(int64_t)recipe->cfa_offset;
	if (recipe->cfa_kind == CFA_REG) {
		*ret = base;
		return STEP_OK;
	}
	enum step_status status = step_of_memory(cursor_read(in->cursor, base, 8, ret));
	*ret += (uint64_t)(int64_t)recipe->cfa_addend;
	return status;
}

/*
 * A slot below sp has been popped: compilers do not bother to say that the register has its old value again.
 * The snapshot does not contain memory below sp.
 */
static bool step_find_popped(const struct step_input *in, const struct rule *rule, uint64_t addr,
			     uint64_t *ret)
{
	uint64_t sp, value;

	if (!in->is_interrupted || rule->reg == in->isa->pc || !cursor_reg(in->cursor, in->isa->sp, &sp) ||
	    addr >= sp || !cursor_reg(in->cursor, rule->reg, &value))
		return false;
	*ret = value;
	return true;
}

static enum step_status step_find_slot(const struct step_input *in, const struct rule *rule, uint64_t addr,
				       uint64_t *ret)
{
	if (step_find_popped(in, rule, addr, ret))
		return STEP_OK;
	return step_of_memory(cursor_read(in->cursor, addr, 8, ret));
}

/* The caller's value of one register. */
static enum step_status step_find_value(const struct step_input *in, const struct rule *rule, uint64_t cfa,
					uint64_t *ret)
{
	uint64_t offset = (uint64_t)(int64_t)rule->offset, addr;
	enum step_status status;

	switch ((enum rule_kind)rule->kind) {
	case RULE_SAME:
		return cursor_reg(in->cursor, rule->reg, ret) ? STEP_OK : STEP_UNKNOWN;
	case RULE_REG:
		return cursor_reg(in->cursor, rule->from, ret) ? STEP_OK : STEP_UNKNOWN;
	case RULE_IS_CFA:
		*ret = cfa + offset;
		return STEP_OK;
	case RULE_IS_EXPR:
		return step_evaluate(in, rule->expr, &cfa, ret);
	case RULE_AT_CFA:
		return step_find_slot(in, rule, cfa + offset, ret);
	case RULE_AT_REG:
		if (!cursor_reg(in->cursor, rule->from, &addr))
			return STEP_UNKNOWN;
		return step_find_slot(in, rule, addr + offset, ret);
	case RULE_AT_EXPR:
		status = step_evaluate(in, rule->expr, &cfa, &addr);
		return status == STEP_OK ? step_find_slot(in, rule, addr, ret) : status;
	case RULE_UNDEFINED:
		break;
	}
	return STEP_UNKNOWN;
}

/*
 * The return address register is valid only in a frame that made no call: every call overwrites it.
 */
static enum step_status step_find_ra(const struct step_input *in, const struct recipe *recipe, uint64_t cfa,
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
		return step_find_value(in, rule, cfa, ret);
	if (isa->call_pushes_ra || !in->is_interrupted || !cursor_reg(in->cursor, isa->ra, ret))
		return STEP_UNKNOWN;
	return STEP_OK;
}

unsigned step_ra_register(const struct recipes *recipes, const struct isa *isa, const struct recipe *recipe)
{
	const struct rule *ra = recipe_rule(recipes, recipe, isa->ra);
	bool is_kept = !recipe->is_signal_frame && ra && ra->kind == RULE_REG && ra->from != isa->ra;

	return is_kept ? ra->from : REG_NONE;
}

/*
 * A register that cannot be found is unknown in the caller; that is an error only if it is needed. A register
 * that contains the return address has lost its previous value, although unwind entries do not say so.
 */
static void step_find_regs(const struct step_input *in, const struct recipe *recipe, uint64_t cfa)
{
	const struct rule *rules = in->recipes->rules.at + recipe->rules;

	cursor_inherit(in->cursor, in->isa->callee_saved);
	cursor_give(in->cursor, in->isa->sp, cfa);
	unsigned keeper = step_ra_register(in->recipes, in->isa, recipe);
	if (keeper < REG_MAX)
		cursor_lose(in->cursor, keeper);
	for (unsigned i = 0; i < recipe->n_rules; i++) {
		uint64_t value;
		cursor_find_reg(in->cursor, rules[i].reg);
		if (step_find_value(in, &rules[i], cfa, &value) == STEP_OK)
			cursor_give(in->cursor, rules[i].reg, value);
		else
			cursor_lose(in->cursor, rules[i].reg);
	}
	if (!recipe->is_signal_frame)
		cursor_lose(in->cursor, in->isa->ra);
}

enum step_status step_apply(const struct step_input *in, uint32_t index, struct step_result *ret)
{
	const struct recipe *recipe = &in->recipes->recipes.at[index];
	enum step_status status;

	*ret = (struct step_result){ 0 };
	cursor_attempt(in->cursor);
	status = step_find_cfa(in, recipe, &ret->cfa);
	/* The outermost frame needs no CFA. */
	enum step_status ra_status = step_find_ra(in, recipe, ret->cfa, &ret->ra);
	if (ra_status == STEP_OUTERMOST)
		return STEP_OUTERMOST;
	if (status != STEP_OK)
		return status;
	if (ra_status != STEP_OK)
		return ra_status;
	if (in->isa->strip_pc)
		ret->ra = in->isa->strip_pc(ret->ra);
	step_find_regs(in, recipe, ret->cfa);
	cursor_give(in->cursor, in->isa->pc, ret->ra);
	return STEP_OK;
}
