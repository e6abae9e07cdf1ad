/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow_again: a cheaper second run of a leader whose state has since lost only the values of some
 * registers.
 *
 * If none of these registers is used before it is written, the block does what it did before. Then only
 * the loss has to be propagated: the successors forget the registers that are still lost there. This is
 * decided from the masks of the instructions; anything that depends on more is run again in full.
 */
#include "binary/flow/flow_private.h"

/* Registers that decide whether an exit is correct, and whether a jump looks like a tail call. */
static uint64_t again_exit_registers(const struct flow *flow)
{
	return flow->isa->callee_saved | 1ull << flow->isa->ra | 1ull << flow->isa->sp;
}

/* Leader `to`, which the first run reached, forgets these registers. */
static bool again_lose(struct flow *flow, uint32_t to, uint64_t lost)
{
	if (to == FLOW_NONE || flow->state_of.at[to] == FLOW_NONE || (flow->flags.at[to] & INSN_WEAK))
		return false;
	struct state *state = &flow->states.at[flow->state_of.at[to]];
	lost &= state->known;
	if (to == flow->private->entry || !lost) /* the entry state is given */
		return true;
	state_forget(state, lost);
	flow_set_pending(flow, to, lost, false);
	return true;
}

static bool again_lose_at_pad(struct flow *flow, uint32_t i, uint64_t lost)
{
	uint64_t pad = flow->pads.n ? flow_landing_pad(flow, flow->vaddrs.at[i]) : 0;

	return !pad || again_lose(flow, flow_insn_at(flow, pad), lost);
}

enum again { AGAIN_GOES_ON, AGAIN_ENDS, AGAIN_IN_FULL };

/* An instruction marked FLOW_CONTROL; what it writes itself is no longer in `lost`. */
static enum again again_pass_control(struct flow *flow, uint32_t i, uint64_t lost)
{
	const struct insn *insn = &flow->insns.at[i];
	bool may_be_tail =
		insn->flow == FLOW_JUMP && flow->is_inferred && (lost & again_exit_registers(flow));

	switch ((enum insn_flow)insn->flow) {
	case FLOW_NEXT:
		return insn->is_padding ? AGAIN_GOES_ON : AGAIN_IN_FULL;
	case FLOW_JUMP:
		return !may_be_tail && again_lose(flow, flow_target(flow, i), lost) ? AGAIN_ENDS
										    : AGAIN_IN_FULL;
	case FLOW_BRANCH:
		if ((flow->uses.at[i].needs & FLOW_EQUATES) || !again_lose(flow, flow_target(flow, i), lost))
			return AGAIN_IN_FULL;
		return AGAIN_GOES_ON;
	case FLOW_CALL:
	case FLOW_CALL_INDIRECT:
		if (!again_lose_at_pad(flow, i, lost))
			return AGAIN_IN_FULL;
		return flow_call_returns(flow, i) ? AGAIN_GOES_ON : AGAIN_ENDS;
	case FLOW_RETURN:
		if ((lost & again_exit_registers(flow)) ||
		    (insn->through < REG_MAX && (lost >> insn->through & 1)))
			return AGAIN_IN_FULL;
		return AGAIN_ENDS;
	case FLOW_STOP:
		return AGAIN_ENDS;
	case FLOW_JUMP_INDIRECT:
		break;
	}
	return AGAIN_IN_FULL;
}

static bool again_is_call(const struct insn *insn)
{
	return insn->flow == FLOW_CALL || insn->flow == FLOW_CALL_INDIRECT;
}

bool flow_run_again(struct flow *flow, uint32_t i, uint64_t lost)
{
	uint64_t asked = FLOW_RUN_ALL | 1ull << flow->isa->sp;
	bool is_weak = false; /* only padding since a call */

	if ((lost & asked) || flow->private->is_guessing || (flow->flags.at[i] & INSN_WEAK))
		return false;
	for (; lost; i++) {
		const struct isa_use *use = &flow->uses.at[i];
		enum again next = AGAIN_GOES_ON;
		if (use->needs & lost)
			return false;
		if ((use->needs & FLOW_CONTROL) && again_is_call(&flow->insns.at[i]) &&
		    (lost & (flow->private->kept_regs | flow->private->size_regs)))
			return false; /* some callees preserve them */
		lost &= ~use->writes;
		if (use->needs & FLOW_CONTROL)
			next = again_pass_control(flow, i, lost);
		if (next != AGAIN_GOES_ON)
			return next == AGAIN_ENDS;
		if (i + 1 >= flow->insns.n ||
		    flow->vaddrs.at[i + 1] != flow->vaddrs.at[i] + flow->insns.at[i].len)
			return false;
		if (!(use->needs & FLOW_CONTROL) || !flow->insns.at[i].is_padding)
			is_weak = (use->needs & FLOW_CONTROL) && again_is_call(&flow->insns.at[i]);
		if (flow->flags.at[i + 1] & INSN_LEADER)
			return !is_weak && again_lose(flow, i + 1, lost);
	}
	return true;
}
