/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/recover.h"

#include <string.h>

#include "recipes/tail.h"

#define RED_ZONE 128 /* below sp, x86-64: signal handlers do not overwrite it */

enum trust recover_trust(const struct flow *flow)
{
	return flow->verdict == FLOW_PASSES ? TRUST_PROVEN : TRUST_GUESS;
}

/* --- where the CFA is ------------------------------------------------------------------------- */

static bool recover_cfa_from(const struct state *state, unsigned reg, struct recipe *r)
{
	if (value_kind(state->reg[reg]) != VALUE_CFA)
		return false;
	r->cfa_kind = CFA_REG;
	r->cfa_reg = (uint8_t)reg;
	r->cfa_offset = -value_offset(state->reg[reg]);
	return true;
}

/* A slot that contains a frame address, reachable from fp or sp. */
static bool recover_cfa_through_slot(const struct state *state, unsigned reg, struct recipe *r)
{
	value base = state->reg[reg];

	for (uint32_t i = 0; value_is_frame(base) && i < state->n_slots; i++) {
		const struct slot *slot = &state->slot[i];
		if (value_kind(slot->holds) != VALUE_CFA || !value_same_base(slot->at, base))
			continue;
		r->cfa_kind = CFA_DEREF;
		r->cfa_reg = (uint8_t)reg;
		r->cfa_offset = value_offset(slot->at) - value_offset(base);
		r->cfa_addend = -value_offset(slot->holds);
		return true;
	}
	return false;
}

/* Is fp where a conventional prologue puts it: at the saved fp, below the return address? */
static bool recover_is_classic_frame(const struct state *state, const struct isa *isa)
{
	return state->reg[isa->fp] == value_cfa(-16) &&
	       state_load(state, value_cfa(-16)) == value_entry(isa->fp);
}

static bool recover_find_cfa(const struct state *state, const struct isa *isa, struct recipe *r)
{
	if (recover_is_classic_frame(state, isa))
		return recover_cfa_from(state, isa->fp, r);
	if (recover_cfa_from(state, isa->sp, r) || recover_cfa_from(state, isa->fp, r))
		return true;
	/* Callee-saved registers first, then memory; caller-saved registers last. */
	for (uint64_t left = isa->callee_saved; left; left &= left - 1)
		if (recover_cfa_from(state, (unsigned)__builtin_ctzll(left), r))
			return true;
	if (recover_cfa_through_slot(state, isa->fp, r) || recover_cfa_through_slot(state, isa->sp, r))
		return true;
	for (unsigned reg = 0; reg < isa->n_regs; reg++)
		if (recover_cfa_from(state, reg, r))
			return true;
	return false;
}

/* --- where a register is ---------------------------------------------------------------------- */

static bool recover_is_live(const struct state *state, const struct isa *isa, value at)
{
	value sp = state->reg[isa->sp];

	return !value_is_frame(sp) || !value_same_base(at, sp) || value_offset(at) >= value_offset(sp);
}

/* A slot relative to an aligned base is found through a register that contains that base. */
static bool recover_rule_for_slot(const struct state *state, const struct isa *isa, value at,
				  struct rule *ret)
{
	const uint8_t bases[] = { isa->fp, isa->sp };

	if (value_kind(at) == VALUE_CFA) {
		ret->kind = RULE_AT_CFA;
		ret->offset = value_offset(at);
		return true;
	}
	for (size_t i = 0; i < ARRAY_LEN(bases); i++) {
		value base = state->reg[bases[i]];
		if (!value_same_base(at, base))
			continue;
		ret->kind = RULE_AT_REG;
		ret->from = bases[i];
		ret->offset = value_offset(at) - value_offset(base);
		return true;
	}
	return false;
}

/* Rules for the registers whose entry value is in a live slot, in the highest one: a mask of them, and the
 * rules. */
