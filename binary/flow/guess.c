/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guess: a state for code that no edge reaches (computed gotos, landing pads without their table).
 *
 * The function's usual frame is the one that its call sites agree on; at a call site the frame is complete.
 * If straight-line code leads to a return, or to code whose state is known, the stack pointer is corrected to
 * match there.
 */
#include "binary/flow/flow_private.h"

#define SOLVE_STEPS 200 /* instructions followed to an exit */
#define MAX_FRAMES 16   /* distinct stack depths at call sites that are counted */

struct frame_count {
	value sp;
	uint32_t n, n_saves;
	struct state state; /* what all call sites with this sp and as many saved registers agree on */
};

struct usual {
	struct frame_count frames[MAX_FRAMES];
	unsigned n;
	struct state deepest;
	uint32_t deepest_known; /* saved registers and frame addresses in it */
	bool has_deepest;
};

static uint32_t guess_count_saves(const struct state *state)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < state->n_slots; i++)
		n += value_kind(state->slot[i].holds) == VALUE_ENTRY;
	return n;
}

static void guess_count_frame(struct usual *usual, const struct state *state, const struct isa *isa)
{
	value sp = state->reg[isa->sp];
	uint32_t n_saves = guess_count_saves(state);

	for (unsigned i = 0; i < usual->n; i++)
		if (usual->frames[i].sp == sp && usual->frames[i].n_saves == n_saves) {
			usual->frames[i].n++;
			state_join(&usual->frames[i].state, state);
			return;
		}
	if (usual->n == MAX_FRAMES)
		return;
	usual->frames[usual->n].sp = sp;
	usual->frames[usual->n].n = 1;
	usual->frames[usual->n].n_saves = n_saves;
	state_copy(&usual->frames[usual->n++].state, state);
}

/* Keeps the deepest state; of equally deep ones the one with most known values, because a prologue often
 * changes sp first. */
static void guess_note_depth(struct usual *usual, const struct state *state, const struct isa *isa)
{
	value sp = state->reg[isa->sp], deepest = usual->deepest.reg[isa->sp];
	uint32_t n_known = 2 * guess_count_saves(state) + value_is_frame(state->reg[isa->fp]);

	if (!value_is_frame(sp))
		return;
	if (usual->has_deepest &&
	    (!value_same_base(sp, deepest) || value_offset(sp) > value_offset(deepest) ||
	     (sp == deepest && n_known <= usual->deepest_known)))
		return;
	state_copy(&usual->deepest, state);
	usual->deepest_known = n_known;
	usual->has_deepest = true;
}

static void guess_count_block(struct flow *flow, uint32_t i, struct usual *usual)
{
	struct state state;

	state_copy(&state, flow_state(flow, i));
	for (;;) {
		const struct insn *insn = &flow->insns.at[i];
		guess_note_depth(usual, &state, flow->isa);
		flow_step(flow, i, &state);
		if (insn->flow == FLOW_CALL || insn->flow == FLOW_CALL_INDIRECT)
			guess_count_frame(usual, &state, flow->isa);
		else if (insn->flow != FLOW_NEXT && insn->flow != FLOW_BRANCH)
			return;
		i++;
		if (i >= flow->insns.n || !(flow->flags.at[i] & INSN_REACHED) ||
		    (flow->flags.at[i] & INSN_LEADER))
			return;
	}
}

/* The most frequent state at call sites, or else the deepest. */
static const struct state *guess_usual_state(struct flow *flow, struct usual *usual)
{
	const struct frame_count *best = NULL;

	for (uint32_t i = 0; i < flow->insns.n; i++)
		if ((flow->flags.at[i] & INSN_LEADER) && (flow->flags.at[i] & INSN_REACHED) &&
		    flow_state(flow, i))
			guess_count_block(flow, i, usual);
	for (unsigned k = 0; k < usual->n; k++)
		if (!best || usual->frames[k].n > best->n)
			best = &usual->frames[k];
	if (best)
		return &best->state;
	return usual->has_deepest ? &usual->deepest : flow_state(flow, 0);
}

static bool guess_is_real(const struct flow *flow, uint32_t i)
{
	return (flow->flags.at[i] & INSN_REACHED) && !(flow->flags.at[i] & INSN_GUESS);
}

/* sp at the known code at i, as far as its block says. */
static value guess_real_sp(const struct flow *flow, uint32_t i)
{
	const struct state *state = flow_state(flow, i);

	return state ? state->reg[flow->isa->sp] : VALUE_UNKNOWN;
}

/* What sp must be before a jump or return that ends straight-line code; unknown if that is not told. */
static value guess_sp_at_end(const struct flow *flow, uint32_t i)
{
	const struct flow_private *p = flow->private;
	const struct insn *insn = &flow->insns.at[i];

	if (insn->flow == FLOW_RETURN)
		return value_cfa(flow->isa->call_pushes_ra ? -8 : 0);
	if (insn->flow == FLOW_JUMP_INDIRECT && flow->is_threaded &&
	    flow_is_same_jump(flow, i, p->piece_jump))
		return p->piece.reg[flow->isa->sp];
	return VALUE_UNKNOWN;
}

/*
 * Follows the code at i straight on and along unconditional jumps, to a return or into known code. Returns
 * the sp that is right there, unknown if it leads nowhere; *state is advanced to that point.
 */
