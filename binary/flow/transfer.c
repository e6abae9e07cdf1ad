/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transfer: the effect of one instruction on a state.
 */
#include "binary/flow/flow_private.h"

static value transfer_read(const struct state *state, uint8_t reg)
{
	return reg < REG_MAX ? state->reg[reg] : VALUE_UNKNOWN;
}

static void transfer_write(struct state *state, uint8_t reg, value v)
{
	if (reg < REG_MAX)
		state_set(state, reg, v);
}

/* The low bytes of a constant, extended as the effect says, shifted. */
static int64_t transfer_extended(int64_t c, const struct effect *e)
{
	unsigned bits = e->index_width && e->index_width < 8 ? 8u * e->index_width : 64;
	uint64_t low = bits == 64 ? (uint64_t)c : (uint64_t)c & ((1ull << bits) - 1);

	if (e->is_signed && bits < 64)
		low = (uint64_t)((int64_t)(low << (64 - bits)) >> (64 - bits));
	return (int64_t)(low << (e->shift & 63));
}

/*
 * One descriptor per instruction: a second visit finds the same number, so that states converge. An
 * instruction that uses two tables is not a table load.
 */
static value transfer_load_value(struct flow *flow, uint32_t i, const struct flow_load *load)
{
	uint32_t found = map_find(&flow->private->load_of, i);

	if (found == MAP_NONE) {
		found = (uint32_t)flow->loads.n;
		vec_push(&flow->loads, *load);
		map_put(&flow->private->load_of, i, found);
	}
	if (flow->loads.at[found].table != load->table)
		return VALUE_UNKNOWN;
	return value_make(VALUE_LOAD, 0, (int32_t)found);
}

static value transfer_target_value(struct flow *flow, uint32_t i, const struct flow_target *target)
{
	uint32_t found = map_find(&flow->private->target_of, i);

	if (found == MAP_NONE) {
		found = (uint32_t)flow->targets.n;
		vec_push(&flow->targets, *target);
		map_put(&flow->private->target_of, i, found);
	}
	const struct flow_target *known = &flow->targets.at[found];
	if (known->base != target->base || known->load != target->load || known->shift != target->shift)
		return VALUE_UNKNOWN;
	return value_make(VALUE_TARGET, 0, (int32_t)found);
}

/* base + (value loaded from a table << shift). */
static value transfer_table_sum(struct flow *flow, uint32_t i, int64_t base, value loaded,
				const struct effect *e, bool as_index)
{
	uint8_t shift = as_index ? e->shift : 0;
	uint8_t width = as_index ? e->index_width : 8;

	if (value_kind(loaded) == VALUE_LOAD) {
		const struct flow_load *load = &flow->loads.at[value_offset(loaded)];
		bool is_narrow = width && width < 8 && width <= load->width;
		struct flow_target target = {
			.base = (uint64_t)base,
			.load = (uint32_t)value_offset(loaded),
			.insn = i,
			.shift = shift,
			.width = is_narrow ? width : load->width,
			.is_signed = is_narrow ? e->is_signed : load->is_signed,
		};
		return transfer_target_value(flow, i, &target);
	}
	if (value_kind(loaded) != VALUE_TARGET)
		return VALUE_UNKNOWN;

	struct flow_target target = flow->targets.at[value_offset(loaded)];
	target.base = (target.base << shift) + (uint64_t)base;
	target.shift = (uint8_t)(target.shift + shift);
	return transfer_target_value(flow, i, &target);
}

static bool transfer_is_table_value(value v)
{
	return value_kind(v) == VALUE_LOAD || value_kind(v) == VALUE_TARGET;
}

