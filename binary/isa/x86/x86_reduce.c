/* SPDX-License-Identifier: Apache-2.0 */
/*
 * x86_reduce: the effects of an x86-64 instruction on stack, registers and control flow, from its neutral
 * operands. One small function for each relevant operation; everything else only reads, clobbers and stores.
 */
#include "binary/isa/x86/x86_operands.h"

#define BIT(reg) (UINT64_C(1) << (reg))

static struct effect *reduce_add_effect(struct insn *insn, enum effect_kind kind, uint8_t reg, uint8_t width)
{
	struct effect *effect = &insn->effect[insn->n_effects++];

	*effect = (struct effect){ .kind = (uint8_t)kind,
				   .reg = reg,
				   .width = width,
				   .base = REG_NONE,
				   .index = REG_NONE,
				   .index_width = 8 };
	return effect;
}

static void reduce_add_set(struct insn *insn, uint8_t reg, uint8_t base, int64_t imm, uint8_t width)
{
	struct effect *effect = reduce_add_effect(insn, EFFECT_SET, reg, width);

	effect->base = base;
	effect->imm = imm;
}

static int64_t reduce_truncate_to(int64_t value, unsigned width)
{
	return width >= 8 ? value : (int64_t)((uint64_t)value & ((UINT64_C(1) << (8 * width)) - 1));
}

static void reduce_add_constant(struct insn *insn, uint8_t reg, int64_t imm, uint8_t width)
{
	reduce_add_set(insn, reg, REG_NONE, reduce_truncate_to(imm, width), width);
}

/* A write of this width determines the whole register. */
static bool reduce_is_whole(const struct x86_operand *operand)
{
	return operand->kind == X86_REG && operand->width >= 4;
}

/* Part or all of a register, from its lowest byte on. */
static bool reduce_is_low(const struct x86_operand *operand)
{
	return operand->kind == X86_REG && !operand->is_high_byte;
}

static bool reduce_is_same_reg(const struct x86_operand *a, const struct x86_operand *b)
{
	return a->kind == X86_REG && b->kind == X86_REG && a->reg == b->reg &&
	       a->is_high_byte == b->is_high_byte;
}

static bool reduce_has_address(const struct x86_insn *x86, const struct x86_operand *memory)
{
	return memory->kind == X86_MEM && memory->has_address && x86->address_width == 8;
}

static void reduce_set_address(struct effect *effect, const struct x86_operand *memory)
{
	effect->base = memory->base;
	effect->index = memory->index;
	effect->shift = memory->index == REG_NONE ? 0 : memory->shift;
	effect->imm = memory->value;
}

/* False, and no effect, if the address is not known. */
static bool reduce_add_load(const struct x86_insn *x86, const struct x86_operand *memory, uint8_t reg,
			    bool is_signed, struct insn *insn)
{
	if (!reduce_has_address(x86, memory))
		return false;

	struct effect *effect = reduce_add_effect(insn, EFFECT_LOAD, reg, memory->width);

	reduce_set_address(effect, memory);
	effect->is_signed = is_signed;
	return true;
}

static void reduce_add_store(const struct x86_insn *x86, const struct x86_operand *memory, uint8_t reg,
			     struct insn *insn)
{
	if (reduce_has_address(x86, memory))
		reduce_set_address(reduce_add_effect(insn, EFFECT_STORE, reg, memory->width), memory);
}

/* For operations without effects of their own: memory that is written contains something unknown. */
static void reduce_other(const struct x86_insn *x86, struct insn *insn)
{
	for (unsigned i = 0; i < x86->n_operands && insn->n_effects < INSN_MAX_EFFECTS; i++)
		if (x86->operand[i].kind == X86_MEM && x86->operand[i].is_written)
			reduce_add_store(x86, &x86->operand[i], REG_NONE, insn);
}

/* or $0 changes nothing: stack probes, and fences at the top of the stack. */
static void reduce_or(const struct x86_insn *x86, struct insn *insn)
{
	const struct x86_operand *by = &x86->operand[1];

	if (by->kind != X86_IMM || by->value != 0)
		reduce_other(x86, insn);
}

