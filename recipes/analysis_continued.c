/* SPDX-License-Identifier: Apache-2.0 */
/*
 * analysis_continued: code that was not called, but jumped or returned to, and runs in a frame that was set
 * up before: V8's deoptimizer writes the frames of interpreted functions and returns to code that continues
 * them; other code of V8 ends such a frame.
 *
 * Such code refers to the frame below the frame pointer without having set it, which a function that was
 * called never does: to that, the frame pointer is a value to be kept. As long as sp is where it was at the
 * entry or below, and the frame pointer is unchanged, the caller is that of the frame. What the code is told
 * from: none of its exits is that of a function that was called.
 */
#include "recipes/analysis_private.h"

#define LOOK_INSNS 64

struct continued_search {
	const struct flow *flow;
	uint64_t vaddr;
	bool is_intact;  /* at vaddr, the frame is as it was at the entry */
	bool uses_frame; /* somewhere: an instruction refers to something below the frame pointer */
};

static bool continued_refers_below(const struct isa *isa, const struct insn *insn)
{
	for (unsigned k = 0; k < insn->n_effects && k < INSN_MAX_EFFECTS; k++) {
		const struct effect *e = &insn->effect[k];
		if ((e->kind == EFFECT_LOAD || e->kind == EFFECT_STORE) && e->base == isa->fp &&
		    e->index == REG_NONE && e->imm < 0)
			return true;
	}
	return false;
}

/* A look at the first instructions, because few functions are worth another analysis: does one of them
 * refer to the frame? */
static bool continued_seems(const struct analysis *analysis, uint64_t start)
{
	const struct isa *isa = isa_for_machine(analysis->image->elf_machine);
	struct insn insn = { 0 };

	for (uint64_t at = start, n = 0; n < LOOK_INSNS; at += insn.len, n++) {
		struct bytes code = image_code(analysis->image, at);
		if (isa->decode(code, at, &insn) < 0 || insn.len == 0 || insn.len > code.len ||
		    insn.flow == FLOW_STOP)
			return false;
		if (continued_refers_below(isa, &insn))
			return true;
	}
	return false;
}

static void continued_see(void *context, const struct flow_point *point)
{
	struct continued_search *search = context;
	const struct flow *flow = search->flow;
	const struct isa *isa = flow->isa;
	int32_t ra_size = isa->call_pushes_ra ? 8 : 0;

	if (!point->state || point->is_guess)
		return;
	value sp = point->state->reg[isa->sp];
	bool is_intact = point->state->reg[isa->fp] == value_entry(isa->fp) && value_kind(sp) == VALUE_CFA &&
			 value_offset(sp) <= -ra_size;
	if (search->vaddr - flow->vaddrs.at[point->insn] < flow->insns.at[point->insn].len)
		search->is_intact = is_intact;
	search->uses_frame |= is_intact && continued_refers_below(isa, flow_insn(flow, point->insn));
}

/* Is there an exit at which everything is as it was when the function was called? A jump to another function
 * says nothing of code that was returned to: that may continue the frame as well. */
static bool continued_has_exit(const struct flow *flow, bool is_entry)
{
	for (uint32_t i = 0; (i = flow_next(flow, i, INSN_EXIT_PASSES)) != FLOW_NONE; i++)
		if (!is_entry || flow->insns.at[i].flow == FLOW_RETURN)
			return true;
	return false;
}

/* Analyses the function, which starts at `start`, once more; false if it is no longer found. */
static bool continued_analyse(struct analysis *analysis, uint64_t start)
{
	struct functions *functions = analysis->functions;
	uint32_t index = functions_index(functions, start);
	uint64_t from = start, to;

	if (index != FUNCTION_NONE && functions->at[index].start != start)
		return false;
	if (index != FUNCTION_NONE) {
		analysis->flow.ignores_references = !function_is_inferred(&functions->at[index]);
		functions_analyse_alone(functions, index, &analysis->flow);
		return true;
	}
	to = functions_next_start(functions, start);
	if (!functions_between_traps(functions, start, &from, &to) || from != start)
		return false;
	analysis->flow.ignores_references = false;
	functions_analyse_range(functions, from, to, &analysis->flow);
	return true;
}

/* Saved frame pointer and return address lie where the frame pointer points to. What else the frame contains,
 * and how many arguments are above it, is not known. */
static uint32_t continued_add_recipe(const struct isa *isa, struct recipes *recipes)
{
	struct recipe recipe = { .cfa_kind = CFA_REG,
				 .cfa_reg = isa->fp,
				 .cfa_offset = 16,
				 .witness = WITNESS_ANALYSIS,
				 .trust = TRUST_GUESS };
	struct rule rules[RECIPE_MAX_RULES];

	for (uint64_t left = isa->callee_saved | 1ull << isa->ra | 1ull << isa->sp;
	     left && recipe.n_rules < RECIPE_MAX_RULES; left &= left - 1) {
		struct rule rule = { .reg = (uint8_t)__builtin_ctzll(left), .kind = RULE_UNDEFINED };
		if (rule.reg == isa->fp || rule.reg == isa->ra) {
			rule.kind = RULE_AT_CFA;
			rule.offset = rule.reg == isa->ra ? -8 : -16;
		}
		rules[recipe.n_rules++] = rule;
	}
	return recipes_add(recipes, &recipe, rules);
}

uint32_t analysis_continued_recipe(struct analysis *analysis, uint64_t vaddr, bool is_entry)
{
	struct continued_search search = { .flow = &analysis->flow, .vaddr = vaddr };
	uint64_t start = UINT64_MAX;

	if (is_entry && !continued_seems(analysis, vaddr)) /* cheaper than to find the function */
		return RECIPE_NONE;
	analysis_recipe(analysis, vaddr, true, &start);
	if (start == UINT64_MAX || (is_entry ? start != vaddr : !continued_seems(analysis, start)) ||
	    !continued_analyse(analysis, start) || continued_has_exit(&analysis->flow, is_entry))
		return RECIPE_NONE;
	for (size_t part = 0; part < analysis->flow.parts.n; part++)
		flow_walk(&analysis->flow, part, continued_see, &search);
	if (!search.uses_frame || !search.is_intact)
		return RECIPE_NONE;
	return continued_add_recipe(analysis->functions->isa, analysis->recipes);
}
