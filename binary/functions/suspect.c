/* SPDX-License-Identifier: Apache-2.0 */
#include "binary/functions/suspect.h"

#include "binary/flow/entry.h"

#define MAX_EXTENT (1u << 20) /* bytes analysed after a suspected start */
#define FIRST_EXTENT 128u     /* ... at first: most suspected starts are wrong, which soon becomes apparent */
#define NEXT_EXTENT 4u        /* factor for the next attempt if that was too little */
#define MAX_INSN 16u          /* bytes: longer than any instruction */

/* Without an exit to judge by, a function must begin like a function, or call a known one. */
static bool suspect_begins_well(const struct flow *flow)
{
	const struct code_facts *facts = flow->facts;

	for (uint32_t i = 0; i < 8 && i < flow->parts.at[0].n; i++) {
		const struct insn *insn = &flow->insns.at[i];
		bool is_direct = insn->flow == FLOW_CALL && !insn->slot;
		uint32_t callee = is_direct ? facts_index(facts, insn->target) : FUNCTION_NONE;
		if (entry_is_prologue(flow->isa, flow_insn(flow, i)))
			return true;
		if (insn->flow != FLOW_NEXT && !flow->isa->call_pushes_ra)
			return false; /* a call overwrites the return address: a function saves it first */
		if (insn->flow != FLOW_NEXT)
			return callee != FUNCTION_NONE && facts->at[callee].start == insn->target;
	}
	return false;
}

/*
 * Do the exits in its own interval show that it is a function? Exits of cold code elsewhere do not count: as
 * long as not every call that never returns is known, it may fall through to other functions.
 */
static bool suspect_passes(const struct flow *flow)
{
	bool passes = false;

	if (flow->verdict == FLOW_REFUSED)
		return false;
	for (uint32_t i = 0; i < flow->parts.at[0].n; i++)
		if ((flow->flags.at[i] & INSN_BAD) && (flow->flags.at[i] & INSN_REACHED))
			return false; /* data */
	if (flow->verdict == FLOW_EXITLESS)
		return suspect_begins_well(flow);
	for (uint32_t i = 0; i < flow->parts.at[0].n; i++) {
		if (flow->flags.at[i] & INSN_EXIT_FAILS)
			return false;
		passes |= (flow->flags.at[i] & INSN_EXIT_PASSES) != 0;
	}
	return passes;
}

/* Does control go from the code analysed up to `end` to code after it? */
static bool suspect_goes_beyond(const struct flow *flow, uint64_t end, uint64_t limit)
{
	uint32_t n = flow->parts.at[0].n;

	for (uint32_t i = 0; i < n; i++) {
		const struct insn *insn = &flow->insns.at[i];
		bool has_target = insn->flow == FLOW_JUMP || insn->flow == FLOW_BRANCH;
		if (!(flow->flags.at[i] & INSN_REACHED))
			continue;
		bool is_cut = (flow->flags.at[i] & INSN_BAD) &&
			      end - flow->vaddrs.at[i] < MAX_INSN; /* split by the end */
		if (insn->flow == FLOW_JUMP_INDIRECT || is_cut || i + 1 == n ||
		    (has_target && insn->target >= end && insn->target < limit))
			return true;
	}
	return false;
}

/* Decoding far ahead of each suspected start would make the cost quadratic in the size of the gap. */
static void suspect_analyse(struct functions *functions, struct flow *flow, uint64_t at, uint64_t limit)
{
	for (uint64_t extent = FIRST_EXTENT;; extent *= NEXT_EXTENT) {
		uint64_t end = limit - at < extent ? limit : at + extent;
		functions_analyse_range(functions, at, end, flow);
		if (end == limit || flow->parts.n == 0 || !suspect_goes_beyond(flow, end, limit))
			return;
	}
}

bool suspect_is_function(struct functions *functions, struct flow *flow, uint64_t at, uint64_t end)
{
	suspect_analyse(functions, flow, at, end - at < MAX_EXTENT ? end : at + MAX_EXTENT);
	return suspect_passes(flow);
}