static void reduce_mov(const struct x86_insn *x86, struct insn *insn)
{
	const struct x86_operand *to = &x86->operand[0], *from = &x86->operand[1];

	if (to->kind == X86_MEM)
		reduce_add_store(x86, to, reduce_is_low(from) ? from->reg : REG_NONE, insn);
	else if (!reduce_is_whole(to))
		return;
	else if (from->kind == X86_REG)
		reduce_add_set(insn, to->reg, from->reg, 0, to->width);
	else if (from->kind == X86_IMM)
		reduce_add_constant(insn, to->reg, from->value, to->width);
	else if (from->kind == X86_MEM)
		reduce_add_load(x86, from, to->reg, false, insn);
}

/* movzx, movsx: the source is narrower; a 4-byte result has its upper half zeroed, whatever the sign. */
static void reduce_extend(const struct x86_insn *x86, struct insn *insn)
{
	const struct x86_operand *to = &x86->operand[0], *from = &x86->operand[1];
	bool is_signed = x86->op == X86_MOVSX;

	if (!reduce_is_whole(to))
		return;
	if (reduce_is_low(from)) {
		struct effect *effect = reduce_add_effect(insn, EFFECT_SET, to->reg, to->width);

		effect->index = from->reg;
		effect->index_width = from->width;
		effect->is_signed = is_signed;
	} else if (from->kind == X86_MEM && reduce_add_load(x86, from, to->reg, is_signed, insn)) {
		if (is_signed && to->width == 4)
			reduce_add_set(insn, to->reg, to->reg, 0, 4);
	}
}

static void reduce_convert(const struct x86_insn *x86, struct insn *insn)
{
	if (x86->operand_width < 4)
		return;

	struct effect *effect = reduce_add_effect(insn, EFFECT_SET, X86_RAX, x86->operand_width);

	effect->index = X86_RAX;
	effect->index_width = x86->operand_width / 2;
	effect->is_signed = true;
}

static void reduce_lea(const struct x86_insn *x86, struct insn *insn)
{
	const struct x86_operand *to = &x86->operand[0];

	if (!reduce_is_whole(to))
		return;

	struct effect *effect =
		reduce_add_effect(insn, EFFECT_SET, to->reg, x86->address_width < to->width ? 4 : to->width);

	reduce_set_address(effect, &x86->operand[1]);
	insn->is_address = effect->base == REG_NONE && effect->index == REG_NONE;
	if (insn->is_address)
		effect->imm = reduce_truncate_to(effect->imm, effect->width);
	/* Padding by assemblers that do not use long nops. */
	insn->is_padding = effect->width == 8 && effect->base == effect->reg && effect->index == REG_NONE &&
			   effect->imm == 0;
}

static void reduce_add_sub(const struct x86_insn *x86, struct insn *insn)
{
	const struct x86_operand *to = &x86->operand[0], *by = &x86->operand[1];
	bool is_sub = x86->op == X86_SUB;

	if (!reduce_is_whole(to)) {
		reduce_other(x86, insn);
	} else if (is_sub && reduce_is_same_reg(to, by)) {
		reduce_add_constant(insn, to->reg, 0, to->width);
		insn->reads = 0;
	} else if (by->kind == X86_IMM) {
		reduce_add_set(insn, to->reg, to->reg, is_sub ? (int64_t) - (uint64_t)by->value : by->value,
			       to->width);
	} else if (by->kind == X86_REG) {
		struct effect *effect = reduce_add_effect(insn, EFFECT_SET, to->reg, to->width);

		effect->base = to->reg;
		effect->index = by->reg;
		effect->is_subtracted = is_sub;
	}
}

static void reduce_inc_dec(const struct x86_insn *x86, struct insn *insn)
{
	const struct x86_operand *to = &x86->operand[0];

	if (reduce_is_whole(to))
		reduce_add_set(insn, to->reg, to->reg, x86->op == X86_INC ? 1 : -1, to->width);
	else
		reduce_other(x86, insn);
}