static uint64_t recover_rules_from_slots(const struct state *state, const struct isa *isa, struct rule *ret)
{
	uint64_t found = 0;

	for (uint32_t i = state->n_slots; i-- > 0;) {
		const struct slot *slot = &state->slot[i];
		unsigned reg = (unsigned)value_offset(slot->holds);
		if (value_kind(slot->holds) != VALUE_ENTRY || (found >> reg & 1) ||
		    !recover_is_live(state, isa, slot->at))
			continue;
		ret[reg] = (struct rule){ .reg = (uint8_t)reg };
		found |= (uint64_t)recover_rule_for_slot(state, isa, slot->at, &ret[reg]) << reg;
	}
	return found;
}

/* Popped values remain in the red zone until they are overwritten. */
static bool recover_rule_from_red_zone(const struct state *state, const struct isa *isa, unsigned reg,
				       struct rule *ret)
{
	for (uint32_t i = state->n_slots; i-- > 0;) {
		const struct slot *slot = &state->slot[i];
		if (slot->holds == value_entry(reg) && !recover_is_live(state, isa, slot->at) &&
		    value_offset(state->reg[isa->sp]) - value_offset(slot->at) <= RED_ZONE &&
		    recover_rule_for_slot(state, isa, slot->at, ret))
			return true;
	}
	return false;
}

static bool recover_rule_from_registers(const struct state *state, const struct isa *isa, unsigned reg,
					struct rule *ret)
{
	for (unsigned from = 0; from < isa->n_regs; from++)
		if (state->reg[from] == value_entry(reg) && from != isa->pc && from != reg) {
			ret->kind = RULE_REG;
			ret->from = (uint8_t)from;
			return true;
		}
	return false;
}

/* A register whose entry value is in no live slot; false if it cannot be found. */
static bool recover_find_register(const struct state *state, const struct isa *isa, unsigned reg,
				  struct rule *ret)
{
	*ret = (struct rule){ .reg = (uint8_t)reg, .kind = RULE_SAME };
	/* A call is about to overwrite the return address register: prefer a location that will remain valid.
	 */
	if (reg == isa->ra && !isa->call_pushes_ra && recover_rule_from_registers(state, isa, reg, ret))
		return true;
	if (state->reg[reg] == value_entry(reg) && reg != isa->pc)
		return true;
	return recover_rule_from_registers(state, isa, reg, ret) ||
	       (isa->call_pushes_ra && recover_rule_from_red_zone(state, isa, reg, ret));
}

/*
 * A number of arguments that is not known here was pushed (V8's calls do that), and nothing tells the CFA any
 * more. While the return address is in its place, its register or the top of the stack, and the frame pointer
 * is the caller's, the caller can be found all the same; only its sp is lost. The CFA lies there or above it.
 */
static uint32_t recover_caller_only(const struct state *state, const struct isa *isa, struct recipes *recipes)
{
	int32_t size = isa->call_pushes_ra ? 8 : 0; /* of the return address on the stack */
	struct recipe r = {
		.witness = WITNESS_ANALYSIS, .cfa_kind = CFA_REG, .cfa_reg = isa->sp, .cfa_offset = size
	};
	struct rule rules[RECIPE_MAX_RULES];

	if (state->reg[isa->fp] != value_entry(isa->fp))
		return RECIPE_NONE;
	for (unsigned reg = 0; reg < isa->n_regs && r.n_rules < RECIPE_MAX_RULES; reg++) {
		bool is_kept = isa->callee_saved >> reg & 1;
		if (reg == isa->ra)
			rules[r.n_rules++] = (struct rule){ .reg = (uint8_t)reg,
							    .kind = size ? RULE_AT_CFA : RULE_SAME,
							    .offset = -size };
		else if (reg == isa->sp || (is_kept && state->reg[reg] != value_entry(reg)))
			rules[r.n_rules++] = (struct rule){ .reg = (uint8_t)reg, .kind = RULE_UNDEFINED };
	}
	return recipes_add(recipes, &r, rules);
}

