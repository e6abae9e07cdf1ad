/* SPDX-License-Identifier: Apache-2.0 */
#include "unwinder/jit.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "recipes/ahead.h"
#include "recipes/behind.h"

#define MAX_PLACES (1u << 20) /* cached; then all are dropped */
#define MAX_USED 8            /* pages that a cached place may depend on */

/* A recipe that was found, and what it depends on. */
struct jit_known {
	uint64_t pc;
	uint64_t page[MAX_USED], version[MAX_USED];
	unsigned n_pages;
	uint32_t recipe;
	pid_t pid;
	bool is_return;
	bool is_wanted; /* since jit_forget was last called */
};

struct jit {
	const struct isa *isa;
	struct code_pages *pages;
	struct recipes *recipes;
	struct ahead *ahead;
	struct map by_pc;
	VEC(struct jit_known) known;
	struct jit_known now; /* being analysed */
	bool is_too_wide;     /* it depends on more pages than can be stored */
};

struct jit *jit_new(const struct isa *isa, struct code_pages *pages, struct recipes *recipes)
{
	struct jit *jit = alloc_zero(1, sizeof(*jit));

	jit->isa = isa;
	jit->pages = pages;
	jit->recipes = recipes;
	jit->ahead = ahead_new(isa, 0);
	return jit;
}

void jit_free(struct jit *jit)
{
	if (!jit)
		return;
	ahead_free(jit->ahead);
	map_done(&jit->by_pc);
	vec_done(&jit->known);
	free(jit);
}

/* ---- calls -------------------------------------------------------------------------------------- */

static void jit_find_call(struct jit *jit, pid_t pid, uint64_t pc, struct place *ret)
{
	uint8_t before[CODE_AT_LEAST];
	size_t n = CODE_AT_LEAST;
	struct bytes code = code_pages_at(jit->pages, pid, pc - n);
	struct insn call;

	for (; code.len < n && n > 4; code = code_pages_at(jit->pages, pid, pc - n))
		n -= 4; /* memory begins less than that before pc */
	if (code.len < n)
		return;
	memcpy(before, code.at, n);
	if (!jit->isa->ends_in_call((struct bytes){ before, n }, pc, &call)) {
		ret->call = CALL_NONE;
		return;
	}
	ret->call = call.flow == FLOW_CALL ? CALL_DIRECT : CALL_INDIRECT;
	ret->call_target = call.target;
}

/* ---- recipes ------------------------------------------------------------------------------------ */

static struct bytes jit_code_at(void *context, uint64_t pc)
{
	struct jit *jit = context;
	struct jit_known *now = &jit->now;
	uint64_t page = pc >> 12;

	for (unsigned i = 0; i < now->n_pages; i++)
		if (now->page[i] == page)
			return code_pages_at(jit->pages, now->pid, pc);
	if (now->n_pages == MAX_USED) {
		jit->is_too_wide = true;
	} else {
		now->page[now->n_pages] = page;
		now->version[now->n_pages++] = code_pages_version(jit->pages, now->pid, pc);
	}
	return code_pages_at(jit->pages, now->pid, pc);
}

static bool jit_still_holds(struct jit *jit, const struct jit_known *known)
{
	for (unsigned i = 0; i < known->n_pages; i++)
		if (code_pages_version(jit->pages, known->pid, known->page[i] << 12) != known->version[i])
			return false;
	return known->n_pages > 0;
}

static uint32_t jit_analyse(struct jit *jit, pid_t pid, uint64_t pc, bool is_return)
{
	jit->now = (struct jit_known){ .pc = pc, .pid = pid, .is_return = is_return, .is_wanted = true };
	jit->is_too_wide = false;
	jit->now.recipe = ahead_recipe(jit->ahead, jit_code_at, jit, pc, is_return, jit->recipes);
	if (jit->now.recipe == RECIPE_NONE)
		jit->now.recipe = behind_recipe(jit->isa, jit_code_at, jit, pc, is_return, jit->recipes);
	if (jit->is_too_wide)
		jit->now.n_pages = 0; /* never valid */
	return jit->now.recipe;
}