static void reduce_and(const struct x86_insn *x86, struct insn *insn)
{
	const struct x86_operand *to = &x86->operand[0], *by = &x86->operand[1];

	if (!reduce_is_whole(to) || by->kind != X86_IMM) {
		reduce_other(x86, insn);
		return;
	}

	struct effect *effect = reduce_add_effect(insn, EFFECT_AND, to->reg, to->width);

	effect->base = to->reg;
	effect->imm = by->value;
}

/* xor r,r and sbb r,r are constants or flags: they do not depend on the register's value. */
static void reduce_xor_sbb(const struct x86_insn *x86, struct insn *insn)
{
	const struct x86_operand *to = &x86->operand[0];

	if (reduce_is_whole(to) && reduce_is_same_reg(to, &x86->operand[1])) {
		insn->reads = 0;
		if (x86->op == X86_XOR)
			reduce_add_constant(insn, to->reg, 0, to->width);
	} else {
		reduce_other(x86, insn);
	}
}

static void reduce_shl(const struct x86_insn *x86, struct insn *insn)
{
	const struct x86_operand *to = &x86->operand[0], *by = &x86->operand[1];

	if (!reduce_is_whole(to) || by->kind != X86_IMM) {
		reduce_other(x86, insn);
		return;
	}

	struct effect *effect = reduce_add_effect(insn, EFFECT_SET, to->reg, to->width);

	effect->index = to->reg;
	effect->shift = (uint8_t)by->value & (to->width == 8 ? 63 : 31);
}

static void reduce_cmp(const struct x86_insn *x86, struct insn *insn)
{
	const struct x86_operand *left = &x86->operand[0], *right = &x86->operand[1];

	if (right->kind != X86_IMM && !reduce_is_low(right))
		return;
	if (left->kind == X86_MEM ? !reduce_add_load(x86, left, REG_NONE, false, insn) : !reduce_is_low(left))
		return;

	struct effect *effect = reduce_add_effect(
		insn, EFFECT_COMPARE, right->kind == X86_IMM ? REG_NONE : right->reg, left->width);

	effect->base = left->kind == X86_MEM ? REG_NONE : left->reg;
	effect->imm = right->kind == X86_IMM ? reduce_truncate_to(right->value, left->width) : 0;
}

/* test r,r sets zero and carry like a compare with 0; any other test limits nothing. */
static void reduce_test(const struct x86_insn *x86, struct insn *insn)
{
	const struct x86_operand *left = &x86->operand[0];

	if (reduce_is_low(left) && reduce_is_same_reg(left, &x86->operand[1]))
		reduce_add_effect(insn, EFFECT_COMPARE, REG_NONE, left->width)->base = left->reg;
}

static void reduce_xchg(const struct x86_insn *x86, struct insn *insn)
{
	const struct x86_operand *left = &x86->operand[0], *right = &x86->operand[1];

	if (left->kind == X86_MEM)
		reduce_add_store(x86, left, reduce_is_low(right) ? right->reg : REG_NONE, insn);
	else if (right->kind == X86_MEM)
		reduce_add_store(x86, right, reduce_is_low(left) ? left->reg : REG_NONE, insn);
	else if (left->width == 8)
		reduce_add_effect(insn, EFFECT_EXCHANGE, left->reg, 8)->base = right->reg;
}

static void reduce_push(const struct x86_insn *x86, struct insn *insn)
{
	const struct x86_operand *from = &x86->operand[0];

	if (from->kind == X86_MEM)
		reduce_add_load(x86, from, REG_NONE, false,
				insn); /* its address is computed before sp changes */
	reduce_add_effect(insn, EFFECT_PUSH, from->kind == X86_REG ? from->reg : REG_NONE,
			  x86->operand_width);
}

