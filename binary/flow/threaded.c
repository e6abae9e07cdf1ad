/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threaded: interpreters that are one function in assembly, such as LuaJIT's.
 *
 * Each instruction of the interpreted language has a piece of code of its own, which ends with a computed
 * jump to the next piece, always through the same table. The first piece is not the entry: control enters
 * through prologues further on, and all pieces have the frame that these set up. If the jumps are not reached
 * with a frame from the start, the prologues are taken as the entries, and the pieces get the state at the
 * jumps that are reached from there.
 */
#include "binary/flow/flow_private.h"

#define MIN_PIECES 32     /* jumps through the same table */
#define MAX_JUMP_KINDS 16 /* different computed jumps that are counted */
#define MAX_PROLOGUES 16  /* tried as entries */
#define MIN_SAVES 2       /* registers that a prologue saves */

struct threaded {
	struct flow *flow;
	uint32_t jump;      /* one of the computed jumps between pieces */
	struct state piece; /* what the jumps that were reached agree on */
	bool has_piece;
	bool is_unclear; /* one was reached without a frame, or with a different one */
};

bool flow_is_same_jump(const struct flow *flow, uint32_t a, uint32_t b)
{
	const struct insn *one = flow_insn(flow, a), *other = flow_insn(flow, b);

	if (one->through != other->through || one->slot || other->slot)
		return false;
	if (one->through != REG_NONE)
		return true;
	if (!one->n_effects || !other->n_effects)
		return false;
	const struct effect *x = &one->effect[one->n_effects - 1], *y = &other->effect[other->n_effects - 1];
	return x->base == y->base && x->index == y->index && x->shift == y->shift && x->imm == y->imm;
}

/* The most frequent computed jump; FLOW_NONE if none is frequent enough. */
static uint32_t threaded_find_jump(const struct flow *flow)
{
	struct {
		uint32_t insn, n;
	} kinds[MAX_JUMP_KINDS];
	unsigned n_kinds = 0, best = 0;

	for (uint32_t i = 0; i < flow->insns.n; i++) {
		if (flow->insns.at[i].flow != FLOW_JUMP_INDIRECT)
			continue;
		unsigned k = 0;
		while (k < n_kinds && !flow_is_same_jump(flow, kinds[k].insn, i))
			k++;
		if (k == MAX_JUMP_KINDS)
			continue;
		if (k == n_kinds)
			kinds[n_kinds++].n = 0;
		kinds[k].insn = kinds[k].n ? kinds[k].insn : i;
		kinds[k].n++;
		best = kinds[k].n > kinds[best].n ? k : best;
	}
	return n_kinds && kinds[best].n >= MIN_PIECES ? kinds[best].insn : FLOW_NONE;
}

static bool threaded_has_frame(const struct state *state, const struct isa *isa)
{
	value sp = state->reg[isa->sp];
	unsigned n_saves = 0;

	for (uint32_t i = 0; i < state->n_slots; i++)
		n_saves += value_kind(state->slot[i].holds) == VALUE_ENTRY;
	return value_kind(sp) == VALUE_CFA && value_offset(sp) < -8 && n_saves >= MIN_SAVES;
}

static void threaded_see(void *context, const struct flow_point *point)
{
	struct threaded *t = context;
	const struct isa *isa = t->flow->isa;

	if (!point->state || t->flow->insns.at[point->insn].flow != FLOW_JUMP_INDIRECT ||
	    !flow_is_same_jump(t->flow, t->jump, point->insn))
		return;
	if (!threaded_has_frame(point->state, isa) ||
	    (t->has_piece && t->piece.reg[isa->sp] != point->state->reg[isa->sp])) {
		t->is_unclear = true;
		return;
	}
	if (t->has_piece)
		state_join(&t->piece, point->state);
	else
		state_copy(&t->piece, point->state);
	t->has_piece = true;
}

/* Are jumps between pieces reached, and all of them with the same frame? */
static bool threaded_reaches_pieces(struct threaded *t)
{
	t->has_piece = t->is_unclear = false;
	flow_walk(t->flow, 0, threaded_see, t);
	return t->has_piece && !t->is_unclear;
}

