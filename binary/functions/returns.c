/* SPDX-License-Identifier: Apache-2.0 */
/*
 * returns: which functions never return, determined on demand.
 *
 * A compiler generates no unreachable return instruction, so a function that contains one returns: a linear
 * scan decides nearly all of them. The rest is analysed, callees first. In a stripped library, names do not
 * show which callees never return. Without this, the code after such a call would seem to be reached, and
 * loops would appear that do not exist.
 *
 * functions_settle does this for all functions at once, in the order of addresses if answers depend on each
 * other, so that threads that analyse functions afterwards find every answer, and no answer depends on the
 * order of queries.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/pool.h"
#include "base/vec.h"
#include "binary/flow/flow.h"
#include "binary/functions/function_private.h"

#define MAX_LEAP 1024 /* bytes of a function that replaces the stack */
#define MAX_CHAIN 6   /* functions without a return that call each other; three were always enough */

/* Is it sp = another register? */
static bool returns_sets_stack(const struct isa *isa, const struct insn *insn)
{
	for (unsigned i = 0; i < insn->n_effects; i++) {
		const struct effect *e = &insn->effect[i];
		if (e->kind == EFFECT_SET && e->reg == isa->sp && e->base != isa->sp && e->base != isa->fp &&
		    e->base != REG_NONE)
			return true;
	}
	return false;
}

/* Does it write memory, save sp, or call? */
static bool returns_keeps_anything(const struct isa *isa, const struct insn *insn)
{
	for (unsigned i = 0; i < insn->n_effects; i++) {
		const struct effect *e = &insn->effect[i];
		if (e->kind == EFFECT_STORE || e->kind == EFFECT_PUSH ||
		    (e->kind == EFFECT_SET && e->reg != isa->sp && e->base == isa->sp))
			return true;
	}
	return insn->flow == FLOW_CALL || insn->flow == FLOW_CALL_INDIRECT;
}

/*
 * A function that replaces the stack and saves nothing of the old one, like longjmp, never returns to its
 * caller. A switch between stacks saves what it leaves.
 */
static bool returns_is_for_good(const struct functions *functions, const struct function *f)
{
	struct bytes code = image_code(functions->image, f->start);
	bool sets_stack = false;
	struct insn insn;

	if (f->end - f->start > MAX_LEAP)
		return false;
	for (uint64_t at = f->start; at < f->end;
	     at += insn.len) { /* most are decided by their first instruction */
		if (functions->isa->decode(bytes_from(code, at - f->start), at, &insn) < 0 || insn.len == 0 ||
		    returns_keeps_anything(functions->isa, &insn))
			return false;
		sets_stack |= returns_sets_stack(functions->isa, &insn);
	}
	return sets_stack;
}

/* Does the interval contain a return, or a jump with unknown target? Most instructions need no decoding. */
static bool returns_holds_return(const struct functions *functions, const struct function *f)
{
	const struct isa *isa = functions->isa;
	const struct isa_room anywhere = { INT64_MIN, INT64_MAX };
	struct bytes code = image_code(functions->image, f->start);
	uint64_t at = f->start;
	struct insn insn;

	while (at < f->end) {
		struct bytes rest = bytes_from(code, at - f->start);
		size_t idle =
			isa->idle_len ? isa->idle_len(bytes_slice(rest, 0, f->end - at), 0, anywhere) : 0;
		if (idle == 0 && (isa->decode(rest, at, &insn) < 0 || insn.len == 0))
			return true;
		if (idle == 0 && (insn.flow == FLOW_RETURN || insn.flow == FLOW_JUMP_INDIRECT))
			return !returns_is_for_good(functions, f);
		at += idle ? idle : insn.len;
	}
	return false;
}

static bool returns_is_open(const struct function *f)
{
	return f->kind == FUNCTION_WHOLE && f->returns == RETURNS_UNKNOWN;
}

static bool returns_learn_callees(struct functions *functions, const struct flow *flow, unsigned chain);

static void returns_learn(struct functions *functions, uint32_t index, unsigned chain)
{
	struct function *f = &functions->at[index];
	struct flow flow;

	f->returns = RETURNS; /* what a recursive function assumes about itself meanwhile */
	if (chain == MAX_CHAIN || returns_holds_return(functions, f))
		return;
	if (returns_is_for_good(functions, f)) {
		f->returns = RETURNS_NEVER;
		return;
	}
	flow_init(&flow, functions_facts(functions));
	functions_analyse_one(functions, index, &flow);
	if (returns_learn_callees(functions, &flow, chain + 1))
		functions_analyse_one(functions, index, &flow);
	functions->at[index].returns = flow.returns || flow.verdict == FLOW_REFUSED ? RETURNS : RETURNS_NEVER;
	flow_done(&flow);
}

/* The function that an instruction calls or tail calls, if it is not yet known whether that returns. */
static uint32_t returns_open_callee(const struct functions *functions, const struct flow *flow, uint32_t i)
{
	const struct insn *insn = &flow->insns.at[i];
	bool is_call = insn->flow == FLOW_CALL || ((flow->flags.at[i] & INSN_TAIL) && insn->target);
	uint32_t callee = is_call ? functions_index(functions, insn->target) : FUNCTION_NONE;

	if (callee == FUNCTION_NONE || callee == flow->function ||
	    functions->at[callee].start != insn->target)
		return FUNCTION_NONE;
	return returns_is_open(&functions->at[callee]) ? callee : FUNCTION_NONE;
}

/* The answer for one callee may decide the next. So the callees are listed first: the caller must be analysed
 * again for every callee that was unknown when it was analysed. */
static bool returns_learn_callees(struct functions *functions, const struct flow *flow, unsigned chain)
{
	VEC(uint32_t) callees = { 0 };
	bool any = false;

	for (uint32_t i = 0; i < flow->insns.n; i++) {
		uint32_t callee = returns_open_callee(functions, flow, i);
		if (callee != FUNCTION_NONE)
			vec_push(&callees, callee);
	}
	for (size_t i = 0; i < callees.n; i++) {
		if (returns_is_open(&functions->at[callees.at[i]]))
			returns_learn(functions, callees.at[i], chain);
		any |= functions->at[callees.at[i]].returns == RETURNS_NEVER;
	}
	vec_done(&callees);
	return any;
}

bool functions_learn_returns(struct functions *functions, const struct flow *flow)
{
	return returns_learn_callees(functions, flow, 0);
}

/* ---- all of them --------------------------------------------------------------------------- */

struct settling {
	const struct functions *functions;
	bool *holds_return;
};

static void returns_look_at(void *context, unsigned worker, size_t index)
{
	const struct settling *settling = context;
	const struct function *f = &settling->functions->at[index];

	(void)worker;
	settling->holds_return[index] = returns_is_open(f) && returns_holds_return(settling->functions, f);
}

void functions_settle(struct functions *functions, unsigned n_threads)
{
	struct settling settling = { functions, alloc_zero(functions->n + 1, sizeof(bool)) };

	pool_run(n_threads, functions->n, returns_look_at, &settling);
	for (size_t i = 0; i < functions->n; i++)
		if (settling.holds_return[i])
			functions->at[i].returns = RETURNS;
	free(settling.holds_return);
	for (uint32_t i = 0; i < functions->n; i++)
		if (returns_is_open(&functions->at[i]))
			returns_learn(functions, i, 0);
	for (uint32_t i = 0; i < functions->n; i++)
		functions_clobbers(functions, functions->at[i].start);
}
