/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/ahead.h"

#include <stdlib.h>
#include <string.h>

#include "recipes/ahead_path.h"

#define MAX_INSNS 8192 /* followed for one recipe */
#define MAX_PATHS 512  /* branches to be followed: the most recent, which lead furthest; a power of two */
#define N_SEEN 16384   /* a power of two, above MAX_INSNS */
#define WANTED_EXITS 2

struct ahead {
	const struct isa *isa;
	uint64_t lost_in_call;        /* registers */
	struct path paths[MAX_PATHS]; /* to be followed: a stack, with its top at first + n; the bottom may be
					 overwritten */
	unsigned first_path, n_paths;
	struct path now;
	bool checks_calls;     /* a call of code that never returns ends a path */
	uint64_t seen[N_SEEN]; /* open hash of addresses + 1 */
};

struct ahead *ahead_new(const struct isa *isa, uint64_t kept)
{
	struct ahead *ahead = alloc_zero(1, sizeof(*ahead));

	ahead->isa = isa;
	ahead->lost_in_call = ((1ull << isa->n_regs) - 1) & ~isa->callee_saved & ~(1ull << isa->sp) & ~kept;
	return ahead;
}

void ahead_free(struct ahead *ahead)
{
	free(ahead);
}

static void ahead_transfer(struct ahead *ahead, const struct insn *insn)
{
	struct path *path = &ahead->now;

	if (insn->flow == FLOW_CALL || insn->flow == FLOW_CALL_INDIRECT) {
		path_forget(path, ahead->lost_in_call);
		return;
	}
	for (unsigned i = 0; i < insn->n_effects && i < INSN_MAX_EFFECTS; i++)
		path_apply(ahead->isa, path, &insn->effect[i]);
	path_forget(path, insn->clobbers);
}

/* ---- an exit as a recipe ------------------------------------------------------------------------ */

static bool ahead_is_entry(const struct ahead_value *v, unsigned reg)
{
	return v->kind == AHEAD_SUM && v->base == reg && v->offset == 0 && !v->is_short;
}

/* False if a recipe cannot express the value. */
static bool ahead_rule_of(const struct isa *isa, const struct recipe *recipe, const struct ahead_value *v,
			  unsigned reg, struct rule *ret)
{
	*ret = (struct rule){ .reg = (uint8_t)reg, .kind = RULE_SAME };
	if (ahead_is_entry(v, reg))
		return true;
	if (reg == isa->ra && ahead_is_entry(v, v->base)) {
		ret->kind = RULE_REG;
		ret->from = v->base;
		return true;
	}
	if (v->kind == AHEAD_FAR && recipe->cfa_kind == CFA_DEREF && recipe->cfa_reg == v->base &&
	    recipe->cfa_offset == v->offset && !v->is_doubtful && !v->is_short) {
		ret->kind = RULE_AT_CFA;
		ret->offset = v->addend - recipe->cfa_addend;
		return true;
	}
	if (v->kind != AHEAD_SLOT || v->addend || v->is_short)
		return false;
	/* Frame pointer and return address are saved once, on entry; other registers perhaps further ahead.
	 */
	if (v->is_doubtful && reg != isa->ra && reg != isa->fp)
		return false;
	bool is_near = recipe->cfa_kind == CFA_REG && recipe->cfa_reg == v->base;
	ret->kind = is_near ? RULE_AT_CFA : RULE_AT_REG;
	ret->from = is_near ? 0 : v->base;
	ret->offset = v->offset - (is_near ? recipe->cfa_offset : 0);
	return true;
}

static bool ahead_set_cfa(const struct ahead_value *sp, int32_t popped, struct recipe *ret)
{
	if (sp->kind != AHEAD_SUM && sp->kind != AHEAD_SLOT)
		return false;
	ret->cfa_kind = sp->kind == AHEAD_SUM ? CFA_REG : CFA_DEREF;
	ret->cfa_reg = sp->base;
	ret->cfa_offset = sp->offset + (sp->kind == AHEAD_SUM ? popped : 0);
	ret->cfa_addend = sp->kind == AHEAD_SUM ? 0 : sp->addend + popped;
	return true;
}

