/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow_decode: the parts of a function, decoded once each, and where their blocks may start.
 */
#include <string.h>

#include "base/search.h"
#include "binary/flow/entry.h"
#include "binary/flow/flow_private.h"

#define MAX_PARTS 2048u

/* How many parts start at vaddr or before it. */
static size_t decode_parts_until(const struct flow *flow, uint64_t vaddr)
{
	const uint32_t *order = flow->private->part_order.at;

	return search_first(i, flow->parts.n, flow->parts.at[order[i]].start > vaddr);
}

static const struct flow_part *decode_part_at(const struct flow *flow, uint64_t vaddr)
{
	size_t behind = decode_parts_until(flow, vaddr);
	const struct flow_part *part =
		behind ? &flow->parts.at[flow->private->part_order.at[behind - 1]] : NULL;

	return part && vaddr < part->end ? part : NULL;
}

uint32_t flow_insn_at(const struct flow *flow, uint64_t vaddr)
{
	const struct flow_part *part = decode_part_at(flow, vaddr);

	if (!part)
		return FLOW_NONE;
	uint32_t low = part->first, high = part->first + part->n;
	/* An instruction takes at least min_insn bytes, which is 1 or 4. */
	uint64_t offset = (vaddr - part->start) >> (flow->isa->min_insn == 4 ? 2 : 0);
	if (offset + 1 < part->n)
		high = low + (uint32_t)offset + 1;
	if (flow->isa->min_insn == 4 && offset < part->n) /* all have the same length */
		low = part->first + (uint32_t)offset;
	size_t at = search_first_in(k, low, high, flow->vaddrs.at[k] >= vaddr);
	return at < part->first + part->n && flow->vaddrs.at[at] == vaddr ? (uint32_t)at : FLOW_NONE;
}

bool flow_holds(const struct flow *flow, uint64_t vaddr)
{
	return decode_part_at(flow, vaddr) != NULL;
}

uint64_t flow_next_part(const struct flow *flow, uint64_t vaddr)
{
	size_t next = decode_parts_until(flow, vaddr);

	return next < flow->parts.n ? flow->parts.at[flow->private->part_order.at[next]].start : UINT64_MAX;
}

/* Parts do not overlap. */
static void decode_put_part(struct flow *flow, const struct flow_part *part)
{
	size_t place = decode_parts_until(flow, part->start), n = flow->parts.n;

	vec_push(&flow->private->part_order, 0);
	uint32_t *order = flow->private->part_order.at;
	memmove(order + place + 1, order + place, (n - place) * sizeof(*order));
	order[place] = (uint32_t)n;
	vec_push(&flow->parts, *part);
}

#define USUAL_BYTES 4 /* of an instruction; all have as many on AArch64 */

/* Room for the instructions in that many bytes of code in all arrays. */
static void decode_reserve(struct flow *flow, size_t n_bytes)
{
	vec_reserve(&flow->insns, flow->insns.n + n_bytes / USUAL_BYTES + 1);
	vec_reserve(&flow->uses, flow->insns.cap);
	vec_reserve(&flow->vaddrs, flow->insns.cap);
	vec_reserve(&flow->goes_to, flow->insns.cap);
	vec_reserve(&flow->flags, flow->insns.cap);
	vec_reserve(&flow->state_of, flow->insns.cap);
	vec_reserve(&flow->private->first_from, flow->insns.cap);
}

/* Can a constant in a register affect the frame or the control flow? */
static bool decode_asks_constants(const struct effect *e, const struct isa *isa)
{
	bool is_frame_base = e->base == isa->sp || e->base == isa->fp;
	bool is_frame_index = e->index == isa->sp || e->index == isa->fp;

	if (e->index != REG_NONE && (is_frame_base || is_frame_index))
		return true;
	return e->reg == isa->sp && !is_frame_base;
}

/* Is the stack pointer set from something outside the frame? Then an argument may determine the new frame. */
static bool decode_asks_arguments(const struct effect *e, const struct isa *isa)
{
	return e->reg == isa->sp && (e->kind == EFFECT_SET || e->kind == EFFECT_LOAD) && e->base != isa->sp &&
	       e->base != isa->fp;
}

