/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/tail.h"

#define MAX_TO_EXIT 32 /* instructions followed to the jump */
#define MAX_STARTS 16  /* places from which that is done, in a function */

struct tail_search {
	struct flow *flow;
	uint32_t starts[MAX_STARTS];
	unsigned n;
};

/* Where paths have met that do not agree on sp, and the frame pointer is the caller's on all of them. */
static bool tail_is_meeting(const struct flow *flow, uint32_t i)
{
	const struct state *state =
		i != FLOW_NONE && (flow->flags.at[i] & INSN_LEADER) ? flow_state(flow, i) : NULL;

	return state && !value_is_frame(state->reg[flow->isa->sp]) &&
	       state->reg[flow->isa->fp] == value_entry(flow->isa->fp);
}

static void tail_add_start(struct tail_search *search, uint32_t i)
{
	for (unsigned k = 0; k < search->n; k++)
		if (search->starts[k] == i)
			return;
	if (search->n < MAX_STARTS && tail_is_meeting(search->flow, i))
		search->starts[search->n++] = i;
}

static bool tail_leaves_stack(const struct flow *flow, uint32_t i)
{
	const struct insn *insn = flow_insn(flow, i);
	uint64_t frame = 1ull << flow->isa->sp | 1ull << flow->isa->fp;

	for (unsigned k = 0; k < insn->n_effects && k < INSN_MAX_EFFECTS; k++)
		if (insn->effect[k].kind == EFFECT_PUSH || insn->effect[k].kind == EFFECT_POP)
			return false;
	return !(flow->uses.at[i].writes & frame);
}

static uint32_t tail_next(const struct flow *flow, uint32_t i)
{
	uint64_t behind = flow->vaddrs.at[i] + flow->insns.at[i].len;

	return i + 1 < flow->insns.n && flow->vaddrs.at[i + 1] == behind ? i + 1 : FLOW_NONE;
}

/* An instruction before which sp is as at the entry: does it lead to where others come with another? */
static void tail_see(void *context, const struct flow_point *point)
{
	struct tail_search *search = context;
	const struct flow *flow = search->flow;
	const struct insn *insn = &flow->insns.at[point->insn];

	if (!point->state || point->is_guess || point->state->reg[flow->isa->sp] != value_cfa(-8) ||
	    !tail_leaves_stack(flow, point->insn))
		return;
	if (insn->flow == FLOW_JUMP || insn->flow == FLOW_BRANCH)
		tail_add_start(search, flow_insn_at(flow, insn->target));
	if (insn->flow == FLOW_NEXT || insn->flow == FLOW_BRANCH)
		tail_add_start(search, tail_next(flow, point->insn));
}

/* Straight on and along jumps, to a jump through a register. What a branch on the way leads to is a start,
 * too.
 */
static void tail_follow(struct tail_search *search, uint32_t i, struct tails *tails)
{
	const struct flow *flow = search->flow;
	size_t n_before = tails->insns.n;

	for (unsigned n = 0; n < MAX_TO_EXIT && i != FLOW_NONE; n++) {
		const struct insn *insn = &flow->insns.at[i];
		vec_push(&tails->insns, i);
		if (insn->flow == FLOW_JUMP_INDIRECT && (flow->flags.at[i] & (INSN_UNRESOLVED | INSN_TAIL)))
			return;
		bool goes_on =
			insn->flow == FLOW_NEXT || insn->flow == FLOW_BRANCH || insn->flow == FLOW_JUMP;
		if (!goes_on || !tail_leaves_stack(flow, i))
			break;
		if (insn->flow == FLOW_BRANCH)
			tail_add_start(search, flow_insn_at(flow, insn->target));
		i = insn->flow == FLOW_JUMP ? flow_insn_at(flow, insn->target) : tail_next(flow, i);
	}
	tails->insns.n = n_before; /* it leads elsewhere */
}

bool tails_have(struct tails *tails, struct flow *flow, uint32_t insn)
{
	struct tail_search search = { .flow = flow };

	for (size_t part = 0; !tails->is_searched && part < flow->parts.n; part++)
		flow_walk(flow, part, tail_see, &search);
	for (unsigned k = 0; !tails->is_searched && k < search.n; k++)
		tail_follow(&search, search.starts[k], tails);
	tails->is_searched = true;
	for (size_t k = 0; k < tails->insns.n; k++)
		if (tails->insns.at[k] == insn)
			return true;
	return false;
}

void tails_done(struct tails *tails)
{
	vec_done(&tails->insns);
}