bool flow_begins_frame(const struct flow *flow, uint32_t i)
{
	const struct insn *insn = flow_insn(flow, i);

	for (unsigned k = 0; k < insn->n_effects && k < INSN_MAX_EFFECTS; k++) {
		const struct effect *e = &insn->effect[k];
		if (e->kind == EFFECT_PUSH ||
		    (e->kind == EFFECT_SET && e->reg == flow->isa->sp && e->base == flow->isa->sp &&
		     e->index == REG_NONE && e->imm < 0))
			return true;
	}
	return false;
}

/* Code that nothing falls through to and that begins by allocating stack. */
static bool threaded_is_prologue(const struct flow *flow, uint32_t i)
{
	uint32_t before = i;

	if (flow->insns.at[i].is_padding || (flow->flags.at[i] & INSN_BAD))
		return false;
	while (before > 0 && flow->insns.at[before - 1].is_padding)
		before--;
	return before > 0 && flow_is_end(&flow->insns.at[before - 1]) && flow_begins_frame(flow, i);
}

/* The prologues from which pieces are reached. */
static void threaded_find_entries(struct threaded *t, struct flow_entries *ret)
{
	unsigned n_tried = 0;
	value sp = VALUE_UNKNOWN;

	for (uint32_t i = 1; i < t->flow->parts.at[0].n && n_tried < MAX_PROLOGUES; i++) {
		if (!threaded_is_prologue(t->flow, i))
			continue;
		n_tried++;
		t->flow->private->budget += t->flow->insns.n;
		flow_run_from(t->flow, &(struct flow_entries){ .at = { i }, .n = 1 });
		if (!threaded_reaches_pieces(t) || (ret->n && t->piece.reg[t->flow->isa->sp] != sp) ||
		    ret->n == FLOW_MAX_ENTRIES)
			continue;
		sp = t->piece.reg[t->flow->isa->sp];
		ret->at[ret->n++] = i;
	}
}

/* A return that restores everything confirms the frame; a jump that leaves the function does not. */
static bool threaded_returns(const struct flow *flow)
{
	for (uint32_t i = 0; (i = flow_next(flow, i, INSN_EXIT_PASSES)) != FLOW_NONE; i++)
		if (flow->insns.at[i].flow == FLOW_RETURN)
			return true;
	return false;
}

/* Does it leave the code that was reached so far through a table? Most functions have no such jump. */
static bool threaded_has_table_jump(const struct flow *flow)
{
	for (uint32_t i = 0; (i = flow_next(flow, i, INSN_TAIL | INSN_UNRESOLVED)) != FLOW_NONE; i++) {
		const struct insn *insn =
			flow->insns.at[i].flow == FLOW_JUMP_INDIRECT ? flow_insn(flow, i) : NULL;
		if (insn && !insn->slot &&
		    (insn->through != REG_NONE ||
		     (insn->n_effects && insn->effect[insn->n_effects - 1].index != REG_NONE)))
			return true;
	}
	return false;
}

uint32_t flow_find_threads(struct flow *flow)
{
	struct threaded t = { .flow = flow };

	if (flow->is_inferred || !threaded_has_table_jump(flow))
		return FLOW_NONE;
	t.jump = threaded_find_jump(flow);
	if (t.jump == FLOW_NONE || (flow->verdict == FLOW_PASSES && threaded_reaches_pieces(&t)))
		return FLOW_NONE;
	return t.jump;
}

bool flow_run_threaded(struct flow *flow, uint32_t jump, struct state *ret_piece)
{
	struct threaded t = { .flow = flow, .jump = jump };
	struct flow_entries entries = { 0 };

	threaded_find_entries(&t, &entries);
	if (!entries.n)
		return false;
	flow_run_from(flow, &entries);
	if (!threaded_reaches_pieces(&t))
		return false;
	state_copy(ret_piece, &t.piece);
	return threaded_returns(flow);
}