/*
 * What is worth tracking in this function: registers that sp or the return address is set from or that
 * control returns through, even across calls; and constants, if some instruction can use them.
 */
static void decode_note_insn(struct flow_private *p, const struct insn *insn, const struct isa *isa)
{
	for (unsigned k = 0; k < insn->n_effects; k++) {
		const struct effect *e = &insn->effect[k];
		if (decode_asks_arguments(e, isa))
			p->wants_arguments = true;
		if (e->kind != EFFECT_SET)
			continue;
		if ((e->reg == isa->sp || e->reg == isa->ra) && e->base < REG_MAX)
			p->kept_regs |= 1ull << e->base;
		if (e->reg == isa->sp && e->is_subtracted && e->index < REG_MAX)
			p->size_regs |= 1ull << e->index;
		if (decode_asks_constants(e, isa))
			p->wants_constants = true;
	}
	if (insn->flow == FLOW_RETURN && insn->through < REG_MAX)
		p->kept_regs |= 1ull << insn->through;
	if (insn->flow == FLOW_JUMP_INDIRECT)
		p->wants_constants = true;
}

#define ALL_REGS ((1ull << REG_MAX) - 1)

/* Empty for REG_NONE, whose low bits are not a register. */
static uint64_t decode_bit_of(uint8_t reg)
{
	return 1ull << (reg & 63) & ALL_REGS;
}

/* What transfer_apply() in transfer.c reads and changes for each kind of effect, as masks to select registers
 * with. */
static const struct {
	uint64_t needs_reg, needs_base, needs_index, needs_sp, writes_reg, writes_base, writes_sp;
} passes[] = {
	[EFFECT_PUSH] = { .needs_reg = ALL_REGS, .needs_sp = ALL_REGS, .writes_sp = ALL_REGS },
	[EFFECT_POP] = { .needs_sp = ALL_REGS, .writes_reg = ALL_REGS, .writes_sp = ALL_REGS },
	[EFFECT_SET] = { .needs_base = ALL_REGS, .needs_index = ALL_REGS, .writes_reg = ALL_REGS },
	[EFFECT_AND] = { .needs_base = ALL_REGS, .writes_reg = ALL_REGS },
	[EFFECT_LOAD] = { .needs_base = ALL_REGS, .needs_index = ALL_REGS, .writes_reg = ALL_REGS },
	[EFFECT_STORE] = { .needs_reg = ALL_REGS, .needs_base = ALL_REGS },
	[EFFECT_EXCHANGE] = { .needs_reg = ALL_REGS,
			      .needs_base = ALL_REGS,
			      .writes_reg = ALL_REGS,
			      .writes_base = ALL_REGS },
	[EFFECT_COMPARE] = { 0 },
};

static void decode_add_use(struct isa_use *use, const struct effect *e, uint8_t sp)
{
	uint64_t reg = decode_bit_of(e->reg), base = decode_bit_of(e->base), index = decode_bit_of(e->index),
		 stack = decode_bit_of(sp);
	bool is_constant = e->base == REG_NONE &&
			   (e->kind == EFFECT_LOAD || (e->kind == EFFECT_SET && e->index == REG_NONE));

	use->needs |= (reg & passes[e->kind].needs_reg) | (base & passes[e->kind].needs_base) |
		      (index & passes[e->kind].needs_index) | (stack & passes[e->kind].needs_sp) |
		      (is_constant ? USE_CONSTANT : 0);
	use->writes |= (reg & passes[e->kind].writes_reg) | (base & passes[e->kind].writes_base) |
		       (stack & passes[e->kind].writes_sp);
}

/* Does control never continue after this instruction? */
static bool decode_ends_run(const struct insn *insn)
{
	return insn->flow == FLOW_JUMP || insn->flow == FLOW_RETURN;
}

static struct isa_use decode_use_of(const struct insn *insn, uint64_t next, const struct isa *isa)
{
	struct isa_use use = { 0, insn->clobbers & ALL_REGS };