static value transfer_sum(struct flow *flow, uint32_t i, const struct effect *e, const struct state *state)
{
	value base =
		e->base == REG_NONE ? value_const(e->imm) : value_add(transfer_read(state, e->base), e->imm);
	value index = transfer_read(state, e->index);

	if (e->index == REG_NONE)
		return base;
	if (value_kind(index) == VALUE_CONST && transfer_is_table_value(base) && !e->is_subtracted)
		return transfer_table_sum(flow, i, transfer_extended(value_constant(index), e), base, e,
					  false);
	if (value_kind(index) == VALUE_CONST) {
		int64_t by = transfer_extended(value_constant(index), e);
		return value_add(base, e->is_subtracted ? (int64_t)(0 - (uint64_t)by) : by);
	}
	if (value_kind(base) == VALUE_CONST && transfer_is_table_value(index) && !e->is_subtracted)
		return transfer_table_sum(flow, i, value_constant(base), index, e, true);
	if (e->base == REG_NONE && e->imm == 0 && e->shift == 0 && e->index_width == 8 && !e->is_subtracted)
		return index;
	return VALUE_UNKNOWN;
}

/*
 * sp was changed by an unknown amount: from here on it is a separate base, so that values stored relative to
 * it, such as the address of the frame, can be found again. Unknown if that happens in a loop.
 */
static value transfer_new_base(uint32_t i, value sp)
{
	bool is_own = value_kind(sp) == VALUE_ALIGNED && value_site(sp) == i;

	return value_is_frame(sp) && !is_own && i <= 0xffffff ? value_make(VALUE_ALIGNED, i, 0)
							      : VALUE_UNKNOWN;
}

static void transfer_apply_set(struct flow *flow, uint32_t i, const struct effect *e, struct state *state)
{
	value v = transfer_sum(flow, i, e, state);

	if (v == VALUE_UNKNOWN && e->reg == flow->isa->sp && e->base == flow->isa->sp && e->width == 8)
		v = transfer_new_base(i, transfer_read(state, e->base));
	if (e->width && e->width < 8) {
		bool is_kept = e->width == 4 && transfer_is_table_value(v);
		if (value_kind(v) == VALUE_CONST && e->width == 4)
			v = value_const((int64_t)(uint32_t)value_constant(v));
		else if (!is_kept)
			v = VALUE_UNKNOWN;
	}
	transfer_write(state, e->reg, v);
}

static void transfer_apply_and(uint32_t i, const struct effect *e, struct state *state)
{
	value v = transfer_read(state, e->base);
	uint64_t step = 0 - (uint64_t)e->imm;
	bool is_alignment = e->imm < 0 && (step & (step - 1)) == 0;

	if (value_kind(v) == VALUE_CONST)
		v = value_const(value_constant(v) & e->imm);
	else if (value_is_frame(v) && is_alignment && e->imm >= -8 && value_offset(v) % 8 == 0)
		; /* frame addresses are already multiples of eight */
	else if (value_is_frame(v) && is_alignment && i <= 0xffffff &&
		 !(value_kind(v) == VALUE_ALIGNED && value_site(v) == i))
		v = value_make(VALUE_ALIGNED, i, 0);
	else
		v = VALUE_UNKNOWN;
	transfer_write(state, e->reg, v);
}

static value transfer_load(struct flow *flow, uint32_t i, const struct effect *e, const struct state *state)
{
	value base =
		e->base == REG_NONE ? value_const(e->imm) : value_add(transfer_read(state, e->base), e->imm);
	uint8_t index = e->index;

	if (index == REG_NONE && value_is_frame(base))
		return e->width == 8 ? state_load(state, base) : VALUE_UNKNOWN;
	if (index == REG_NONE && e->width != 8)
		return VALUE_UNKNOWN;
	if (value_kind(base) != VALUE_CONST && index != REG_NONE && e->shift == 0 && e->imm == 0) {
		base = transfer_read(state,
				     index); /* [index + table]: the sum does not show which is which */
		index = e->base;
	}
	if (value_kind(base) != VALUE_CONST)
		return VALUE_UNKNOWN;

	struct flow_load load = {
		.table = (uint64_t)value_constant(base),
		.insn = i,
		.width = e->width,
		.index = index,
		.is_signed = e->is_signed,
	};
	return transfer_load_value(flow, i, &load);
}