/*
 * The recipe for the state before a return, through register `through` if calls do not push the return
 * address; RECIPE_NONE if the state does not determine the caller.
 */
static uint32_t ahead_recipe_of(const struct isa *isa, struct path *path, uint8_t through,
				struct recipes *recipes)
{
	struct recipe recipe = { .witness = WITNESS_ANALYSIS, .trust = TRUST_GUESS };
	const struct ahead_value *sp = &path->reg[isa->sp];
	struct ahead_value ra = isa->call_pushes_ra ? path_load(isa, path, *sp) : path_reg(path, through);
	uint64_t wanted = isa->callee_saved | 1ull << isa->ra | (sp->is_short ? 1ull << isa->sp : 0);
	struct rule rules[RECIPE_MAX_RULES];

	if (!ahead_set_cfa(sp, isa->call_pushes_ra ? 8 : 0, &recipe))
		return RECIPE_NONE;
	for (uint64_t left = wanted; left && recipe.n_rules < RECIPE_MAX_RULES; left &= left - 1) {
		unsigned reg = (unsigned)__builtin_ctzll(left);
		const struct ahead_value *v = reg == isa->ra ? &ra : &path->reg[reg];
		struct rule rule;
		bool is_told = ahead_rule_of(isa, &recipe, v, reg, &rule);

		if (!is_told && reg == isa->ra)
			return RECIPE_NONE;
		if (!is_told)
			rule.kind = RULE_UNDEFINED;
		if (rule.kind != RULE_SAME || reg == isa->ra)
			rules[recipe.n_rules++] = rule;
	}
	return recipes_add(recipes, &recipe, rules);
}

/* ---- following ---------------------------------------------------------------------------------- */

/* The position of pc, or where it would be inserted. */
static uint64_t *ahead_seen_at(struct ahead *ahead, uint64_t pc)
{
	size_t at = hash_u64(pc) & (N_SEEN - 1);

	while (ahead->seen[at] && ahead->seen[at] != pc + 1)
		at = (at + 1) & (N_SEEN - 1);
	return &ahead->seen[at];
}

static bool ahead_see(struct ahead *ahead, uint64_t pc)
{
	uint64_t *at = ahead_seen_at(ahead, pc);
	bool is_new = !*at;

	*at = pc + 1;
	return is_new;
}

static void ahead_remember(struct ahead *ahead, uint64_t pc)
{
	if (*ahead_seen_at(ahead, pc))
		return;
	struct path *path = &ahead->paths[(ahead->first_path + ahead->n_paths) % MAX_PATHS];

	if (ahead->n_paths == MAX_PATHS)
		ahead->first_path++;
	else
		ahead->n_paths++;
	path_copy(path, &ahead->now);
	path->pc = pc;
}

/* Has the frame been released, and not only read? Then a jump is a tail call. */
static bool ahead_is_given_back(const struct ahead *ahead)
{
	const struct isa *isa = ahead->isa;
	const struct ahead_value *ra = &ahead->now.reg[isa->ra];

	return !isa->call_pushes_ra && ra->kind == AHEAD_SLOT &&
	       !ahead_is_entry(&ahead->now.reg[isa->sp], isa->sp);
}

/*
 * The same before a jump through a register where calls push return addresses: the last word that was popped
 * is the caller's frame pointer (leave; jmp *%r11). What lies above it is the return address.
 */
static bool ahead_has_left(const struct ahead *ahead)
{
	const struct isa *isa = ahead->isa;
	const struct ahead_value *sp = &ahead->now.reg[isa->sp], *fp = &ahead->now.reg[isa->fp];

	return isa->call_pushes_ra && fp->kind == AHEAD_SLOT && !fp->addend && !fp->is_short &&
	       sp->kind == AHEAD_SUM && !sp->is_short && sp->base == fp->base && sp->offset == fp->offset + 8;
}

#define EPILOGUE_MAX 8 /* instructions from a shared epilogue to the return */

/* Do a few instructions without a branch lead to a return? */
static bool ahead_is_epilogue(const struct ahead *ahead, ahead_code code, void *context, uint64_t pc)
{
	struct insn insn = { .flow = FLOW_NEXT };

	for (unsigned n = 0; n < EPILOGUE_MAX && insn.flow == FLOW_NEXT; n++, pc += insn.len)
		if (ahead->isa->decode(code(context, pc), pc, &insn) < 0 || insn.len == 0)
			return false;
	return insn.flow == FLOW_RETURN;
}