static value guess_follow(struct flow *flow, uint32_t i, struct state *state)
{
	for (unsigned steps = 0; steps < SOLVE_STEPS && i < flow->insns.n; steps++) {
		const struct insn *insn = &flow->insns.at[i];
		if (guess_is_real(flow, i))
			return guess_real_sp(flow, i);
		if (insn->flow == FLOW_RETURN || insn->flow == FLOW_STOP || insn->flow == FLOW_JUMP_INDIRECT)
			return guess_sp_at_end(flow, i);
		if (insn->flow == FLOW_JUMP) {
			i = flow_insn_at(flow, insn->target);
			continue;
		}
		if (insn->flow == FLOW_CALL && !flow_call_returns(flow, i))
			break;
		uint64_t next = flow->vaddrs.at[i] + insn->len;
		flow_step(flow, i, state);
		i = i + 1 < flow->insns.n && flow->vaddrs.at[i + 1] == next ? i + 1 : FLOW_NONE;
	}
	return VALUE_UNKNOWN;
}

/* How far the stack pointer of `start` is off, judging by where the code at i leads; 0 if it leads nowhere.
 */
static int32_t guess_correction(struct flow *flow, uint32_t i, const struct state *start)
{
	struct state state;

	state_copy(&state, start);
	value want = guess_follow(flow, i, &state), sp = state.reg[flow->isa->sp];
	if (!value_is_frame(want) || !value_is_frame(sp) || !value_same_base(want, sp))
		return 0;
	return value_offset(want) - value_offset(sp);
}

static bool guess_is_wanted(const struct flow *flow, uint32_t i)
{
	return !(flow->flags.at[i] & (INSN_REACHED | INSN_BAD)) && !flow->insns.at[i].is_padding;
}

/*
 * The state of a piece of an interpreter. If the code leads to a return with an empty frame, it is a function
 * of its own among the pieces. False if it is neither: code that sets sp anew, or allocates stack first, was
 * entered with another frame, such as that of compiled code.
 */
static bool guess_piece(struct flow *flow, uint32_t i, struct state *ret)
{
	int32_t ra_size = flow->isa->call_pushes_ra ? 8 : 0;
	const struct state *piece = &flow->private->piece;

	state_copy(ret, piece);
	value want = guess_follow(flow, i, ret), sp = ret->reg[flow->isa->sp];
	bool is_own = value_kind(want) == VALUE_CFA && want == value_cfa(-ra_size);
	if (value_kind(sp) != VALUE_CFA || (flow_begins_frame(flow, i) && !is_own))
		return false;
	int32_t off = value_kind(want) == VALUE_CFA ? value_offset(want) - value_offset(sp) : 0;
	sp = value_add(piece->reg[flow->isa->sp], off);
	if (sp == value_cfa(-ra_size)) {
		state_enter(ret, flow->isa, 0);
		return true;
	}
	state_copy(ret, piece);
	state_set(ret, flow->isa->sp, sp);
	return true;
}

/* The last instruction of the straight-line code at i. */
static uint32_t guess_end_of(const struct flow *flow, uint32_t i)
{
	while (i + 1 < flow->insns.n && !flow_is_end(&flow->insns.at[i]) && guess_is_wanted(flow, i + 1))
		i++;
	return i;
}

static void guess_arrive(struct flow *flow, uint32_t i, const struct state *state)
{
	flow->private->budget += 1000;
	flow_arrive(flow, i, state, FLOW_NONE, false);
	flow_settle(flow);
}

/* The pieces of an interpreter; what they call among themselves are functions. */
static void guess_pieces(struct flow *flow)
{
	struct state start;

	for (uint32_t i = 0; i < flow->insns.n; i++) {
		uint32_t callee = flow->insns.at[i].flow == FLOW_CALL
					  ? flow_insn_at(flow, flow->insns.at[i].target)
					  : FLOW_NONE;
		if (callee == FLOW_NONE || !guess_is_wanted(flow, callee))
			continue;
		state_enter(&start, flow->isa, 0);
		guess_arrive(flow, callee, &start);
	}
	for (uint32_t i = 0; i < flow->insns.n; i++) {
		if (!guess_is_wanted(flow, i))
			continue;
		if (guess_piece(flow, i, &start))
			guess_arrive(flow, i, &start);
		else
			i = guess_end_of(flow, i);
	}
}

void flow_guess(struct flow *flow)
{
	struct usual *usual = NULL;
	const struct state *state = NULL;

	flow->private->is_guessing = true;
	if (flow->is_threaded)
		guess_pieces(flow);
	for (uint32_t i = 0; i < flow->insns.n && !flow->is_threaded; i++) {
		if (!guess_is_wanted(flow, i))
			continue;
		if (!usual) {
			usual = alloc_zero(1, sizeof(*usual));
			state = guess_usual_state(flow, usual);
		}
		if (!state)
			break;

		struct state start;
		state_copy(&start, state);
		state_set(&start, flow->isa->sp,
			  value_add(start.reg[flow->isa->sp], guess_correction(flow, i, &start)));
		guess_arrive(flow, i, &start);
	}
	flow->private->is_guessing = false;
	free(usual);
}
