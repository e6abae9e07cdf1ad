/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/agree.h"

#define MAX_DEPTH 8

/* The operations that compilers and assemblers actually use for a CFA. */
enum op {
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST1S = 0x09,
	OP_PLUS = 0x22,
	OP_PLUS_UCONST = 0x23,
	OP_LIT0 = 0x30,
	OP_LIT31 = 0x4f,
	OP_BREG0 = 0x70,
	OP_BREG31 = 0x8f,
};

/* --- DWARF expressions over abstract values --------------------------------------------------- */

struct machine {
	value stack[MAX_DEPTH];
	unsigned n;
	bool failed;
};

static void push(struct machine *m, value v)
{
	if (m->n == MAX_DEPTH)
		m->failed = true;
	else
		m->stack[m->n++] = v;
}

static value pop(struct machine *m)
{
	if (m->n == 0) {
		m->failed = true;
		return VALUE_UNKNOWN;
	}
	return m->stack[--m->n];
}

static void step(struct machine *m, uint8_t op, struct reader *r, const struct state *state)
{
	value a, b;

	if (op >= OP_BREG0 && op <= OP_BREG31) {
		push(m, value_add(state->reg[op - OP_BREG0], read_sleb(r)));
		return;
	}
	if (op >= OP_LIT0 && op <= OP_LIT31) {
		push(m, value_const(op - OP_LIT0));
		return;
	}
	switch (op) {
	case OP_DEREF:
		a = pop(m);
		push(m, value_is_frame(a) ? state_load(state, a) : VALUE_UNKNOWN);
		break;
	case OP_PLUS_UCONST:
		push(m, value_add(pop(m), (int64_t)read_uleb(r)));
		break;
	case OP_CONST1U:
		push(m, value_const(read_u8(r)));
		break;
	case OP_CONST1S:
		push(m, value_const((int8_t)read_u8(r)));
		break;
	case OP_PLUS:
		a = pop(m);
		b = pop(m);
		push(m, value_kind(a) == VALUE_CONST   ? value_add(b, value_constant(a))
			: value_kind(b) == VALUE_CONST ? value_add(a, value_constant(b))
						       : VALUE_UNKNOWN);
		break;
	default:
		m->failed = true;
	}
}

static value evaluate(struct bytes expr, const struct state *state, value initial)
{
	struct machine m = { 0 };
	struct reader r = reader_of(expr);

	if (initial)
		push(&m, initial);
	while (reader_left(&r) && !m.failed)
		step(&m, read_u8(&r), &r, state);
	return m.failed || r.failed || m.n == 0 ? VALUE_UNKNOWN : m.stack[m.n - 1];
}

/* --- the check -------------------------------------------------------------------------------- */

static value load(const struct state *state, value at)
{
	return value_is_frame(at) ? state_load(state, at) : VALUE_UNKNOWN;
}

static value cfa_of(const struct state *state, const struct recipes *recipes, const struct recipe *r)
{
	switch ((enum cfa_kind)r->cfa_kind) {
	case CFA_REG:
		return value_add(state->reg[r->cfa_reg], r->cfa_offset);
	case CFA_DEREF:
		return value_add(load(state, value_add(state->reg[r->cfa_reg], r->cfa_offset)),
				 r->cfa_addend);
	case CFA_EXPR:
		return evaluate(recipes->exprs.at[r->cfa_expr], state, 0);
	case CFA_NONE:
		break;
	}
	return VALUE_UNKNOWN;
}

/* The value of a rule for a register, with the true CFA. */
static value value_of(const struct state *state, const struct recipes *recipes, const struct rule *rule,
		      unsigned reg)
{
	if (!rule)
		return state->reg[reg];
	switch ((enum rule_kind)rule->kind) {
	case RULE_SAME:
		return state->reg[reg];
	case RULE_AT_CFA:
		return load(state, value_cfa(rule->offset));
	case RULE_IS_CFA:
		return value_cfa(rule->offset);
	case RULE_REG:
		return state->reg[rule->from];
	case RULE_AT_REG:
		return load(state, value_add(state->reg[rule->from], rule->offset));
	case RULE_AT_EXPR:
		return load(state, evaluate(recipes->exprs.at[rule->expr], state, value_cfa(0)));
	case RULE_IS_EXPR:
		return evaluate(recipes->exprs.at[rule->expr], state, value_cfa(0));
	case RULE_UNDEFINED:
		break;
	}
	return VALUE_UNKNOWN;
}

