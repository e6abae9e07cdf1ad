/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/cfi_state.h"

enum { OP_DEREF = 0x06, OP_PLUS_UCONST = 0x23, OP_BREG0 = 0x70, OP_BREG31 = 0x8f };

void cfi_state_init(struct cfi_state *state)
{
	*state = (struct cfi_state){ .cfa.kind = CFA_NONE };
	for (unsigned i = 0; i < REG_MAX; i++)
		state->rules[i].kind = RULE_DEFAULT;
}

static bool cfi_state_fits(int64_t offset)
{
	return offset >= INT32_MIN && offset <= INT32_MAX;
}

/* "breg + offset" at the start of an expression; the reader is then after it. */
static bool cfi_state_read_breg(struct reader *r, const struct isa *isa, uint8_t *ret_reg,
				int32_t *ret_offset)
{
	uint8_t op = read_u8(r);
	int64_t offset = read_sleb(r);

	if (r->failed || op < OP_BREG0 || op > OP_BREG31 || op - OP_BREG0 >= isa->n_regs ||
	    !cfi_state_fits(offset))
		return false;
	*ret_reg = (uint8_t)(op - OP_BREG0);
	*ret_offset = (int32_t)offset;
	return true;
}

/* The usual expression, *(reg + offset) + addend (a realigned stack), needs no evaluator. */
static bool cfi_state_simplify_cfa(struct bytes expr, const struct isa *isa, struct recipe *ret)
{
	struct reader r = reader_of(expr);

	if (!cfi_state_read_breg(&r, isa, &ret->cfa_reg, &ret->cfa_offset) || read_u8(&r) != OP_DEREF)
		return false;
	if (reader_left(&r)) {
		uint8_t op = read_u8(&r);
		uint64_t addend = read_uleb(&r);
		if (op != OP_PLUS_UCONST || addend > INT32_MAX || r.failed || reader_left(&r))
			return false;
		ret->cfa_addend = (int32_t)addend;
	}
	ret->cfa_kind = CFA_DEREF;
	return true;
}

static bool cfi_state_make_cfa(const struct cfi_cfa *cfa, const struct isa *isa, struct recipes *recipes,
			       struct recipe *ret)
{
	if (cfa->kind == CFA_EXPR) {
		if (cfi_state_simplify_cfa(cfa->expr, isa, ret))
			return true;
		*ret = (struct recipe){ .cfa_kind = CFA_EXPR,
					.cfa_expr = recipes_add_expr(recipes, cfa->expr) };
		return true;
	}
	if (cfa->kind != CFA_REG || cfa->reg >= isa->n_regs || !cfi_state_fits(cfa->offset))
		return false;
	*ret = (struct recipe){ .cfa_kind = CFA_REG,
				.cfa_reg = (uint8_t)cfa->reg,
				.cfa_offset = (int32_t)cfa->offset };
	return true;
}

static bool cfi_state_make_rule(const struct cfi_rule *from, const struct isa *isa, struct recipes *recipes,
				struct rule *ret)
{
	struct reader r;

	ret->kind = from->kind;
	switch (from->kind) {
	case RULE_AT_CFA:
	case RULE_IS_CFA:
		ret->offset = (int32_t)from->offset;
		return cfi_state_fits(from->offset);
	case RULE_REG:
		ret->from = (uint8_t)from->from;
		return from->from < isa->n_regs;
	case RULE_AT_EXPR:
		r = reader_of(from->expr);
		if (cfi_state_read_breg(&r, isa, &ret->from, &ret->offset) && reader_left(&r) == 0) {
			ret->kind = RULE_AT_REG;
			return true;
		}
		ret->from = 0;
		ret->expr = recipes_add_expr(recipes, from->expr);
		return true;
	case RULE_IS_EXPR:
		ret->expr = recipes_add_expr(recipes, from->expr);
		return true;
	default:
		return true;
	}
}

