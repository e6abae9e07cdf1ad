/* SPDX-License-Identifier: Apache-2.0 */
#include "unwinder/hotspot_stub.h"

#define MAX_INSNS 256 /* followed */
#define MAX_PATHS 16  /* branches remembered, each followed once */
#define SENDER 13     /* the register that takes the caller's sp */
#define SCRATCH 11    /* the one that adapters jump through; a method returns through another */

struct stub_path {
	uint64_t pc;
	uint64_t written, loaded; /* masks: registers that hold something else by now; ... from memory */
	uint8_t pushed;           /* by the last instruction, and not written before; REG_NONE = none */
	uint8_t ra;               /* pushed below the frame pointer; REG_NONE = none */
	uint8_t top;              /* holds the word that was on top of the stack; REG_NONE = none */
	bool is_top;              /* the return address is that word */
	bool has_moved;           /* something was pushed or popped, or sp was aligned */
	bool is_aligned;          /* sp was, by the last instruction */
	bool has_frame;           /* the frame pointer is set */
};

struct stub {
	const struct isa *isa;
	struct stub_path now, paths[MAX_PATHS];
	unsigned n_paths, n_seen;
	uint64_t seen[MAX_PATHS];
};

/* Through a word that is not one of a table, which the interpreter has for its bytecodes. */
static bool stub_is_plain_jump(const struct stub_path *path, const struct insn *insn)
{
	if (insn->flow != FLOW_JUMP_INDIRECT)
		return false;
	if (insn->through != REG_NONE)
		return insn->through == SCRATCH || (path->loaded >> insn->through & 1);
	const struct effect *last = insn->n_effects ? &insn->effect[insn->n_effects - 1] : NULL;
	return last && last->kind == EFFECT_LOAD && last->base != REG_NONE && last->index == REG_NONE;
}

/* Does the effect read or take the word on top of the stack, or align sp after that? Then the path goes on.
 */
static bool stub_takes_top(const struct isa *isa, const struct effect *e, struct stub_path *path)
{
	bool is_plain = e->base == isa->sp && e->index == REG_NONE && e->imm == 0;
	bool is_load = e->kind == EFFECT_LOAD && is_plain && e->width == 8;

	if (path->has_moved || e->reg == isa->fp)
		return false;
	if (e->kind == EFFECT_AND && e->reg == isa->sp && path->top != REG_NONE) {
		path->has_moved = path->is_aligned = true;
		return true;
	}
	if ((e->kind != EFFECT_POP && !is_load) || e->reg >= REG_MAX)
		return false;
	path->top = e->reg;
	path->written |= 1ull << e->reg;
	path->has_moved = e->kind == EFFECT_POP;
	return true;
}

/* Follows what is done to the registers; false where the stack is used in a way that tells nothing. */
static bool stub_run(const struct isa *isa, const struct insn *insn, struct stub_path *path)
{
	const struct effect *e = &insn->effect[0];
	uint64_t written = insn->clobbers;
	uint8_t pushed = REG_NONE;

	path->is_aligned = false;
	if (insn->n_effects == 1 && !insn->clobbers && stub_takes_top(isa, e, path))
		return true;
	for (unsigned i = 0; i < insn->n_effects && i < INSN_MAX_EFFECTS; i++) {
		e = &insn->effect[i];
		if (e->kind == EFFECT_POP || e->kind == EFFECT_EXCHANGE)
			return false;
		if (e->kind == EFFECT_PUSH) {
			bool is_kept =
				e->reg < REG_MAX && (e->reg == path->top || !(path->written >> e->reg & 1));
			pushed = is_kept ? e->reg : REG_NONE;
			path->has_moved = true;
		} else if (e->kind != EFFECT_STORE && e->kind != EFFECT_COMPARE && e->reg < REG_MAX) {
			written |= 1ull << e->reg;
			path->loaded &= ~(1ull << e->reg);
			path->loaded |= (uint64_t)(e->kind == EFFECT_LOAD && e->index == REG_NONE) << e->reg;
		}
	}
	bool sets_fp = insn->n_effects == 1 && e->kind == EFFECT_SET && e->reg == isa->fp &&
		       e->base == isa->sp && e->index == REG_NONE && e->imm == 0;
	if (pushed != REG_NONE && pushed == isa->fp) {
		path->ra = path->pushed;
		path->is_top = path->ra != REG_NONE && path->ra == path->top;
	}
	if (path->top != REG_NONE && (written >> path->top & 1))
		path->top = REG_NONE;
	path->has_frame |= sets_fp && path->pushed == isa->fp && path->ra != REG_NONE;
	path->pushed = pushed;
	path->written |= written;
	return !(written >> isa->sp & 1) && (sets_fp ? path->has_frame : !(written >> isa->fp & 1));
}