static void reduce_pop(const struct x86_insn *x86, struct insn *insn)
{
	const struct x86_operand *to = &x86->operand[0];

	if (to->kind == X86_REG && to->width == 8 && to->reg == X86_RSP) {
		reduce_add_effect(insn, EFFECT_LOAD, X86_RSP, 8)->base = X86_RSP;
	} else if (to->kind == X86_REG && to->width == 8) {
		reduce_add_effect(insn, EFFECT_POP, to->reg, 8);
	} else {
		reduce_add_set(insn, X86_RSP, X86_RSP, x86->operand_width, 8);
		if (to->kind == X86_MEM)
			reduce_add_store(x86, to, REG_NONE,
					 insn); /* its address is computed after sp has changed */
	}
}

static void reduce_pushf(const struct x86_insn *x86, struct insn *insn)
{
	reduce_add_effect(insn, EFFECT_PUSH, REG_NONE, x86->operand_width);
}

static void reduce_popf(const struct x86_insn *x86, struct insn *insn)
{
	reduce_add_set(insn, X86_RSP, X86_RSP, x86->operand_width, 8);
}

static void reduce_enter(const struct x86_insn *x86, struct insn *insn)
{
	if (x86->operand[1].value != 0 || x86->operand_width != 8)
		return; /* nested frames: compilers do not generate them; clobbers are enough */
	reduce_add_effect(insn, EFFECT_PUSH, X86_RBP, 8);
	reduce_add_set(insn, X86_RBP, X86_RSP, 0, 8);
	reduce_add_set(insn, X86_RSP, X86_RSP, -(x86->operand[0].value & 0xffff), 8);
}

static void reduce_leave(const struct x86_insn *x86, struct insn *insn)
{
	if (x86->operand_width != 8)
		return;
	reduce_add_set(insn, X86_RSP, X86_RBP, 0, 8);
	reduce_add_effect(insn, EFFECT_POP, X86_RBP, 8);
}

static void reduce_store_rdi(const struct x86_insn *x86, struct insn *insn)
{
	if (x86->address_width == 8)
		reduce_add_effect(insn, EFFECT_STORE, REG_NONE, x86->operand_width)->base = X86_RDI;
}

/* A direct or indirect near jump or call. */
static void reduce_transfer(const struct x86_insn *x86, struct insn *insn)
{
	const struct x86_operand *to = &x86->operand[0];
	bool is_call = x86->op == X86_CALL;

	insn->flow = is_call ? FLOW_CALL_INDIRECT : FLOW_JUMP_INDIRECT;
	if (to->kind == X86_IMM) {
		insn->flow = is_call ? FLOW_CALL : FLOW_JUMP;
		insn->target = (uint64_t)to->value;
	} else if (to->kind == X86_REG) {
		insn->through = to->reg;
	} else if (reduce_add_load(x86, to, REG_NONE, false, insn) && to->base == REG_NONE &&
		   to->index == REG_NONE) {
		insn->slot = (uint64_t)to->value;
	}
}

static void reduce_branch(const struct x86_insn *x86, struct insn *insn)
{
	insn->flow = FLOW_BRANCH;
	insn->target = (uint64_t)x86->operand[0].value;
	insn->condition = x86->condition;
	if (x86->op == X86_LOOP && x86->address_width == 8)
		reduce_add_set(insn, X86_RCX, X86_RCX, -1, 8);
}

static void reduce_far_call(const struct x86_insn *x86, struct insn *insn)
{
	(void)x86;
	insn->flow = FLOW_CALL_INDIRECT;
}

static void reduce_ret(const struct x86_insn *x86, struct insn *insn)
{
	(void)x86;
	insn->flow = FLOW_RETURN;
}

static void reduce_stop(const struct x86_insn *x86, struct insn *insn)
{
	insn->flow = FLOW_STOP;
	insn->is_padding = x86->op == X86_INT3;
	insn->is_fill = insn->is_padding && x86->len == 1;
	insn->reads = 0; /* nothing is left to use it */
}

static void reduce_nop(const struct x86_insn *x86, struct insn *insn)
{
	(void)x86;
	insn->is_padding = true;
	insn->reads = 0;
}

static void reduce_endbr(const struct x86_insn *x86, struct insn *insn)
{
	(void)x86;
	insn->is_entry_mark = true;
}