/* A rule equal to the default is not stored. */
static bool cfi_state_says_something(const struct cfi_rule *rule, unsigned reg, const struct isa *isa)
{
	bool is_kept = reg == isa->ra || (isa->callee_saved >> reg & 1);

	switch (rule->kind) {
	case RULE_DEFAULT:
		return false;
	case RULE_SAME:
		return !is_kept;
	case RULE_UNDEFINED:
		return is_kept;
	default:
		return true;
	}
}

/* A CIE may use a different column than usual for the return address. */
static struct cfi_rule cfi_state_ra_rule(const struct cfi_state *state, const struct fde *fde,
					 const struct isa *isa)
{
	uint64_t column = fde->cie.ra_reg;
	struct cfi_rule rule =
		column < REG_MAX ? state->rules[column] : (struct cfi_rule){ .kind = RULE_DEFAULT };

	if (column != isa->ra && (rule.kind == RULE_DEFAULT || rule.kind == RULE_SAME))
		return (struct cfi_rule){ .kind = RULE_REG, .from = column };
	return rule;
}

/*
 * A frame contains its saved return address, so the CFA is above it. If it is not, the entry is relative to a
 * later sp than the caller's (glibc's _dl_runtime_resolve on AArch64 omits the pair that the head of the PLT
 * pushed). Frames are 16-byte aligned there, so the missing amount is known.
 */
static void cfi_state_raise_cfa(struct recipe *recipe, struct rule *rules, const struct isa *isa)
{
	const int32_t alignment = 16, limit = 64;
	int32_t missing = 0;

	for (unsigned i = 0; i < recipe->n_rules; i++)
		if (rules[i].reg == isa->ra && rules[i].kind == RULE_AT_CFA && rules[i].offset >= 0 &&
		    rules[i].offset < limit)
			missing = (rules[i].offset + 8 + alignment - 1) & -alignment;
	if (!missing || recipe->cfa_kind != CFA_REG || recipe->cfa_reg != isa->sp ||
	    recipe->cfa_offset > INT32_MAX - missing)
		return;
	recipe->cfa_offset += missing;
	for (unsigned i = 0; i < recipe->n_rules; i++) {
		bool is_relative = rules[i].kind == RULE_AT_CFA || rules[i].kind == RULE_IS_CFA;
		if (is_relative && rules[i].offset >= INT32_MIN + missing)
			rules[i].offset -= missing;
	}
}

uint32_t cfi_state_recipe(const struct cfi_state *state, const struct fde *fde, const struct isa *isa,
			  struct recipes *recipes)
{
	struct rule rules[REG_MAX];
	struct recipe recipe = { 0 };

	if (!cfi_state_make_cfa(&state->cfa, isa, recipes, &recipe))
		return RECIPE_NONE;
	recipe.witness = WITNESS_CFI;
	recipe.trust = TRUST_STATED;
	recipe.is_signal_frame = fde->cie.is_signal_frame;
	recipe.ra_is_signed = state->ra_is_signed;

	struct cfi_rule ra = cfi_state_ra_rule(state, fde, isa);
	/* The call put the return address into memory: "still in its register" cannot be meant. */
	if (isa->call_pushes_ra && (ra.kind == RULE_DEFAULT || ra.kind == RULE_SAME))
		return RECIPE_NONE;
	for (uint64_t left = state->given | 1ull << isa->ra; left; left &= left - 1) {
		unsigned reg = (unsigned)__builtin_ctzll(left);
		if (reg >= isa->n_regs)
			break;
		const struct cfi_rule *from = reg == isa->ra ? &ra : &state->rules[reg];
		if (!cfi_state_says_something(from, reg, isa))
			continue;
		struct rule rule = { .reg = (uint8_t)reg };
		if (!cfi_state_make_rule(from, isa, recipes, &rule))
			return RECIPE_NONE;
		rules[recipe.n_rules++] = rule;
	}
	if (!isa->call_pushes_ra && !recipe.is_signal_frame)
		cfi_state_raise_cfa(&recipe, rules, isa);
	return recipes_add(recipes, &recipe, rules);
}