/* The CFA is found with the registers as they are, the caller's registers with those in another state. */
static uint32_t recover_with_cfa_of(const struct state *here, const struct state *state,
				    const struct isa *isa, enum trust trust, struct recipes *recipes)
{
	struct recipe r = { .witness = WITNESS_ANALYSIS, .trust = (uint8_t)trust };
	struct rule rules[RECIPE_MAX_RULES], saved[REG_MAX];

	if (!recover_find_cfa(here, isa, &r)) {
		bool has_ra = !isa->call_pushes_ra && state->reg[isa->ra] == value_entry(isa->ra);
		return has_ra ? recover_caller_only(state, isa, recipes) : RECIPE_NONE;
	}
	uint64_t in_slots = recover_rules_from_slots(state, isa, saved);
	for (uint64_t left = isa->callee_saved | 1ull << isa->ra; left && r.n_rules < RECIPE_MAX_RULES;
	     left &= left - 1) {
		unsigned reg = (unsigned)__builtin_ctzll(left);
		struct rule rule;
		bool is_found = true;

		if (in_slots >> reg & 1)
			rule = saved[reg];
		else
			is_found = recover_find_register(state, isa, reg, &rule);
		if (!is_found && reg == isa->ra)
			return RECIPE_NONE;
		if (!is_found)
			rule.kind = RULE_UNDEFINED;
		if (rule.kind != RULE_SAME || reg == isa->ra)
			rules[r.n_rules++] = rule;
	}
	return recipes_add(recipes, &r, rules);
}

uint32_t recover_recipe(const struct state *state, const struct isa *isa, enum trust trust,
			struct recipes *recipes)
{
	return recover_with_cfa_of(state, state, isa, trust, recipes);
}

/* --- rows ------------------------------------------------------------------------------------- */

struct row_maker {
	struct flow *flow;
	struct recipes *recipes;
	struct recipe_rows *rows;
	uint64_t start;
	enum trust trust;
	struct state last; /* the state from which the last recipe was made */
	bool has_last, last_is_guess;
	uint64_t last_uses; /* registers that determined the recipe */
	struct tails tails;
};

/* Can a recipe be made from the value? Other values of a register make no difference. */
static bool recover_is_telling(value v)
{
	return value_kind(v) == VALUE_ENTRY || value_is_frame(v);
}

/* Would the recipe of this state be the last one again? */
static bool recover_is_same_recipe(const struct row_maker *m, const struct state *a, bool is_guess)
{
	const struct state *b = &m->last;

	if (!m->has_last || m->last_is_guess != is_guess || a->n_slots != b->n_slots)
		return false;
	for (uint64_t left = m->last_uses & (a->known | b->known); left; left &= left - 1) {
		unsigned reg = (unsigned)__builtin_ctzll(left);
		if (a->reg[reg] != b->reg[reg] &&
		    (recover_is_telling(a->reg[reg]) || recover_is_telling(b->reg[reg])))
			return false;
	}
	return memcmp(a->slot, b->slot, a->n_slots * sizeof(a->slot[0])) == 0;
}

/* Does the rule refer to a live slot? */
static bool recover_is_in_live_slot(const struct rule *rule, const struct state *state, const struct isa *isa)
{
	if (rule->kind == RULE_AT_CFA)
		return recover_is_live(state, isa, value_cfa(rule->offset));
	return rule->kind == RULE_AT_REG &&
	       recover_is_live(state, isa, value_add(state->reg[rule->from], rule->offset));
}

/*
 * Registers that determine the recipe of this state, as long as the slots do not change. Registers restored
 * from a slot do not matter, unless others, or the CFA, had to be found in registers.
 */