/* Does the address come directly from sp or the frame pointer, not from a derived pointer? */
static bool transfer_is_direct(const struct flow *flow, const struct effect *e, const struct state *state)
{
	const struct isa *isa = flow->isa;

	return e->base == isa->sp ||
	       (e->base == isa->fp && state_load(state, state->reg[isa->fp]) == value_entry(isa->fp));
}

/*
 * A store through a derived pointer does not overwrite a saved register: unrolled loops over a buffer in the
 * frame exceed it on infeasible paths.
 */
static void transfer_apply_store(const struct flow *flow, uint32_t i, const struct effect *e,
				 struct state *state)
{
	uint8_t sp = flow->isa->sp;

	/* The address of the frame is saved relative to an unknown sp: make sp a base, so that it can be
	 * found again. */
	if (e->base == sp && state->reg[sp] == VALUE_UNKNOWN &&
	    value_kind(transfer_read(state, e->reg)) == VALUE_CFA && i <= 0xffffff)
		state_set(state, sp, value_make(VALUE_ALIGNED, i, 0));
	value at = value_add(transfer_read(state, e->base), e->imm);

	if (e->base == REG_NONE || e->index != REG_NONE || !value_is_frame(at))
		return;
	bool may_kill = transfer_is_direct(flow, e, state) && !flow->private->protects_saves;
	if (!may_kill && state_overlaps_save(state, at, e->width))
		return;
	state_store(state, at, e->width, transfer_read(state, e->reg));
}

static void transfer_apply_push(const struct flow *flow, const struct effect *e, struct state *state)
{
	value pushed = transfer_read(state, e->reg);
	value sp = value_add(state->reg[flow->isa->sp], -(int64_t)e->width);

	state_set(state, flow->isa->sp, sp);
	if (value_is_frame(sp))
		state_store(state, sp, e->width, pushed);
}

static void transfer_apply_pop(const struct flow *flow, const struct effect *e, struct state *state)
{
	value sp = state->reg[flow->isa->sp];
	value popped = value_is_frame(sp) && e->width == 8 ? state_load(state, sp) : VALUE_UNKNOWN;

	state_set(state, flow->isa->sp, value_add(sp, e->width));
	transfer_write(state, e->reg, popped);
}

static void transfer_apply(struct flow *flow, uint32_t i, const struct effect *e, struct state *state)
{
	value v;

	switch ((enum effect_kind)e->kind) {
	case EFFECT_PUSH:
		transfer_apply_push(flow, e, state);
		break;
	case EFFECT_POP:
		transfer_apply_pop(flow, e, state);
		break;
	case EFFECT_SET:
		transfer_apply_set(flow, i, e, state);
		break;
	case EFFECT_AND:
		transfer_apply_and(i, e, state);
		break;
	case EFFECT_LOAD:
		if (e->reg < REG_MAX)
			transfer_write(state, e->reg, transfer_load(flow, i, e, state));
		break;
	case EFFECT_STORE:
		transfer_apply_store(flow, i, e, state);
		break;
	case EFFECT_EXCHANGE:
		v = transfer_read(state, e->reg);
		transfer_write(state, e->reg, transfer_read(state, e->base));
		transfer_write(state, e->base, v);
		break;
	case EFFECT_COMPARE:
		break;
	}
}

static bool transfer_is_worth_keeping(const struct isa *isa, value v)
{
	return value_is_frame(v) || v == value_entry(isa->ra);
}

/* Records the assumption that the callee preserves these registers. */
static void transfer_ask(struct flow *flow, uint32_t callee, uint64_t regs)
{
	uint32_t found = map_find(&flow->private->question_of, callee);

	if (found == MAP_NONE) {
		found = (uint32_t)flow->questions.n;
		vec_push(&flow->questions, ((struct flow_question){ callee, 0 }));
		map_put(&flow->private->question_of, callee, found);
	}
	flow->questions.at[found].kept |= regs;
}

