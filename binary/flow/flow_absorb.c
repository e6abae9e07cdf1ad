/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow_absorb: code that a function jumps to and that belongs to no known function: it is absorbed as a
 * part, or recognised as a function of its own.
 */
#include "binary/flow/entry.h"
#include "binary/flow/flow_private.h"

#define MAX_GAP_INSNS 512

static bool absorb_ends_run(const struct insn *insn)
{
	return insn->flow == FLOW_JUMP || insn->flow == FLOW_RETURN || insn->flow == FLOW_STOP ||
	       insn->flow == FLOW_JUMP_INDIRECT;
}

/* Where the next function or absorbed part starts. No instruction extends over it. */
static uint64_t absorb_limit(const struct flow *flow, uint64_t target)
{
	uint64_t function = facts_next_start(flow->facts, target), part = flow_next_part(flow, target);

	return part < function ? part : function;
}

/*
 * Code outside all intervals (a linker's veneer, cold code of a file without unwind entries) is absorbed up
 * to an instruction that does not fall through.
 */
bool flow_absorb_gap(struct flow *flow, uint64_t target)
{
	struct bytes code = image_code(flow->facts->image, target);
	uint64_t at = target, limit = absorb_limit(flow, target);

	for (unsigned n = 0; n < MAX_GAP_INSNS && at < limit; n++) {
		struct insn insn;
		if (flow->isa->decode(code, at, &insn) < 0 || insn.len == 0 || insn.len > code.len)
			return false;
		at += insn.len;
		code = bytes_from(code, insn.len);
		if (absorb_ends_run(&insn) || flow_holds(flow, at))
			return at <= limit && flow_add_part(flow, target, at);
	}
	return false; /* falls through to the next function: padding, the target of an unreachable case of a
			 switch */
}

/*
 * Linkers work around CPU errata by moving an instruction out of its function: a jump to it, the instruction,
 * a jump back. It belongs to the function it came from, wherever it is.
 */
bool flow_absorb_detour(struct flow *flow, uint32_t i, uint64_t target)
{
	uint64_t back = flow->vaddrs.at[i] + flow->insns.at[i].len;
	uint8_t len = flow->isa->min_insn;
	struct bytes code = image_code(flow->facts->image, target);
	struct insn moved, jump;

	if (flow->isa->call_pushes_ra || flow->insns.at[i].flow != FLOW_JUMP || code.len < 2u * len)
		return false;
	if (flow->isa->decode(code, target, &moved) < 0 || moved.flow != FLOW_NEXT ||
	    flow->isa->decode(bytes_from(code, len), target + len, &jump) < 0)
		return false;
	if (jump.flow != FLOW_JUMP || jump.target != back || !flow_add_part(flow, target, target + 2u * len))
		return false;
	uint32_t index = facts_index(flow->facts, target);
	if (index != FUNCTION_NONE && flow->facts->at[index].start == target)
		vec_push(&flow->absorbed, index);
	return true;
}

/* May a function start here, judging by the preceding instruction? If that cannot be decoded: by the
 * alignment, or by its first instruction, because functions optimised for size are not aligned. */
static bool absorb_is_start_alone(const struct flow *flow, uint64_t target, const struct insn *first)
{
	struct insn before;

	if (flow->isa->call_pushes_ra)
		return target % 16 == 0 || entry_is_beginning(flow->isa, first);
	if (flow->isa->decode(image_code(flow->facts->image, target - 4), target - 4, &before) < 0)
		return true;
	return before.is_padding || (before.flow != FLOW_NEXT && before.flow != FLOW_BRANCH);
}

bool flow_finds_function(const struct flow *flow, uint32_t i, uint64_t target)
{
	struct bytes code = image_code(flow->facts->image, target);
	uint8_t kind = flow->insns.at[i].flow;
	struct insn first;

	if (flow->isa->decode(code, target, &first) < 0 || !absorb_is_start_alone(flow, target, &first) ||
	    !entry_is_plausible(flow->isa, flow->facts->image, target))
		return false;
	return kind == FLOW_JUMP || (kind == FLOW_BRANCH && entry_is_prologue(flow->isa, &first));
}