static uint64_t jit_key(pid_t pid, uint64_t pc, bool is_return)
{
	return hash_u64(pc * 2 + is_return) ^ (uint64_t)(uint32_t)pid;
}

void jit_forget(struct jit *jit)
{
	VEC(struct jit_known) old = { jit->known.at, jit->known.n, jit->known.cap };

	map_done(&jit->by_pc);
	jit->by_pc = (struct map){ 0 };
	jit->known.at = NULL;
	jit->known.n = jit->known.cap = 0;
	for (size_t i = 0; i < old.n; i++) {
		struct jit_known known = old.at[i];
		if (!known.is_wanted)
			continue;
		known.is_wanted = false;
		map_put(&jit->by_pc, jit_key(known.pid, known.pc, known.is_return), (uint32_t)jit->known.n);
		vec_push(&jit->known, known);
	}
	vec_done(&old);
}

static uint32_t jit_recipe_at(struct jit *jit, pid_t pid, uint64_t pc, bool is_return)
{
	uint64_t key = jit_key(pid, pc, is_return);
	uint32_t index = map_find(&jit->by_pc, key);

	if (index != MAP_NONE) {
		struct jit_known *known = &jit->known.at[index];
		bool is_it = known->pc == pc && known->pid == pid && known->is_return == is_return;
		known->is_wanted = true;
		if (is_it && jit_still_holds(jit, known))
			return known->recipe;
		jit_analyse(jit, pid, pc, is_return);
		jit->known.at[index] = jit->now;
		return jit->now.recipe;
	}
	if (jit->known.n >= MAX_PLACES) {
		jit->known.n = 0;
		map_done(&jit->by_pc);
		jit->by_pc = (struct map){ 0 };
	}
	jit_analyse(jit, pid, pc, is_return);
	map_put(&jit->by_pc, key, (uint32_t)jit->known.n);
	vec_push(&jit->known, jit->now);
	return jit->now.recipe;
}

/* ---- exits ----------------------------------------------------------------------------------------- */

#define WAY_OUT_MAX 1024 /* instructions searched after pc */
#define EPILOGUE_MAX 24
#define SHARED_MIN (1u << 16) /* bytes: longer than any function */

/* Does the straight-line code from pc on restore the return address, and return? */
static bool jit_is_epilogue(struct jit *jit, pid_t pid, uint64_t pc)
{
	const struct isa *isa = jit->isa;
	bool has_ra = isa->call_pushes_ra;
	struct insn insn;

	for (unsigned n = 0; n < EPILOGUE_MAX; n++, pc += insn.len) {
		if (isa->decode(code_pages_at(jit->pages, pid, pc), pc, &insn) < 0 || insn.len == 0)
			return false;
		for (unsigned i = 0; i < insn.n_effects; i++)
			has_ra |= insn.effect[i].kind == EFFECT_LOAD && insn.effect[i].reg == isa->ra;
		if (insn.flow != FLOW_NEXT)
			return insn.flow == FLOW_RETURN && has_ra;
	}
	return false;
}

static uint64_t jit_find_way_out(struct jit *jit, pid_t pid, uint64_t pc)
{
	struct insn insn;

	for (unsigned n = 0; n < WAY_OUT_MAX; n++) {
		if (jit->isa->decode(code_pages_at(jit->pages, pid, pc), pc, &insn) < 0)
			insn = (struct insn){ .len = jit->isa->min_insn }; /* constants between the code */
		if (insn.flow == FLOW_JUMP && jit_is_epilogue(jit, pid, insn.target))
			return insn.target;
		pc += insn.len ? insn.len : jit->isa->min_insn;
	}
	return VADDR_NONE;
}

/* The result is cached for the place of the exit. */
uint32_t jit_way_out(struct jit *jit, pid_t pid, uint64_t pc, bool *ret_is_shared)
{
	uint64_t way_out = jit_find_way_out(jit, pid, pc);

	*ret_is_shared = way_out - pc + SHARED_MIN > 2 * SHARED_MIN;
	return way_out == VADDR_NONE ? RECIPE_NONE : jit_recipe_at(jit, pid, way_out, true);
}

/* ---- places -------------------------------------------------------------------------------------- */