#define NORETURN_MAX 64 /* instructions of code that only calls something and never continues */

/* Does the code at pc lead straight to a call that is followed by a trap? */
static bool ahead_never_returns(const struct ahead *ahead, ahead_code code, void *context, uint64_t pc)
{
	struct insn insn = { .flow = FLOW_NEXT };
	uint8_t before = FLOW_NEXT;

	for (unsigned n = 0; n < NORETURN_MAX; n++, pc += insn.len) {
		before = insn.flow;
		if (ahead->isa->decode(code(context, pc), pc, &insn) < 0 || insn.len == 0)
			return false;
		if (insn.flow != FLOW_NEXT && insn.flow != FLOW_CALL && insn.flow != FLOW_CALL_INDIRECT)
			break;
	}
	return insn.flow == FLOW_STOP && before != FLOW_NEXT;
}

/*
 * Follows one instruction of the current path. False at its end; ret_recipe: of the exit where it ends,
 * RECIPE_NONE if it ends otherwise.
 */
static bool ahead_follow(struct ahead *ahead, ahead_code code, void *context, struct recipes *recipes,
			 uint32_t *ret_recipe)
{
	const struct isa *isa = ahead->isa;
	struct path *path = &ahead->now;
	struct insn insn;

	*ret_recipe = RECIPE_NONE;
	if (isa->decode(code(context, path->pc), path->pc, &insn) < 0 || insn.len == 0)
		return false;
	ahead_transfer(ahead, &insn);
	switch ((enum insn_flow)insn.flow) {
	case FLOW_RETURN:
		*ret_recipe = ahead_recipe_of(isa, path, insn.through, recipes);
		return false;
	case FLOW_JUMP_INDIRECT:
		if (ahead_is_given_back(ahead) || ahead_has_left(ahead))
			*ret_recipe = ahead_recipe_of(isa, path, isa->ra, recipes);
		return false;
	case FLOW_STOP:
		return false;
	case FLOW_CALL:
		if (ahead->checks_calls && ahead_never_returns(ahead, code, context, insn.target))
			return false;
		break;
	case FLOW_JUMP:
		path->pc = insn.target;
		if (!ahead_is_given_back(ahead) || ahead_is_epilogue(ahead, code, context, insn.target))
			return true;
		*ret_recipe = ahead_recipe_of(isa, path, isa->ra, recipes);
		return false;
	case FLOW_BRANCH:
		ahead_remember(ahead, insn.target);
		break;
	default:
		break;
	}
	path->pc += insn.len;
	return true;
}

static void ahead_begin(struct ahead *ahead, uint64_t pc, bool is_return)
{
	memset(ahead->seen, 0, sizeof(ahead->seen));
	ahead->first_path = ahead->n_paths = 0;
	path_begin(&ahead->now, pc);
	if (is_return)
		path_forget(&ahead->now, ahead->lost_in_call);
}

static bool ahead_next_path(struct ahead *ahead)
{
	if (ahead->n_paths == 0)
		return false;
	const struct path *path = &ahead->paths[(ahead->first_path + --ahead->n_paths) % MAX_PATHS];
	path_copy(&ahead->now, path);
	return true;
}

static bool ahead_is_same_rule(const struct recipes *recipes, uint32_t a, uint32_t b, unsigned reg)
{
	const struct rule *x = recipe_rule(recipes, &recipes->recipes.at[a], reg);
	const struct rule *y = recipe_rule(recipes, &recipes->recipes.at[b], reg);

	return x == y || (x && y && x->kind == y->kind && x->from == y->from && x->offset == y->offset);
}

/* Do both lead to the same caller? What they say of other registers does not matter: see ahead_common. */
static bool ahead_agree(const struct ahead *ahead, const struct recipes *recipes, uint32_t a, uint32_t b)
{
	const struct recipe *x = &recipes->recipes.at[a], *y = &recipes->recipes.at[b];

	return x->cfa_kind == y->cfa_kind && x->cfa_reg == y->cfa_reg && x->cfa_offset == y->cfa_offset &&
	       x->cfa_addend == y->cfa_addend && ahead_is_same_rule(recipes, a, b, ahead->isa->ra) &&
	       ahead_is_same_rule(recipes, a, b, ahead->isa->fp);
}