static void stub_remember(struct stub *stub, uint64_t target)
{
	for (unsigned i = 0; i < stub->n_seen; i++)
		if (stub->seen[i] == target)
			return;
	if (stub->n_seen == MAX_PATHS)
		return;
	stub->seen[stub->n_seen++] = target;
	stub->paths[stub->n_paths] = stub->now;
	stub->paths[stub->n_paths++].pc = target;
}

/* Does the path go on to the next instruction? */
static bool stub_go_on(struct stub *stub, const struct insn *insn)
{
	if (insn->flow == FLOW_BRANCH || insn->flow == FLOW_JUMP)
		stub_remember(stub, insn->target);
	stub->now.pc += insn->len;
	return insn->flow == FLOW_NEXT || insn->flow == FLOW_BRANCH;
}

/* What the instruction tells, after what was seen on the way to it. */
static bool stub_see(const struct stub_path *path, const struct insn *insn, struct hotspot_stub *ret)
{
	*ret = (struct hotspot_stub){ .ra = REG_NONE, .sender = REG_NONE };
	if (!path->has_moved && stub_is_plain_jump(path, insn))
		return true;
	if (insn->n_effects != 1 || insn->effect[0].kind != EFFECT_PUSH)
		return false;
	if (path->is_aligned) /* an adapter that moves the return address */
		return insn->effect[0].reg == path->top;
	if (!path->has_frame || insn->effect[0].reg != SENDER || (path->written >> SENDER & 1))
		return false;
	*ret = (struct hotspot_stub){ .ra = path->is_top ? REG_NONE : path->ra, .sender = SENDER };
	return true;
}

/* ---- methods that are left ---------------------------------------------------------------------- */

static bool stub_decode(const struct isa *isa, ahead_code code, void *context, uint64_t pc, struct insn *ret)
{
	return isa->decode(code(context, pc), pc, ret) == 0 && ret->len;
}

/* pop ra; mov sender, sp; jmp *ra: from any of the three on. */
static bool stub_is_return(const struct isa *isa, ahead_code code, void *context, uint64_t pc,
			   struct hotspot_stub *ret)
{
	uint8_t popped = REG_NONE;
	struct insn insn;

	*ret = (struct hotspot_stub){ .ra = REG_NONE, .sender = REG_NONE };
	if (!stub_decode(isa, code, context, pc, &insn))
		return false;
	const struct effect *e = &insn.effect[0];
	if (insn.flow == FLOW_NEXT && insn.n_effects == 1 && e->kind == EFFECT_POP && e->reg < REG_MAX) {
		popped = e->reg;
		pc += insn.len;
		if (!stub_decode(isa, code, context, pc, &insn))
			return false;
	}
	if (insn.flow == FLOW_NEXT && insn.n_effects == 1 && e->kind == EFFECT_SET && e->reg == isa->sp &&
	    e->base < REG_MAX && e->base != isa->fp && e->index == REG_NONE && e->imm == 0) {
		ret->sender = e->base;
		pc += insn.len;
		if (!stub_decode(isa, code, context, pc, &insn))
			return false;
	}
	bool is_known = popped != REG_NONE ? insn.through == popped && ret->sender != REG_NONE
					   : insn.through == SENDER;
	ret->ra = popped == REG_NONE ? insn.through : REG_NONE;
	return insn.flow == FLOW_JUMP_INDIRECT && is_known;
}

bool hotspot_stub_find(const struct isa *isa, ahead_code code, void *context, uint64_t pc,
		       struct hotspot_stub *ret)
{
	struct stub stub = { .isa = isa,
			     .now = { .pc = pc, .pushed = REG_NONE, .ra = REG_NONE, .top = REG_NONE } };
	struct insn insn;

	if (!isa->call_pushes_ra)
		return false;
	if (stub_is_return(isa, code, context, pc, ret))
		return true;
	for (unsigned n = 0; n < MAX_INSNS; n++) {
		bool goes_on = isa->decode(code(context, stub.now.pc), stub.now.pc, &insn) == 0 && insn.len;
		if (goes_on && stub_see(&stub.now, &insn, ret))
			return true;
		goes_on = goes_on && stub_run(isa, &insn, &stub.now) && stub_go_on(&stub, &insn);
		if (!goes_on && !stub.n_paths)
			return false;
		if (!goes_on)
			stub.now = stub.paths[--stub.n_paths];
	}
	return false;
}