static bool jit_touches(const struct isa *isa, const struct insn *insn)
{
	uint64_t kept = 1ull << isa->sp | 1ull << isa->ra;

	for (unsigned i = 0; i < insn->n_effects && i < INSN_MAX_EFFECTS; i++) {
		const struct effect *e = &insn->effect[i];
		bool writes = e->kind != EFFECT_STORE && e->kind != EFFECT_COMPARE && e->reg < REG_MAX;
		if (e->kind == EFFECT_PUSH || e->kind == EFFECT_POP || (writes && (kept >> e->reg & 1)))
			return true;
	}
	return insn->flow == FLOW_CALL || insn->flow == FLOW_CALL_INDIRECT || insn->flow == FLOW_RETURN ||
	       (insn->clobbers & kept);
}

bool jit_is_untouched(struct jit *jit, pid_t pid, uint64_t from, uint64_t to)
{
	struct insn insn;

	for (; from < to; from += insn.len)
		if (jit->isa->decode(code_pages_at(jit->pages, pid, from), from, &insn) < 0 ||
		    insn.len == 0 || jit_touches(jit->isa, &insn))
			return false;
	return from == to;
}

#define MAX_TO_USE 64 /* instructions followed to where the frame is used */

/* 1: it does; -1: it changes the frame pointer, or control goes where it is not followed. */
static int jit_uses_fp(const struct isa *isa, const struct insn *insn)
{
	int found = 0;

	for (unsigned i = 0; i < insn->n_effects && i < INSN_MAX_EFFECTS; i++) {
		const struct effect *e = &insn->effect[i];
		bool is_memory = e->kind == EFFECT_LOAD || e->kind == EFFECT_STORE;
		if (is_memory && e->base == isa->fp && e->index == REG_NONE && e->imm < 0)
			found = 1;
		else if (e->kind != EFFECT_STORE && e->kind != EFFECT_PUSH && e->kind != EFFECT_COMPARE &&
			 e->reg == isa->fp)
			return -1;
	}
	bool goes_on = insn->flow == FLOW_NEXT || insn->flow == FLOW_BRANCH || insn->flow == FLOW_JUMP;
	return !goes_on || (insn->clobbers >> isa->fp & 1) ? -1 : found;
}

bool jit_uses_frame(struct jit *jit, pid_t pid, uint64_t pc)
{
	struct insn insn;

	for (unsigned n = 0; n < MAX_TO_USE; n++) {
		if (jit->isa->decode(code_pages_at(jit->pages, pid, pc), pc, &insn) < 0 || insn.len == 0)
			return false;
		int uses = jit_uses_fp(jit->isa, &insn);
		if (uses)
			return uses > 0;
		pc = insn.flow == FLOW_JUMP ? insn.target : pc + insn.len;
	}
	return false;
}

/*
 * HotSpot abandons compiled code with active calls by letting them return to code that uses its own address
 * as the return address (AArch64). No call precedes it, and its frame is still the method's: it is unwound
 * with the runtime's description.
 */
static bool jit_is_given_up(struct jit *jit, pid_t pid, uint64_t pc)
{
	const struct isa *isa = jit->isa;
	struct insn insn;

	if (isa->call_pushes_ra || isa->decode(code_pages_at(jit->pages, pid, pc), pc, &insn) < 0 ||
	    insn.n_effects != 1)
		return false;
	const struct effect *e = &insn.effect[0];
	return e->kind == EFFECT_SET && e->reg == isa->ra && e->base == REG_NONE && e->index == REG_NONE &&
	       (uint64_t)e->imm == pc;
}

void jit_place(struct jit *jit, pid_t pid, uint64_t pc, bool is_return, struct place *ret)
{
	*ret = (struct place){ .recipes = { { RECIPE_NONE, RECIPE_NONE } },
			       .function = VADDR_NONE,
			       .call = CALL_UNKNOWN };
	if (code_pages_at(jit->pages, pid, pc).len == 0)
		return;
	ret->has_code = true;
	if (is_return && jit_is_given_up(jit, pid, pc))
		return;
	ret->recipes.recipe[0] = jit_recipe_at(jit, pid, pc, is_return);
	if (is_return)
		jit_find_call(jit, pid, pc, ret);
}