/* What both say: a register of which they differ is taken for lost. */
static uint32_t ahead_common(const struct isa *isa, struct recipes *recipes, uint32_t a, uint32_t b)
{
	struct recipe recipe = recipes->recipes.at[a];
	uint64_t told = isa->callee_saved | 1ull << isa->ra | 1ull << isa->sp;
	struct rule rules[RECIPE_MAX_RULES];

	recipe.n_rules = 0;
	for (uint64_t left = told; left && recipe.n_rules < RECIPE_MAX_RULES; left &= left - 1) {
		unsigned reg = (unsigned)__builtin_ctzll(left);
		const struct rule *rule = recipe_rule(recipes, &recipes->recipes.at[a], reg);
		if (!ahead_is_same_rule(recipes, a, b, reg))
			rules[recipe.n_rules++] =
				(struct rule){ .reg = (uint8_t)reg, .kind = RULE_UNDEFINED };
		else if (rule)
			rules[recipe.n_rules++] = *rule;
	}
	return recipes_add(recipes, &recipe, rules);
}

#define FRESH_MAX 64 /* instructions searched backwards */

static bool ahead_touches(const struct isa *isa, const struct insn *insn)
{
	uint64_t kept = 1ull << isa->sp | 1ull << isa->ra;

	for (unsigned i = 0; i < insn->n_effects; i++) {
		const struct effect *e = &insn->effect[i];
		bool writes = e->kind != EFFECT_STORE && e->kind != EFFECT_COMPARE && e->reg < REG_MAX;
		if (e->kind == EFFECT_PUSH || e->kind == EFFECT_POP || (writes && (kept >> e->reg & 1)))
			return true;
	}
	return insn->flow != FLOW_NEXT || (insn->clobbers & kept);
}

/*
 * Code that was entered by a call a few instructions before, according to a marker, and has not changed the
 * stack since: tail calls from piece to piece have no return of their own that could be found ahead.
 */
static bool ahead_is_marked(const struct ahead *ahead, ahead_code code, void *context, uint64_t pc)
{
	const struct isa *isa = ahead->isa;
	struct insn insn;

	for (unsigned n = 0; n < FRESH_MAX; n++, pc -= isa->min_insn) {
		if (isa->decode(code(context, pc), pc, &insn) < 0)
			return false;
		if (insn.is_entry_mark && !ahead_touches(isa, &insn))
			return true;
		if (n > 0 && ahead_touches(isa, &insn))
			return false;
	}
	return false;
}

#define THUNK_ALIGN 16
#define THUNK_MAX 64 /* bytes */
#define UNUSED_MIN 4 /* bytes of zeros on each side */

/* Memory where nothing was ever written. */
static bool ahead_is_unused(ahead_code code, void *context, uint64_t at)
{
	static const uint8_t zeros[UNUSED_MIN];
	struct bytes there = code(context, at);

	return there.len >= UNUSED_MIN && memcmp(there.at, zeros, UNUSED_MIN) == 0;
}

/* Does the code at `from` leave the stack as it is, and end in an indirect jump behind pc? */
static bool ahead_jumps_on(const struct ahead *ahead, ahead_code code, void *context, uint64_t from,
			   uint64_t pc)
{
	uint64_t limit = from + THUNK_MAX;
	bool has_pc = false;
	struct insn insn;

	for (; from < limit; from += insn.len) {
		has_pc |= from == pc;
		if (ahead->isa->decode(code(context, from), from, &insn) < 0 || insn.len == 0)
			return false;
		if (insn.flow == FLOW_JUMP_INDIRECT)
			return has_pc && ahead_is_unused(code, context, from + insn.len);
		if (ahead_touches(ahead->isa, &insn))
			return false;
	}
	return false;
}

/*
 * x86-64, where code has no marker, but the walk checks the return address that it finds on the stack: is
 * there nothing but unused memory around the code? A runtime's thunk only moves arguments, and jumps to what
 * it has found. Inside a function the same jump would not tell anything.
 */
