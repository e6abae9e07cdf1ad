/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/behind.h"

#define MAX_BEHIND 256  /* instructions back to where the frame pointer was set */
#define MAX_PROLOGUE 16 /* ... and from there back to the entry */
#define MAX_BODY 16384  /* instructions of a function that was called and calls others, up to this address */

static bool behind_get(const struct isa *isa, ahead_code code, void *context, uint64_t pc, struct insn *ret)
{
	return isa->decode(code(context, pc), pc, ret) == 0 && ret->len == isa->min_insn;
}

static bool behind_writes(const struct insn *insn, uint8_t reg)
{
	for (unsigned i = 0; i < insn->n_effects && i < INSN_MAX_EFFECTS; i++) {
		const struct effect *e = &insn->effect[i];
		bool is_written = e->reg == reg && e->kind != EFFECT_PUSH && e->kind != EFFECT_STORE &&
				  e->kind != EFFECT_COMPARE;
		if (is_written || (e->kind == EFFECT_EXCHANGE && e->base == reg))
			return true;
	}
	return insn->clobbers >> reg & 1;
}

/* Is the code reached from the instruction above, and from nowhere else that cannot be seen? */
static bool behind_runs_on(const struct insn *insn, bool is_return)
{
	bool is_call = insn->flow == FLOW_CALL || insn->flow == FLOW_CALL_INDIRECT;

	return insn->flow == FLOW_NEXT || insn->flow == FLOW_BRANCH || (is_call && is_return);
}

/* A frame of another kind begins: the return address is saved, but no frame pointer was set after that. */
static bool behind_saves_ra(const struct isa *isa, const struct insn *insn)
{
	for (unsigned i = 0; i < insn->n_effects && i < INSN_MAX_EFFECTS; i++)
		if (insn->effect[i].kind == EFFECT_STORE && insn->effect[i].reg == isa->ra)
			return true;
	return false;
}

static bool behind_sets_fp(const struct isa *isa, const struct insn *insn)
{
	const struct effect *e = &insn->effect[0];

	return insn->n_effects == 1 && e->kind == EFFECT_SET && e->reg == isa->fp && e->base == isa->sp &&
	       e->index == REG_NONE;
}

/* Where the frame pointer was set from sp; 0 if that is not found. */
static uint64_t behind_find_setting(const struct isa *isa, ahead_code code, void *context, uint64_t pc,
				    bool is_return)
{
	struct insn insn;

	for (unsigned n = 0; n < MAX_BEHIND; n++) {
		pc -= isa->min_insn;
		if (!behind_get(isa, code, context, pc, &insn) || !behind_runs_on(&insn, is_return))
			return 0;
		if (behind_sets_fp(isa, &insn))
			return pc;
		if (behind_writes(&insn, isa->fp) || behind_saves_ra(isa, &insn))
			return 0;
	}
	return 0;
}

/* The function's first instruction, as far as there is only straight-line code up to `setting`. */
static uint64_t behind_find_entry(const struct isa *isa, ahead_code code, void *context, uint64_t setting)
{
	struct insn insn;

	for (unsigned n = 0; n < MAX_PROLOGUE; n++) {
		uint64_t before = setting - isa->min_insn;
		if (!behind_get(isa, code, context, before, &insn) || insn.flow != FLOW_NEXT)
			return setting;
		setting = before;
		if (insn.is_entry_mark)
			return setting;
	}
	return 0;
}

#define NOT_SAVED INT64_MIN

/* The state while a prologue is executed: offsets are relative to the CFA. */
struct prologue {
	int64_t sp, fp_at, ra_at;
	bool is_plain; /* sp was changed by constants only */
};

static void behind_run(const struct isa *isa, const struct insn *insn, struct prologue *p)
{
	for (unsigned i = 0; i < insn->n_effects && i < INSN_MAX_EFFECTS; i++) {
		const struct effect *e = &insn->effect[i];
		bool is_sum = e->base == isa->sp && e->index == REG_NONE;
		if (e->kind == EFFECT_STORE && is_sum && e->width == 8 && e->reg == isa->fp)
			p->fp_at = p->sp + e->imm;
		else if (e->kind == EFFECT_STORE && is_sum && e->width == 8 && e->reg == isa->ra)
			p->ra_at = p->sp + e->imm;
		else if (e->kind == EFFECT_SET && e->reg == isa->sp && is_sum)
			p->sp += e->imm;
		else if (e->kind == EFFECT_PUSH || e->kind == EFFECT_POP ||
			 (e->kind != EFFECT_STORE && e->reg == isa->sp))
			p->is_plain = false;
	}
	p->is_plain &= !(insn->clobbers >> isa->sp & 1);
}

static uint32_t behind_add_recipe(const struct isa *isa, int64_t cfa_offset, struct recipes *recipes)
{
	struct recipe recipe = { .cfa_kind = CFA_REG,
				 .cfa_reg = isa->fp,
				 .cfa_offset = (int32_t)cfa_offset,
				 .witness = WITNESS_ANALYSIS,
				 .trust = TRUST_GUESS };
	uint64_t lost_sp = isa->call_pushes_ra ? 1ull << isa->sp : 0;
	struct rule rules[RECIPE_MAX_RULES];

	/* What else was saved, and where, is not considered. */
	for (uint64_t left = isa->callee_saved | 1ull << isa->ra | lost_sp;
	     left && recipe.n_rules < RECIPE_MAX_RULES; left &= left - 1) {
		struct rule rule = { .reg = (uint8_t)__builtin_ctzll(left), .kind = RULE_UNDEFINED };
		if (rule.reg == isa->fp || rule.reg == isa->ra) {
			rule.kind = RULE_AT_CFA;
			rule.offset = (int32_t)((rule.reg == isa->ra ? 8 : 0) - cfa_offset);
		}
		rules[recipe.n_rules++] = rule;
	}
	return recipes_add(recipes, &recipe, rules);
}