static uint64_t recover_deciding_registers(const struct recipes *recipes, uint32_t index,
					   const struct state *state, const struct isa *isa)
{
	uint64_t all = isa->callee_saved | 1ull << isa->ra, in_slots = 0;
	uint64_t frame = 1ull << isa->sp | 1ull << isa->fp;

	if (index == RECIPE_NONE)
		return (1ull << REG_MAX) - 1;
	const struct recipe *r = &recipes->recipes.at[index];
	const struct rule *rules = recipes->rules.at + r->rules;
	bool has_searched = r->cfa_kind != CFA_REG || !(frame >> r->cfa_reg & 1);
	for (unsigned i = 0; i < r->n_rules; i++) {
		if (recover_is_in_live_slot(&rules[i], state, isa))
			in_slots |= 1ull << rules[i].reg;
		else if (rules[i].kind != RULE_SAME)
			has_searched = true;
	}
	return (has_searched ? all : all & ~in_slots) | frame | recipe_reads(recipes, r);
}

/*
 * A function that sets up its caller's frame returns with another frame pointer than it was called with. The
 * caller's code after the call refers to the former, wherever that is now; before it is computed, the caller
 * has no frame pointer.
 */
static value recover_as_after_return(const struct flow *flow, value v)
{
	value entry = value_entry(flow->isa->fp);

	return v == flow->left_frame ? entry : v == entry ? VALUE_UNKNOWN : v;
}

/* The state in which the caller's registers are found: usually the one that is given. */
static const struct state *recover_for_caller(const struct flow *flow, const struct state *state,
					      struct state *after)
{
	if (flow->left_frame == VALUE_UNKNOWN)
		return state;
	state_copy(after, state);
	for (unsigned reg = 0; reg < flow->isa->n_regs; reg++)
		if (reg != flow->isa->sp)
			state_set(after, reg, recover_as_after_return(flow, after->reg[reg]));
	for (uint32_t i = 0; i < after->n_slots; i++)
		after->slot[i].holds = recover_as_after_return(flow, after->slot[i].holds);
	return after;
}

static void recover_make_row(struct row_maker *m, uint32_t i, const struct state *state, bool is_guess)
{
	const struct isa *isa = m->flow->isa;
	enum trust trust = is_guess ? TRUST_GUESS : m->trust;
	struct state space;

	state_copy(&m->last, state);
	m->has_last = true;
	m->last_is_guess = is_guess;
	const struct state *callers = recover_for_caller(m->flow, state, &space);
	uint32_t recipe = recover_with_cfa_of(state, callers, isa, trust, m->recipes);
	if (recipe == RECIPE_NONE && isa->call_pushes_ra) {
		m->has_last = false; /* another place with this state may have another recipe */
		if (!is_guess && tails_have(&m->tails, m->flow, i))
			recipe = recover_caller_only(callers, isa, m->recipes);
	}
	m->last_uses = recover_deciding_registers(m->recipes, recipe, state, isa);
	recipe_rows_add(m->rows, (uint32_t)(m->flow->vaddrs.at[i] - m->start), recipe);
}

static void recover_make_no_row(struct row_maker *m, uint32_t i)
{
	uint32_t offset = (uint32_t)(m->flow->vaddrs.at[i] - m->start);

	m->has_last = false;
	if (offset == 0 || !m->flow->insns.at[i].is_padding)
		recipe_rows_add(m->rows, offset, RECIPE_NONE);
}

/* The end of the straight-line reached code from a leader; and everything that it writes. */
static uint32_t recover_run_end(const struct flow *flow, uint32_t i, uint32_t end, uint64_t *ret_writes)
{
	*ret_writes = 0;
	do {
		*ret_writes |= flow->uses.at[i].writes;
		if (flow->uses.at[i++].needs & FLOW_ENDS)
			return i;
	} while (i < end && (flow->flags.at[i] & (INSN_LEADER | INSN_REACHED)) == INSN_REACHED);
	return i;
}