	for (unsigned k = 0; k < insn->n_effects; k++)
		decode_add_use(&use, &insn->effect[k], isa->sp);
	if (insn->flow == FLOW_NEXT) {
		use.needs |= insn->is_padding ? FLOW_CONTROL : 0;
		return use;
	}
	use.needs |= FLOW_CONTROL | (decode_ends_run(insn) ? FLOW_ENDS : 0);
	if (insn->flow == FLOW_CALL || insn->flow == FLOW_CALL_INDIRECT)
		use.writes = ((1ull << isa->n_regs) - 1) & ~isa->callee_saved & ~decode_bit_of(isa->sp);
	if (insn->flow == FLOW_CALL && insn->target == next) /* pushes its own address, see transfer_call() */
		use.writes |= decode_bit_of(isa->sp);
	return use;
}

#define NOT_DECODED UINT8_MAX /* in insn.n_effects */

const struct insn *flow_insn(const struct flow *flow, uint32_t i)
{
	struct insn *insn = &flow->insns.at[i];
	uint64_t vaddr = flow->vaddrs.at[i];

	if (insn->n_effects == NOT_DECODED)
		flow->isa->decode(image_code(flow->facts->image, vaddr), vaddr, insn);
	return insn;
}

/* Decodes the first instruction of `code`; false if the bytes are not one. */
static bool decode_one(const struct flow *flow, struct bytes code, uint64_t vaddr, struct insn *insn,
		       struct isa_use *use)
{
	const struct isa *isa = flow->isa;
	uint64_t frame = 1ull << isa->sp | 1ull << isa->fp | 1ull << isa->ra;
	bool is_good = isa->decode(code, vaddr, insn) == 0 && insn->len > 0 && insn->len <= code.len;

	if (!is_good)
		*insn = (struct insn){ .flow = FLOW_STOP, .len = isa->min_insn };
	*use = decode_use_of(insn, vaddr + insn->len, isa);
	if ((use->needs & (FLOW_CONTROL | frame)) || (use->writes & frame))
		decode_note_insn(flow->private, insn, isa);
	return is_good;
}

/* Classifies an instruction only by isa->glance: fills in only what that provides; the rest is decoded on
 * demand. */
static bool decode_glance_one(const struct isa *isa, struct bytes code, struct insn *insn,
			      struct isa_use *use)
{
	if (!isa->glance || !isa->glance(code, use))
		return false;
	insn->n_effects = NOT_DECODED;
	insn->flow = FLOW_NEXT;
	insn->len = isa->min_insn;
	insn->is_padding = false;
	return true;
}

/* As many instructions of `code` as there is room for; returns how many bytes they have. */
static size_t decode_some(struct flow *flow, struct bytes code, uint64_t vaddr)
{
	const struct isa *isa = flow->isa;
	struct insn *insn = flow->insns.at + flow->insns.n, *end = flow->insns.at + flow->insns.cap;
	struct isa_use *use = flow->uses.at + flow->insns.n;
	uint64_t *vaddrs = flow->vaddrs.at + flow->insns.n;
	uint16_t *flags = flow->flags.at + flow->insns.n;
	size_t at = 0;

	for (; at < code.len && insn < end; insn++, use++) {
		struct bytes rest = { code.at + at, code.len - at };
		bool is_good = decode_glance_one(isa, rest, insn, use) ||
			       decode_one(flow, rest, vaddr + at, insn, use);

		*vaddrs++ = vaddr + at;
		*flags++ = is_good ? 0 : INSN_BAD;
		at += insn->len;
	}
	flow->insns.n = (size_t)(insn - flow->insns.at);
	return at;
}