/* ---- instructions of any size: from a prologue on ---------------------------------------------- */

#define MAX_BYTES 256 /* from the first instruction of a prologue on */

static bool behind_pushes_fp(const struct isa *isa, const struct insn *insn)
{
	return insn->flow == FLOW_NEXT && insn->n_effects == 1 && insn->effect[0].kind == EFFECT_PUSH &&
	       insn->effect[0].reg == isa->fp;
}

/* The instruction that saves the frame pointer, and the one that sets it. */
static bool behind_is_prologue(const struct isa *isa, ahead_code code, void *context, uint64_t at,
			       struct insn *save, struct insn *set)
{
	return isa->decode(code(context, at), at, save) == 0 && behind_pushes_fp(isa, save) &&
	       isa->decode(code(context, at + save->len), at + save->len, set) == 0 &&
	       behind_sets_fp(isa, set) && set->effect[0].imm == 0;
}

/* Does straight code that leaves the frame pointer alone lead from `at` to pc? */
static bool behind_leads_to(const struct isa *isa, ahead_code code, void *context, uint64_t at, uint64_t pc)
{
	struct insn insn;

	for (; at < pc; at += insn.len)
		if (isa->decode(code(context, at), at, &insn) < 0 || insn.len == 0 ||
		    !behind_runs_on(&insn, false) || behind_writes(&insn, isa->fp))
			return false;
	return at == pc;
}

/* Before the frame pointer is set: all that was pushed is the return address, and perhaps the old one. */
static uint32_t behind_add_early(const struct isa *isa, bool is_saved, struct recipes *recipes)
{
	struct rule rules[] = { { .reg = isa->fp, .kind = RULE_AT_CFA, .offset = -16 },
				{ .reg = isa->sp, .kind = RULE_UNDEFINED },
				{ .reg = isa->ra, .kind = RULE_AT_CFA, .offset = -8 } };
	struct recipe recipe = { .cfa_kind = CFA_REG,
				 .cfa_reg = isa->sp,
				 .cfa_offset = is_saved ? 16 : 8,
				 .witness = WITNESS_ANALYSIS,
				 .trust = TRUST_GUESS,
				 .n_rules = is_saved ? 3 : 2 };

	return recipes_add(recipes, &recipe, is_saved ? rules : rules + 1);
}

/* The last prologue before pc. Bytes that read like one by chance are unlikely to lead straight to pc. */
static uint32_t behind_prologue(const struct isa *isa, ahead_code code, void *context, uint64_t pc,
				struct recipes *recipes)
{
	struct insn save, set;

	for (uint64_t n = 0; n <= MAX_BYTES && n < pc; n++) {
		uint64_t at = pc - n;
		if (!behind_is_prologue(isa, code, context, at, &save, &set))
			continue;
		if (n <= save.len)
			return n == 0 || n == save.len ? behind_add_early(isa, n > 0, recipes) : RECIPE_NONE;
		bool is_straight = behind_leads_to(isa, code, context, at + save.len + set.len, pc);
		return is_straight ? behind_add_recipe(isa, 16, recipes) : RECIPE_NONE;
	}
	return RECIPE_NONE;
}

uint32_t behind_recipe(const struct isa *isa, ahead_code code, void *context, uint64_t pc, bool is_return,
		       struct recipes *recipes)
{
	struct prologue p = { .fp_at = NOT_SAVED, .ra_at = NOT_SAVED, .is_plain = true };
	struct insn insn;

	if (isa->call_pushes_ra)
		return is_return ? RECIPE_NONE : behind_prologue(isa, code, context, pc, recipes);
	uint64_t setting = behind_find_setting(isa, code, context, pc, is_return);
	uint64_t at = setting ? behind_find_entry(isa, code, context, setting) : 0;
	if (!at)
		return RECIPE_NONE;
	for (; at < setting; at += isa->min_insn) {
		if (!behind_get(isa, code, context, at, &insn))
			return RECIPE_NONE;
		behind_run(isa, &insn, &p);
	}
	if (!behind_get(isa, code, context, setting, &insn))
		return RECIPE_NONE;
	int64_t fp = p.sp + insn.effect[0].imm; /* what it points to, from the CFA */
	if (!p.is_plain || p.fp_at != fp || p.ra_at != fp + 8 || fp > -16 || fp < INT32_MIN / 2)
		return RECIPE_NONE;
	return behind_add_recipe(isa, -fp, recipes);
}

/* A function that calls others has saved its return address, and sets its frame pointer, if at all, after
 * that. */
bool behind_points_to_frame(const struct isa *isa, ahead_code code, void *context, uint64_t pc)
{
	struct insn insn;

	if (isa->call_pushes_ra || isa->min_insn == 1)
		return false;
	pc -= pc % isa->min_insn; /* it may be inside the call that has not returned */
	for (unsigned n = 0; n < MAX_BODY; n++) {
		pc -= isa->min_insn;
		if (!behind_get(isa, code, context, pc, &insn) || insn.is_entry_mark)
			return false;
		if (behind_sets_fp(isa, &insn))
			return true;
		if (behind_saves_ra(isa, &insn))
			return false;
	}
	return false;
}
