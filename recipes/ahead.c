/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/ahead.h"

#include <stdlib.h>
#include <string.h>

#define MAX_INSNS 8192 /* followed for one recipe */
#define MAX_PATHS 512  /* branches to be followed: the most recent, which lead furthest; a power of two */
#define MAX_SLOTS 24   /* stores tracked on one path */
#define N_SEEN 16384   /* a power of two, above MAX_INSNS */
#define WANTED_EXITS 2

/* The future value of a register, in terms of the current registers and memory. */
enum ahead_kind {
	AHEAD_UNKNOWN,
	AHEAD_SUM,  /* the current value of register `base`, + offset */
	AHEAD_SLOT, /* the eight bytes currently at that address, + addend */
};

struct ahead_value {
	uint8_t kind, base;
	bool is_short; /* something unknown, not negative, was added: arguments that are popped */
	int32_t offset, addend;
};

struct ahead_slot {
	struct ahead_value at, holds;
};

struct path {
	uint64_t pc;
	struct ahead_value reg[REG_MAX];
	struct ahead_slot slot[MAX_SLOTS];
	unsigned n_slots;
};

struct ahead {
	const struct isa *isa;
	uint64_t lost_in_call;        /* registers */
	struct path paths[MAX_PATHS]; /* to be followed: a stack, with its top at first + n; the bottom may be
					 overwritten */
	unsigned first_path, n_paths;
	struct path now;
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

/* ---- values ------------------------------------------------------------------------------------- */

static const struct ahead_value unknown = { .kind = AHEAD_UNKNOWN };

static bool ahead_is_same(const struct ahead_value *a, const struct ahead_value *b)
{
	return a->kind == b->kind && a->base == b->base && a->offset == b->offset && a->addend == b->addend &&
	       a->is_short == b->is_short;
}

static struct ahead_value ahead_add(struct ahead_value v, int64_t by)
{
	int32_t *part = v.kind == AHEAD_SUM ? &v.offset : &v.addend;

	if (v.kind == AHEAD_UNKNOWN || by > INT32_MAX / 2 || by < INT32_MIN / 2 ||
	    __builtin_add_overflow(*part, (int32_t)by, part))
		return unknown;
	return v;
}

static struct ahead_value *ahead_reg_of(struct path *path, uint8_t reg)
{
	return reg < REG_MAX ? &path->reg[reg] : NULL;
}

static struct ahead_value ahead_read_reg(struct path *path, uint8_t reg)
{
	return reg < REG_MAX ? path->reg[reg] : unknown;
}

static void ahead_write_reg(struct path *path, uint8_t reg, struct ahead_value v)
{
	struct ahead_value *at = ahead_reg_of(path, reg);

	if (at)
		*at = v;
}

/* ---- memory ------------------------------------------------------------------------------------- */

static struct ahead_value ahead_load(const struct isa *isa, const struct path *path, struct ahead_value at)
{
	if (at.kind != AHEAD_SUM || at.is_short)
		return unknown;
	for (unsigned i = path->n_slots; i-- > 0;)
		if (ahead_is_same(&path->slot[i].at, &at))
			return path->slot[i].holds;
	if (at.base == isa->sp && at.offset < 0) /* below sp: it may change at any time */
		return unknown;
	at.kind = AHEAD_SLOT;
	return at;
}

static void ahead_store(struct path *path, struct ahead_value at, struct ahead_value holds)
{
	if (at.kind != AHEAD_SUM || at.is_short)
		return;
	for (unsigned i = 0; i < path->n_slots; i++)
		if (ahead_is_same(&path->slot[i].at, &at)) {
			path->slot[i].holds = holds;
			return;
		}
	if (path->n_slots < MAX_SLOTS)
		path->slot[path->n_slots++] = (struct ahead_slot){ at, holds };
}

static struct ahead_value ahead_address(struct path *path, const struct effect *e)
{
	return e->index == REG_NONE ? ahead_add(ahead_read_reg(path, e->base), e->imm) : unknown;
}

static struct ahead_value ahead_sum(const struct isa *isa, struct path *path, const struct effect *e)
{
	struct ahead_value v = ahead_add(ahead_read_reg(path, e->base), e->imm);