static bool ahead_is_thunk(const struct ahead *ahead, ahead_code code, void *context, uint64_t pc)
{
	uint64_t start = pc & ~(uint64_t)(THUNK_ALIGN - 1);

	for (; pc - start < THUNK_MAX; start -= THUNK_ALIGN)
		if (ahead_is_unused(code, context, start - UNUSED_MIN))
			return ahead_jumps_on(ahead, code, context, start, pc);
	return false;
}

/* Is the state at pc still the one in which its function was called? */
static bool ahead_is_fresh(const struct ahead *ahead, ahead_code code, void *context, uint64_t pc)
{
	return ahead->isa->call_pushes_ra ? ahead_is_thunk(ahead, code, context, pc)
					  : ahead_is_marked(ahead, code, context, pc);
}

static uint32_t ahead_fresh_recipe(struct ahead *ahead, uint64_t pc, struct recipes *recipes)
{
	path_begin(&ahead->now, pc);
	return ahead_recipe_of(ahead->isa, &ahead->now, ahead->isa->ra, recipes);
}

/*
 * Does the exit find the return address of a call that is being made on top of the stack (x86-64)? That is
 * what a path finds which runs through another function, after a call that does not return: a frame that is
 * given back is as good as none. A function that calls has a frame, if only to align sp.
 */
static bool ahead_is_through(const struct isa *isa, const struct recipes *recipes, uint32_t found,
			     bool is_return)
{
	const struct recipe *recipe = &recipes->recipes.at[found];

	return isa->call_pushes_ra && is_return && recipe->cfa_kind == CFA_REG &&
	       recipe->cfa_reg == isa->sp && recipe->cfa_offset <= 8;
}

/* Of two exits that lead to different callers; RECIPE_NONE if either may be right. */
static uint32_t ahead_choose(const struct isa *isa, const struct recipes *recipes, uint32_t a, uint32_t b,
			     bool is_return)
{
	bool is_through = ahead_is_through(isa, recipes, a, is_return);

	if (is_through == ahead_is_through(isa, recipes, b, is_return))
		return RECIPE_NONE;
	return is_through ? b : a;
}

/* ret_differ: no recipe, because two exits lead to different callers. */
static uint32_t ahead_search(struct ahead *ahead, ahead_code code, void *context, uint64_t pc, bool is_return,
			     struct recipes *recipes, bool *ret_differ)
{
	uint32_t found = RECIPE_NONE;
	unsigned n_exits = 0;

	*ret_differ = false;
	ahead_begin(ahead, pc, is_return);
	for (unsigned n = 0; n < MAX_INSNS; n++) {
		uint32_t recipe = RECIPE_NONE;
		if (ahead_see(ahead, ahead->now.pc) && ahead_follow(ahead, code, context, recipes, &recipe))
			continue;
		if (recipe != RECIPE_NONE && n_exits && !ahead_agree(ahead, recipes, found, recipe)) {
			found = ahead_choose(ahead->isa, recipes, found, recipe, is_return);
			*ret_differ = found == RECIPE_NONE;
			if (*ret_differ)
				return RECIPE_NONE;
		} else if (recipe != RECIPE_NONE) {
			found = n_exits++ ? ahead_common(ahead->isa, recipes, found, recipe) : recipe;
		}
		if (n_exits == WANTED_EXITS || !ahead_next_path(ahead))
			break;
	}
	return found;
}

uint32_t ahead_recipe(struct ahead *ahead, ahead_code code, void *context, uint64_t pc, bool is_return,
		      struct recipes *recipes)
{
	bool differ;

	ahead->checks_calls = false;
	uint32_t found = ahead_search(ahead, code, context, pc, is_return, recipes, &differ);
	if (differ) { /* code after a call that does not return belongs to something else */
		ahead->checks_calls = true;
		found = ahead_search(ahead, code, context, pc, is_return, recipes, &differ);
	}
	if (found == RECIPE_NONE && !differ && !is_return && ahead_is_fresh(ahead, code, context, pc))
		return ahead_fresh_recipe(ahead, pc, recipes);
	return found;
}
