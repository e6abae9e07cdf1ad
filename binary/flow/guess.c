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

/*
 * How far the stack pointer of `start` is off, judging by where the code at i leads: straight on and along
 * unconditional jumps, to a return or into known code. 0 if it leads nowhere.
 */
static int32_t guess_correction(struct flow *flow, uint32_t i, const struct state *start)
{
	int32_t ra_size = flow->isa->call_pushes_ra ? 8 : 0;
	value want = VALUE_UNKNOWN;
	struct state state;

	state_copy(&state, start);
	for (unsigned steps = 0; steps < SOLVE_STEPS && i < flow->insns.n; steps++) {
		const struct insn *insn = &flow->insns.at[i];
		if (guess_is_real(flow, i)) {
			want = guess_real_sp(flow, i);
			break;
		}
		if (insn->flow == FLOW_RETURN) {
			want = value_cfa(-ra_size);
			break;
		}
		if (insn->flow == FLOW_STOP || insn->flow == FLOW_JUMP_INDIRECT)
			return 0;
		if (insn->flow == FLOW_JUMP) {
			i = flow_insn_at(flow, insn->target);
			continue;
		}
		if (insn->flow == FLOW_CALL && !flow_call_returns(flow, i))
			return 0;
		uint64_t next = flow->vaddrs.at[i] + insn->len;
		flow_step(flow, i, &state);
		i = i + 1 < flow->insns.n && flow->vaddrs.at[i + 1] == next ? i + 1 : FLOW_NONE;
	}
	value sp = state.reg[flow->isa->sp];
	if (!value_is_frame(want) || !value_is_frame(sp) || !value_same_base(want, sp))
		return 0;
	return value_offset(want) - value_offset(sp);
}

static bool guess_is_wanted(const struct flow *flow, uint32_t i)
{
	return !(flow->flags.at[i] & (INSN_REACHED | INSN_BAD)) && !flow->insns.at[i].is_padding;
}

void flow_guess(struct flow *flow)
{
	struct usual *usual = NULL;
	const struct state *state = NULL;

	flow->private->is_guessing = true;
	for (uint32_t i = 0; i < flow->insns.n; i++) {
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
		flow->private->budget += 1000;
		flow_arrive(flow, i, &start, FLOW_NONE, false);
		flow_settle(flow);
	}
	flow->private->is_guessing = false;
	free(usual);
}