	if (e->width && e->width < 8)
		return unknown;
	if (e->index == REG_NONE)
		return v;
	if (e->base == REG_NONE && e->imm == 0 && e->shift == 0 && e->index_width == 8 && !e->is_subtracted)
		return ahead_read_reg(path, e->index);
	/* Arguments are popped by a number that only the program knows. */
	if (e->reg != isa->sp || e->base != isa->sp || e->is_subtracted)
		return unknown;
	v.is_short = v.kind != AHEAD_UNKNOWN;
	return v;
}

static void ahead_apply(const struct isa *isa, struct path *path, const struct effect *e)
{
	struct ahead_value *sp = &path->reg[isa->sp], v;

	switch ((enum effect_kind)e->kind) {
	case EFFECT_PUSH:
		v = ahead_read_reg(path, e->reg);
		*sp = ahead_add(*sp, -(int64_t)e->width);
		ahead_store(path, *sp, e->width == 8 ? v : unknown);
		break;
	case EFFECT_POP:
		v = e->width == 8 ? ahead_load(isa, path, *sp) : unknown;
		*sp = ahead_add(*sp, e->width);
		ahead_write_reg(path, e->reg, v);
		break;
	case EFFECT_SET:
		ahead_write_reg(path, e->reg, ahead_sum(isa, path, e));
		break;
	case EFFECT_AND:
		ahead_write_reg(path, e->reg, unknown);
		break;
	case EFFECT_LOAD:
		ahead_write_reg(path, e->reg,
				e->width == 8 ? ahead_load(isa, path, ahead_address(path, e)) : unknown);
		break;
	case EFFECT_STORE:
		ahead_store(path, ahead_address(path, e),
			    e->width == 8 ? ahead_read_reg(path, e->reg) : unknown);
		break;
	case EFFECT_EXCHANGE:
		v = ahead_read_reg(path, e->reg);
		ahead_write_reg(path, e->reg, ahead_read_reg(path, e->base));
		ahead_write_reg(path, e->base, v);
		break;
	case EFFECT_COMPARE:
		break;
	}
}

static void ahead_forget(struct path *path, uint64_t regs)
{
	for (uint64_t left = regs & ((1ull << REG_MAX) - 1); left; left &= left - 1)
		path->reg[__builtin_ctzll(left)] = unknown;
}

static void ahead_transfer(struct ahead *ahead, const struct insn *insn)
{
	struct path *path = &ahead->now;

	if (insn->flow == FLOW_CALL || insn->flow == FLOW_CALL_INDIRECT) {
		ahead_forget(path, ahead->lost_in_call);
		return;
	}
	for (unsigned i = 0; i < insn->n_effects && i < INSN_MAX_EFFECTS; i++)
		ahead_apply(ahead->isa, path, &insn->effect[i]);
	ahead_forget(path, insn->clobbers);
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
	if (v->kind != AHEAD_SLOT || v->addend || v->is_short)
		return false;
	bool is_near = recipe->cfa_kind == CFA_REG && recipe->cfa_reg == v->base;
	ret->kind = is_near ? RULE_AT_CFA : RULE_AT_REG;
	ret->from = is_near ? 0 : v->base;
	ret->offset = v->offset - (is_near ? recipe->cfa_offset : 0);
	return true;
}

static bool ahead_set_cfa(const struct ahead_value *sp, int32_t popped, struct recipe *ret)
{
	if (sp->kind == AHEAD_UNKNOWN)
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
	struct ahead_value ra =
		isa->call_pushes_ra ? ahead_load(isa, path, *sp) : ahead_read_reg(path, through);
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
	memcpy(path, &ahead->now, offsetof(struct path, slot) + ahead->now.n_slots * sizeof(path->slot[0]));
	path->n_slots = ahead->now.n_slots;
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
		if (ahead_is_given_back(ahead))
			*ret_recipe = ahead_recipe_of(isa, path, isa->ra, recipes);
		return false;
	case FLOW_STOP:
		return false;
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
	struct path *path = &ahead->now;

	memset(ahead->seen, 0, sizeof(ahead->seen));
	ahead->first_path = ahead->n_paths = 0;
	path->pc = pc;
	path->n_slots = 0;
	for (unsigned reg = 0; reg < REG_MAX; reg++)
		path->reg[reg] = (struct ahead_value){ .kind = AHEAD_SUM, .base = (uint8_t)reg };
	if (is_return)
		ahead_forget(path, ahead->lost_in_call);
}

static bool ahead_next_path(struct ahead *ahead)
{
	if (ahead->n_paths == 0)
		return false;
	const struct path *path = &ahead->paths[(ahead->first_path + --ahead->n_paths) % MAX_PATHS];
	memcpy(&ahead->now, path, offsetof(struct path, slot) + path->n_slots * sizeof(path->slot[0]));
	ahead->now.n_slots = path->n_slots;
	return true;
}

static bool ahead_is_same_rule(const struct recipes *recipes, uint32_t a, uint32_t b, unsigned reg)
{
	const struct rule *x = recipe_rule(recipes, &recipes->recipes.at[a], reg);
	const struct rule *y = recipe_rule(recipes, &recipes->recipes.at[b], reg);

	return x == y || (x && y && x->kind == y->kind && x->from == y->from && x->offset == y->offset);
}

/* Do both lead to the same caller? Which other registers they preserve does not matter. */
static bool ahead_agree(const struct ahead *ahead, const struct recipes *recipes, uint32_t a, uint32_t b)
{
	const struct recipe *x = &recipes->recipes.at[a], *y = &recipes->recipes.at[b];

	return x->cfa_kind == y->cfa_kind && x->cfa_reg == y->cfa_reg && x->cfa_offset == y->cfa_offset &&
	       x->cfa_addend == y->cfa_addend && ahead_is_same_rule(recipes, a, b, ahead->isa->ra) &&
	       ahead_is_same_rule(recipes, a, b, ahead->isa->fp);
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
static bool ahead_is_fresh(const struct ahead *ahead, ahead_code code, void *context, uint64_t pc)
{
	const struct isa *isa = ahead->isa;
	struct insn insn;

	if (isa->call_pushes_ra || isa->min_insn == 1)
		return false;
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

static uint32_t ahead_fresh_recipe(const struct isa *isa, struct recipes *recipes)
{
	struct recipe recipe = { .cfa_kind = CFA_REG,
				 .cfa_reg = isa->sp,
				 .witness = WITNESS_ANALYSIS,
				 .trust = TRUST_GUESS,
				 .n_rules = 1 };
	struct rule ra = { .reg = isa->ra, .kind = RULE_SAME };

	return recipes_add(recipes, &recipe, &ra);
}

uint32_t ahead_recipe(struct ahead *ahead, ahead_code code, void *context, uint64_t pc, bool is_return,
		      struct recipes *recipes)
{
	uint32_t found = RECIPE_NONE;
	unsigned n_exits = 0;

	ahead_begin(ahead, pc, is_return);
	for (unsigned n = 0; n < MAX_INSNS; n++) {
		uint32_t recipe = RECIPE_NONE;
		if (ahead_see(ahead, ahead->now.pc) && ahead_follow(ahead, code, context, recipes, &recipe))
			continue;
		if (recipe != RECIPE_NONE) {
			if (n_exits && !ahead_agree(ahead, recipes, found, recipe))
				return RECIPE_NONE;
			found = n_exits++ ? found : recipe;
		}
		if (n_exits == WANTED_EXITS || !ahead_next_path(ahead))
			break;
	}
	if (!n_exits && !is_return && ahead_is_fresh(ahead, code, context, pc))
		return ahead_fresh_recipe(ahead->isa, recipes);
	return found;
}