/* Before a call, a copy of the return address in another register is better than the register itself. */
static bool recover_wants_copy(const struct flow *flow, uint32_t i, const struct state *state)
{
	const struct isa *isa = flow->isa;
	bool is_call = flow->insns.at[i].flow == FLOW_CALL || flow->insns.at[i].flow == FLOW_CALL_INDIRECT;

	return is_call && !isa->call_pushes_ra && state->reg[isa->ra] == value_entry(isa->ra);
}

/* Instruction by instruction, from the second one of the run on. */
static void recover_make_rows_between(struct row_maker *m, uint32_t i, uint32_t end,
				      const struct state *first, bool is_guess)
{
	struct state state;

	state_copy(&state, first);
	state.slots_changed = false;
	for (; i + 1 < end; i++) {
		bool may_differ = m->flow->uses.at[i].writes & m->last_uses;

		flow_step(m->flow, i, &state);
		may_differ |= state.slots_changed;
		bool is_control = m->flow->uses.at[i + 1].needs & FLOW_CONTROL;
		if ((is_control && recover_wants_copy(m->flow, i + 1, &state)) ||
		    (may_differ && !recover_is_same_recipe(m, &state, is_guess)))
			recover_make_row(m, i + 1, &state, is_guess);
		state.slots_changed = false;
	}
}

/* Most runs do not change anything that determines the recipe: they have one row. */
static uint32_t recover_make_rows(struct row_maker *m, uint32_t i, uint32_t end)
{
	const struct flow *flow = m->flow;
	const struct state *state = flow->flags.at[i] & INSN_LEADER ? flow_state(flow, i) : NULL;
	bool is_guess = flow->flags.at[i] & INSN_GUESS;
	uint64_t writes;

	if (!state || !(flow->flags.at[i] & INSN_REACHED)) {
		recover_make_no_row(m, i);
		return i + 1;
	}
	if (recover_wants_copy(flow, i, state) || !recover_is_same_recipe(m, state, is_guess))
		recover_make_row(m, i, state, is_guess);
	end = recover_run_end(flow, i, end, &writes);
	if (!flow->is_settled || state->slots_changed || (writes & m->last_uses))
		recover_make_rows_between(m, i, end, state, is_guess);
	return end;
}

void recover_rows(struct flow *flow, size_t part, struct recipes *recipes, struct recipe_rows *ret)
{
	struct row_maker m = { .flow = flow,
			       .recipes = recipes,
			       .rows = ret,
			       .start = flow->parts.at[part].start,
			       .trust = recover_trust(flow) };
	uint32_t end = flow->parts.at[part].first + flow->parts.at[part].n;

	for (uint32_t i = flow->parts.at[part].first; i < end;)
		i = recover_make_rows(&m, i, end);
	tails_done(&m.tails);
}

/* --- sp, derived from the frame pointer --------------------------------------------------------- */

struct fp_search {
	const struct flow *flow;
	uint64_t vaddr;
	int64_t distance;
	bool is_found;
};

static void recover_see_fp(void *context, const struct flow_point *point)
{
	struct fp_search *search = context;
	const struct isa *isa = search->flow->isa;
	const struct insn *insn = &search->flow->insns.at[point->insn];
	uint64_t at = search->flow->vaddrs.at[point->insn];

	if (!point->state || point->is_guess || search->vaddr - at >= insn->len)
		return;
	value fp = point->state->reg[isa->fp], sp = point->state->reg[isa->sp];
	search->is_found = value_is_frame(fp) && value_is_frame(sp) && value_same_base(fp, sp);
	if (search->is_found)
		search->distance = (int64_t)value_offset(sp) - value_offset(fp);
}

bool recover_sp_from_fp(struct flow *flow, uint64_t vaddr, int64_t *ret)
{
	struct fp_search search = { .flow = flow, .vaddr = vaddr };

	for (size_t part = 0; part < flow->parts.n && !search.is_found; part++)
		if (vaddr >= flow->parts.at[part].start && vaddr < flow->parts.at[part].end)
			flow_walk(flow, part, recover_see_fp, &search);
	*ret = search.distance;
	return search.is_found;
}