/* The kernel returns its result in rax; the 32-bit gate may zero r8-r11. */
static void reduce_syscall(const struct x86_insn *x86, struct insn *insn)
{
	bool is_gate = x86->op == X86_INT;

	if (is_gate && (x86->operand[0].value & 0xff) != 0x80)
		return;
	insn->is_syscall = true;
	insn->clobbers =
		BIT(X86_RAX) | (is_gate ? BIT(X86_R8) | BIT(X86_R9) | BIT(X86_R10) | BIT(X86_R11) : 0);
}

static void (*const reduce[X86_N_OPS])(const struct x86_insn *x86, struct insn *insn) = {
	[X86_OTHER] = reduce_other,
	[X86_ADD] = reduce_add_sub,
	[X86_AND] = reduce_and,
	[X86_BRANCH] = reduce_branch,
	[X86_CALL] = reduce_transfer,
	[X86_CMP] = reduce_cmp,
	[X86_CONVERT] = reduce_convert,
	[X86_DEC] = reduce_inc_dec,
	[X86_ENDBR] = reduce_endbr,
	[X86_ENTER] = reduce_enter,
	[X86_FAR_CALL] = reduce_far_call,
	[X86_INC] = reduce_inc_dec,
	[X86_INT] = reduce_syscall,
	[X86_INT3] = reduce_stop,
	[X86_JMP] = reduce_transfer,
	[X86_LEA] = reduce_lea,
	[X86_LEAVE] = reduce_leave,
	[X86_LOOP] = reduce_branch,
	[X86_MOV] = reduce_mov,
	[X86_MOVSX] = reduce_extend,
	[X86_MOVZX] = reduce_extend,
	[X86_NOP] = reduce_nop,
	[X86_OR] = reduce_or,
	[X86_POP] = reduce_pop,
	[X86_POPF] = reduce_popf,
	[X86_PUSH] = reduce_push,
	[X86_PUSHF] = reduce_pushf,
	[X86_RET] = reduce_ret,
	[X86_SBB] = reduce_xor_sbb,
	[X86_SHL] = reduce_shl,
	[X86_STOP] = reduce_stop,
	[X86_STORE_RDI] = reduce_store_rdi,
	[X86_SUB] = reduce_add_sub,
	[X86_SYSCALL] = reduce_syscall,
	[X86_TEST] = reduce_test,
	[X86_XCHG] = reduce_xchg,
	[X86_XOR] = reduce_xor_sbb,
};

/* Registers whose new value the effects describe. */
static uint64_t reduce_described(const struct insn *insn)
{
	uint64_t mask = 0;

	for (unsigned i = 0; i < insn->n_effects; i++) {
		const struct effect *effect = &insn->effect[i];

		if (effect->kind == EFFECT_PUSH || effect->kind == EFFECT_POP)
			mask |= BIT(X86_RSP);
		if (effect->kind == EFFECT_EXCHANGE)
			mask |= BIT(effect->base);
		if (effect->kind != EFFECT_PUSH && effect->kind != EFFECT_STORE &&
		    effect->kind != EFFECT_COMPARE && effect->reg != REG_NONE)
			mask |= BIT(effect->reg);
	}
	return mask;
}

void x86_reduce(const struct x86_insn *x86, struct insn *ret)
{
	ret->target = ret->slot = ret->clobbers = 0;
	ret->reads = x86->reads;
	ret->n_effects = 0;
	ret->flow = FLOW_NEXT;
	ret->len = x86->len;
	ret->condition = CONDITION_OTHER;
	ret->through = REG_NONE;
	ret->is_padding = ret->is_fill = ret->is_entry_mark = false;
	ret->is_syscall = ret->is_signed = ret->is_address = false;
	ret->writes_flags = x86->writes_flags;
	reduce[x86->op](x86, ret);
	ret->clobbers |= x86->writes & ~reduce_described(ret);
	if (ret->flow == FLOW_CALL || ret->flow == FLOW_CALL_INDIRECT || ret->flow == FLOW_RETURN ||
	    ret->flow == FLOW_STOP)
		ret->clobbers &= ~BIT(X86_RSP); /* see isa.h: calls and returns have no effect of their own */
}