static void decode_part(struct flow *flow, uint64_t start, uint64_t end)
{
	struct bytes code = bytes_slice(image_code(flow->facts->image, start), 0, end - start);
	size_t first = flow->insns.n;

	for (size_t at = 0; at < code.len;) {
		if (flow->insns.n == flow->insns.cap)
			decode_reserve(flow, code.len - at);
		at += decode_some(flow, bytes_from(code, at), start + at);
	}
	size_t n = flow->insns.n;
	if (n > first) {
		memset(flow->state_of.at + first, 0xff,
		       (n - first) * sizeof(*flow->state_of.at)); /* FLOW_NONE */
		memset(flow->private->first_from.at + first, 0xff,
		       (n - first) * sizeof(*flow->private->first_from.at));
		flow->uses.at[n - 1].needs |=
			FLOW_CONTROL; /* the next instruction in the array is not the next in the code */
		flow_insn(flow, (uint32_t)n - 1); /* its successor may be in another function */
	}
	flow->uses.n = flow->goes_to.n = flow->vaddrs.n = flow->flags.n = flow->state_of.n =
		flow->private->first_from.n = n;
}

/* The compare that the branch at i depends on: of two whole registers, directly before it. NULL if there is
 * none. */
static const struct effect *decode_compare_above(const struct flow *flow, uint32_t i)
{
	for (uint32_t back = 0; back < 4 && i > 0; back++) {
		const struct insn *insn = flow_insn(flow, --i);
		for (unsigned k = insn->n_effects; k-- > 0;) {
			const struct effect *e = &insn->effect[k];
			if (e->kind == EFFECT_COMPARE)
				return e->width == 8 && e->base < REG_MAX && e->reg < REG_MAX ? e : NULL;
		}
		if (insn->n_effects || insn->flow != FLOW_NEXT)
			return NULL;
	}
	return NULL;
}

const struct effect *flow_equality(const struct flow *flow, uint32_t i)
{
	uint8_t condition = flow->insns.at[i].condition;

	return condition == CONDITION_EQUAL || condition == CONDITION_NOT_EQUAL
		       ? decode_compare_above(flow, i)
		       : NULL;
}

/* The word from which the register of the indirect call at i was loaded, if its address is formed directly
 * before: adrp, ldr, blr. Otherwise 0. */
static uint64_t decode_slot_above(const struct flow *flow, uint32_t i)
{
	uint8_t through = flow->insns.at[i].through;

	if (through >= REG_MAX || i < 2)
		return 0;
	const struct insn *load = flow_insn(flow, i - 1), *page = flow_insn(flow, i - 2);
	const struct effect *e = &load->effect[0], *base = &page->effect[0];
	bool is_load = load->n_effects == 1 && e->kind == EFFECT_LOAD && e->reg == through && e->width == 8 &&
		       e->index == REG_NONE;
	bool is_page = page->n_effects == 1 && base->kind == EFFECT_SET && page->is_address &&
		       base->base == REG_NONE && base->index == REG_NONE && base->reg == e->base;
	return is_load && is_page ? (uint64_t)base->imm + (uint64_t)e->imm : 0;
}

/* A call through a word that does not change after the loader has written it is a direct call. */
static void decode_bind_call(struct flow *flow, uint32_t i)
{
	struct insn *insn = &flow->insns.at[i];
	uint64_t target;

	if (insn->flow != FLOW_CALL_INDIRECT)
		return;
	if (!insn->slot)
		insn->slot = decode_slot_above(flow, i);
	if (!insn->slot || !facts_slot_target(flow->facts, insn->slot, &target))
		return;
	insn->flow = FLOW_CALL;
	insn->target = target;
}

/* If a branch is not taken, control continues in the same state, unless that makes two registers equal. */
static void decode_mark_leaders(struct flow *flow, const struct flow_part *part)
{
	uint32_t end = part->first + part->n;

	for (uint32_t i = part->first; i < end; i++) {
		const struct insn *insn = &flow->insns.at[i];
		if (!(flow->uses.at[i].needs & FLOW_CONTROL))
			continue;
		flow->goes_to.at[i] = FLOW_NONE;
		decode_bind_call(flow, i);
		if (insn->flow == FLOW_CALL)
			flow->goes_to.at[i] = facts_index(flow->facts, insn->target);
		if (insn->flow != FLOW_JUMP && insn->flow != FLOW_BRANCH)
			continue;
		if (insn->flow == FLOW_BRANCH && flow_equality(flow, i)) {
			flow->uses.at[i].needs |= FLOW_EQUATES;
			if (insn->condition == CONDITION_NOT_EQUAL && i + 1 < end)
				flow->flags.at[i + 1] |= INSN_LEADER;
		}
		if (insn->target < part->start || insn->target >= part->end)
			continue;
		uint32_t to = flow_insn_at(flow, insn->target);
		flow->goes_to.at[i] = to;
		if (to != FLOW_NONE)
			flow->flags.at[to] |= INSN_LEADER;
	}
}