/*
 * A large frame is allocated by a helper that touches its pages and preserves the register with its size:
 *
 *     mov $size, %eax; call probestack; sub %rax, %rsp
 *
 * The register whose constant the instruction after the call subtracts from sp, as a mask; 0 if there is
 * none.
 */
static uint64_t transfer_probed(const struct flow *flow, uint32_t i, const struct state *state)
{
	const struct isa *isa = flow->isa;

	if (!flow->private->size_regs || i + 1 >= flow->insns.n ||
	    !(flow->uses.at[i + 1].writes >> isa->sp & 1))
		return 0;
	const struct effect *e = &flow_insn(flow, i + 1)->effect[0];
	bool is_frame = flow_insn(flow, i + 1)->n_effects == 1 && e->kind == EFFECT_SET &&
			e->reg == isa->sp && e->base == isa->sp && e->is_subtracted;
	if (!is_frame || value_kind(transfer_read(state, e->index)) != VALUE_CONST)
		return 0;
	return 1ull << e->index;
}

/* Registers that a call may change. What the callee really changes matters only if a register contains the
 * frame. */
static uint64_t transfer_call_clobbers(struct flow *flow, uint32_t i, const struct state *state)
{
	const struct insn *insn = &flow->insns.at[i];
	const struct isa *isa = flow->isa;
	uint64_t all = ((1ull << isa->n_regs) - 1) & ~isa->callee_saved & ~(1ull << isa->sp);
	uint64_t asked = flow->private->kept_regs & all & ~(isa->call_pushes_ra ? 0 : 1ull << isa->ra);

	for (uint64_t left = asked; left; left &= left - 1)
		if (!transfer_is_worth_keeping(isa, state->reg[__builtin_ctzll(left)]))
			asked &= ~(left & -left);
	if (flow->private->trusts_calls) {
		all &= ~asked;
		asked = 0;
	}
	asked |= transfer_probed(flow, i, state) & all;
	if (insn->flow == FLOW_CALL_INDIRECT && facts_slot_is_probe(flow->facts, insn->slot))
		return all & ~(asked & isa->probe_regs);
	if (!asked || insn->flow != FLOW_CALL)
		return all;
	uint64_t clobbers = facts_clobbers(flow->facts, flow->goes_to.at[i], insn->target);
	if (clobbers)
		return all & ~(asked & ~clobbers);
	if (flow->asks_nothing)
		return all;
	transfer_ask(flow, flow->goes_to.at[i], asked);
	return all & ~asked;
}

static void transfer_call(struct flow *flow, uint32_t i, struct state *state)
{
	const struct insn *insn = &flow->insns.at[i];
	bool is_push = insn->flow == FLOW_CALL && insn->target == flow->vaddrs.at[i] + insn->len;

	if (is_push && flow->isa->call_pushes_ra)
		transfer_apply_push(flow, &(struct effect){ .reg = REG_NONE, .width = 8 }, state);
	else
		state_call(state, flow->isa, transfer_call_clobbers(flow, i, state));
}

void transfer(struct flow *flow, uint32_t i, struct state *state)
{
	const struct insn *insn = flow_insn(flow, i);

	if (insn->flow == FLOW_CALL || insn->flow == FLOW_CALL_INDIRECT) {
		transfer_call(flow, i, state);
		return;
	}
	for (unsigned k = 0; k < insn->n_effects && k < INSN_MAX_EFFECTS; k++)
		transfer_apply(flow, i, &insn->effect[k], state);
	state_forget(state, insn->clobbers);
}

value transfer_jump_value(struct flow *flow, uint32_t i, const struct state *state)
{
	const struct insn *insn = flow_insn(flow, i);

	if (insn->through != REG_NONE)
		return transfer_read(state, insn->through);
	for (unsigned k = insn->n_effects; k-- > 0;)
		if (insn->effect[k].kind == EFFECT_LOAD)
			return transfer_load(flow, i, &insn->effect[k], state);
	return VALUE_UNKNOWN;
}