static bool is_same_rule(const struct rule *a, const struct rule *b)
{
	if (!a || !b)
		return a == b;
	return a->kind == b->kind && a->offset == b->offset && a->from == b->from;
}

static bool is_same_form(const struct recipes *recipes, uint32_t stated, uint32_t own, const struct isa *isa)
{
	const struct recipe *a = &recipes->recipes.at[stated], *b = &recipes->recipes.at[own];

	return a->cfa_kind == b->cfa_kind && a->cfa_reg == b->cfa_reg && a->cfa_offset == b->cfa_offset &&
	       is_same_rule(recipe_rule(recipes, a, isa->ra), recipe_rule(recipes, b, isa->ra));
}

/* Does the analysis itself report the register as lost? */
static bool is_lost(const struct recipes *recipes, uint32_t own, unsigned reg)
{
	const struct rule *rule =
		own == RECIPE_NONE ? NULL : recipe_rule(recipes, &recipes->recipes.at[own], reg);

	return own == RECIPE_NONE || (rule && rule->kind == RULE_UNDEFINED);
}

/* Does it determine the CFA? A recipe that only finds the caller leaves the caller's sp unknown. */
static bool has_cfa(const struct recipes *recipes, uint32_t own, const struct isa *isa)
{
	return !is_lost(recipes, own, isa->sp);
}

static void check_registers(const struct state *state, const struct isa *isa, const struct recipes *recipes,
			    const struct recipe *stated, uint32_t own, struct agree_result *ret)
{
	for (uint64_t left = isa->callee_saved; left; left &= left - 1) {
		unsigned reg = (unsigned)__builtin_ctzll(left);
		const struct rule *rule = recipe_rule(recipes, stated, reg);
		value got = value_of(state, recipes, rule, reg);

		if ((rule && rule->kind == RULE_UNDEFINED) || got == value_entry(reg))
			continue;
		if (got == VALUE_UNKNOWN && is_lost(recipes, own, reg))
			ret->regs_none |= 1ull << reg;
		else
			ret->regs_differ |= 1ull << reg;
	}
}

void agree_check(const struct state *state, const struct isa *isa, const struct recipes *recipes,
		 uint32_t stated, uint32_t own, struct agree_result *ret)
{
	const struct recipe *s = &recipes->recipes.at[stated];
	const struct rule *ra = recipe_rule(recipes, s, isa->ra);
	bool is_outermost = ra && ra->kind == RULE_UNDEFINED;

	*ret = (struct agree_result){ .cfa_ra = AGREE_DIFFERS,
				      .cfa = cfa_of(state, recipes, s),
				      .ra = value_of(state, recipes, ra, isa->ra) };
	bool is_right = is_outermost || (ret->cfa == value_cfa(0) && ret->ra == value_entry(isa->ra));
	ret->is_other_frame = !is_right && s->cfa_kind == CFA_REG && s->cfa_reg != isa->sp &&
			      s->cfa_reg != isa->fp && value_kind(state->reg[s->cfa_reg]) == VALUE_ENTRY;
	ret->is_callers_fp = s->cfa_kind == CFA_REG && s->cfa_reg == isa->fp &&
			     state->reg[isa->fp] == value_entry(isa->fp);
	if (is_right)
		ret->cfa_ra = own != RECIPE_NONE && is_same_form(recipes, stated, own, isa) ? AGREE_FORM
											    : AGREE_VALUE;
	else if (!has_cfa(recipes, own, isa))
		ret->cfa_ra = AGREE_NONE;
	if (!is_outermost)
		check_registers(state, isa, recipes, s, own, ret);
}