/* Does a function start at `next`, with at most padding between it and the call above? */
static bool decode_is_behind_function(const struct flow *flow, uint32_t call, uint32_t next)
{
	bool is_aligned = flow->vaddrs.at[next] % 16 == 0;

	if (next > call + 1) /* padding is there to align something */
		return is_aligned;
	return (is_aligned || !flow->isa->call_pushes_ra) &&
	       entry_is_prologue(flow->isa, flow_insn(flow, next));
}

/*
 * If a function's end is only inferred: a call does not return if it is followed by padding up to an aligned
 * address, or by a prologue, and nothing jumps there. Otherwise the function would seem to fall through to
 * the next one and to return as that one does.
 */
static void decode_mark_last_calls(struct flow *flow, const struct flow_part *part)
{
	for (uint32_t i = part->first, end = part->first + part->n; i + 1 < end; i++) {
		uint8_t kind = flow->insns.at[i].flow;
		uint32_t next = i + 1;
		if (kind != FLOW_CALL && kind != FLOW_CALL_INDIRECT)
			continue;
		while (next < end && flow->insns.at[next].is_padding && !(flow->flags.at[next] & INSN_LEADER))
			next++;
		bool is_target = next < end && ((flow->flags.at[next] & INSN_LEADER) ||
						facts_is_jumped_to(flow->facts, flow->vaddrs.at[next]));
		if (next == end || (!is_target && decode_is_behind_function(flow, i, next)))
			flow->flags.at[i] |= INSN_NO_RETURN;
	}
}

static void decode_add_pads(struct flow *flow, uint64_t start, uint64_t end)
{
	const struct frames *frames = flow->facts->frames;
	struct fde fde;

	if (!frames)
		return;
	for (uint64_t at = start; at < end && frames_find(frames, at, &fde) == 0 && fde.size;
	     at = fde.start + fde.size) {
		size_t n = fde.lsda ? frames_landing_pads(frames, &fde, NULL, 0) : 0;
		if (n == 0 || n > FLOW_MAX_INSNS)
			continue;
		vec_reserve(&flow->pads, flow->pads.n + n);
		n = frames_landing_pads(frames, &fde, flow->pads.at + flow->pads.n, n);
		flow->pads.n += n;
	}
}

bool flow_add_part(struct flow *flow, uint64_t start, uint64_t end)
{
	uint32_t first = (uint32_t)flow->insns.n;
	uint64_t most = (uint64_t)FLOW_MAX_INSNS * flow->isa->min_insn;
	bool had_arguments = flow->private->wants_arguments;

	if (end <= start || end - start > most || flow_holds(flow, start) ||
	    flow_next_part(flow, start) < end ||
	    flow->insns.n + (end - start) / flow->isa->min_insn > FLOW_MAX_INSNS * 2 ||
	    flow->parts.n >= MAX_PARTS)
		return false;
	decode_part(flow, start, end);
	if (flow->insns.n == first)
		return false;
	if (flow->private->wants_constants && !flow->heeds) {
		flow->heeds = USE_CONSTANT;
		flow->private->must_restart = true;
	}
	flow->private->must_restart |= flow->private->wants_arguments != had_arguments;

	struct flow_part part = { start, end, first, (uint32_t)flow->insns.n - first };
	decode_put_part(flow, &part);
	decode_mark_leaders(flow, &part);
	if (flow->is_inferred)
		decode_mark_last_calls(flow, &part);
	decode_add_pads(flow, start, end);

	size_t words = flow->insns.n / 64 + 1;
	while (flow->private->strong.n < words) {
		vec_push(&flow->private->strong, 0);
		vec_push(&flow->private->weak, 0);
	}
	flow->private->budget += (uint64_t)part.n * FLOW_MAX_VISITS;
	return true;
}
