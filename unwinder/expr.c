/* SPDX-License-Identifier: Apache-2.0 */
#include "unwinder/expr.h"

#define MAX_DEPTH 64
#define MAX_STEPS \
	4096 /* expressions may branch backwards; those of compilers have at most about twenty steps */

enum op {
	OP_ADDR = 0x03,
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST1S,
	OP_CONST2U,
	OP_CONST2S,
	OP_CONST4U,
	OP_CONST4S,
	OP_CONST8U,
	OP_CONST8S,
	OP_CONSTU,
	OP_CONSTS,
	OP_DUP,
	OP_DROP,
	OP_OVER,
	OP_PICK,
	OP_SWAP,
	OP_ROT,
	OP_ABS = 0x19,
	OP_AND,
	OP_DIV,
	OP_MINUS,
	OP_MOD,
	OP_MUL,
	OP_NEG,
	OP_NOT,
	OP_OR,
	OP_PLUS,
	OP_PLUS_UCONST,
	OP_SHL,
	OP_SHR,
	OP_SHRA,
	OP_XOR,
	OP_BRA,
	OP_EQ,
	OP_GE,
	OP_GT,
	OP_LE,
	OP_LT,
	OP_NE,
	OP_SKIP,
	OP_LIT0 = 0x30,
	OP_LIT31 = 0x4f,
	OP_BREG0 = 0x70,
	OP_BREG31 = 0x8f,
	OP_BREGX = 0x92,
	OP_DEREF_SIZE = 0x94,
	OP_NOP = 0x96,
};

struct machine {
	const struct expr_input *input;
	struct reader code;
	uint64_t at[MAX_DEPTH];
	unsigned n;
	enum expr_status status;
};

static void expr_stop(struct machine *m, enum expr_status status)
{
	if (m->status == EXPR_OK)
		m->status = status;
}

static void expr_push(struct machine *m, uint64_t value)
{
	if (m->n == MAX_DEPTH)
		expr_stop(m, EXPR_DAMAGED);
	else
		m->at[m->n++] = value;
}

static uint64_t expr_pop(struct machine *m)
{
	if (m->n == 0) {
		expr_stop(m, EXPR_DAMAGED);
		return 0;
	}
	return m->at[--m->n];
}

/* The value `depth` below the top. */
static uint64_t expr_peek(struct machine *m, unsigned depth)
{
	if (depth >= m->n) {
		expr_stop(m, EXPR_DAMAGED);
		return 0;
	}
	return m->at[m->n - 1 - depth];
}

static void expr_push_reg(struct machine *m, uint64_t reg, int64_t offset)
{
	uint64_t value;

	if (reg >= REG_MAX || !cursor_reg(m->input->cursor, (unsigned)reg, &value))
		expr_stop(m, EXPR_UNKNOWN);
	else
		expr_push(m, value + (uint64_t)offset);
}

static void expr_load(struct machine *m, unsigned size)
{
	uint64_t addr = expr_pop(m), value = 0;

	if (size != 1 && size != 2 && size != 4 && size != 8)
		expr_stop(m, EXPR_DAMAGED);
	if (m->status != EXPR_OK)
		return;
	switch (cursor_read(m->input->cursor, addr, size, &value)) {
	case MEMORY_OK:
		expr_push(m, value);
		break;
	case MEMORY_BEYOND:
		expr_stop(m, EXPR_BEYOND);
		break;
	case MEMORY_BAD:
		expr_stop(m, EXPR_BAD_READ);
		break;
	}
}

static void expr_jump(struct machine *m, int16_t offset)
{
	int64_t to = (int64_t)reader_offset(&m->code) + offset;

	if (to < 0)
		expr_stop(m, EXPR_DAMAGED);
	else
		reader_seek(&m->code, (uint64_t)to);
}

static void expr_rotate(struct machine *m)
{
	uint64_t a = expr_pop(m), b = expr_pop(m), c = expr_pop(m);

	expr_push(m, a);
	expr_push(m, c);
	expr_push(m, b);
}

static uint64_t expr_shift_signed(uint64_t value, uint64_t by)
{
	return (uint64_t)((int64_t)value >> (by < 63 ? by : 63));
}

static void expr_divide(struct machine *m, uint64_t a, uint64_t b)
{
	if (b == 0)
		expr_stop(m, EXPR_DAMAGED);
	else if (b == UINT64_MAX) /* INT64_MIN / -1 is undefined in C */
		expr_push(m, -a);
	else
		expr_push(m, (uint64_t)((int64_t)a / (int64_t)b));
}

static void expr_modulo(struct machine *m, uint64_t a, uint64_t b)
{
	if (b == 0)
		expr_stop(m, EXPR_DAMAGED);
	else
		expr_push(m, a % b);
}

/* One operation per line: it is a table. */
/* clang-format off */

/* Operations on the two topmost values: a is the deeper one. */
static void expr_binary_op(struct machine *m, enum op op)
{
	uint64_t b = expr_pop(m), a = expr_pop(m);
	int64_t sa = (int64_t)a, sb = (int64_t)b;

	switch (op) {
	case OP_AND: expr_push(m, a & b); break;
	case OP_DIV: expr_divide(m, a, b); break;
	case OP_MINUS: expr_push(m, a - b); break;
	case OP_MOD: expr_modulo(m, a, b); break;
	case OP_MUL: expr_push(m, a * b); break;
	case OP_OR: expr_push(m, a | b); break;
	case OP_PLUS: expr_push(m, a + b); break;
	case OP_SHL: expr_push(m, b < 64 ? a << b : 0); break;
	case OP_SHR: expr_push(m, b < 64 ? a >> b : 0); break;
	case OP_SHRA: expr_push(m, expr_shift_signed(a, b)); break;
	case OP_XOR: expr_push(m, a ^ b); break;
	case OP_EQ: expr_push(m, a == b); break;
	case OP_GE: expr_push(m, sa >= sb); break;
	case OP_GT: expr_push(m, sa > sb); break;
	case OP_LE: expr_push(m, sa <= sb); break;
	case OP_LT: expr_push(m, sa < sb); break;
	case OP_NE: expr_push(m, a != b); break;
	default: expr_stop(m, EXPR_UNKNOWN);
	}
}

static bool expr_is_binary(uint8_t op)
{
	switch (op) {
	case OP_ABS:
	case OP_NEG:
	case OP_NOT:
	case OP_PLUS_UCONST:
	case OP_BRA:
		return false;
	default: return op >= OP_AND && op <= OP_NE;
	}
}

static void expr_other_op(struct machine *m, enum op op)
{
	struct reader *r = &m->code;
	uint64_t a;
	int16_t by;

	switch (op) {
	case OP_ADDR: expr_push(m, read_u64(r) + m->input->bias); break;
	case OP_DEREF: expr_load(m, 8); break;
	case OP_DEREF_SIZE: expr_load(m, read_u8(r)); break;
	case OP_CONST1U: expr_push(m, read_u8(r)); break;
	case OP_CONST1S: expr_push(m, (uint64_t)(int8_t)read_u8(r)); break;
	case OP_CONST2U: expr_push(m, read_u16(r)); break;
	case OP_CONST2S: expr_push(m, (uint64_t)(int16_t)read_u16(r)); break;
	case OP_CONST4U: expr_push(m, read_u32(r)); break;
	case OP_CONST4S: expr_push(m, (uint64_t)(int32_t)read_u32(r)); break;
	case OP_CONST8U:
	case OP_CONST8S: expr_push(m, read_u64(r)); break;
	case OP_CONSTU: expr_push(m, read_uleb(r)); break;
	case OP_CONSTS: expr_push(m, (uint64_t)read_sleb(r)); break;
	case OP_DUP: expr_push(m, expr_peek(m, 0)); break;
	case OP_DROP: expr_pop(m); break;
	case OP_OVER: expr_push(m, expr_peek(m, 1)); break;
	case OP_PICK: expr_push(m, expr_peek(m, read_u8(r))); break;
	case OP_SWAP:
		a = expr_pop(m);
		expr_push(m, expr_peek(m, 0));
		if (m->n > 1)
			m->at[m->n - 2] = a;
		break;
	case OP_ROT: expr_rotate(m); break;
	case OP_ABS:
		a = expr_pop(m);
		expr_push(m, (int64_t)a < 0 ? -a : a);
		break;
	case OP_NEG: expr_push(m, -expr_pop(m)); break;
	case OP_NOT: expr_push(m, ~expr_pop(m)); break;
	case OP_PLUS_UCONST: expr_push(m, expr_pop(m) + read_uleb(r)); break;
	case OP_BRA:
		by = (int16_t)read_u16(r);
		if (expr_pop(m))
			expr_jump(m, by);
		break;
	case OP_SKIP: expr_jump(m, (int16_t)read_u16(r)); break;
	case OP_BREGX:
		a = read_uleb(r);
		expr_push_reg(m, a, read_sleb(r));
		break;
	case OP_NOP:
		break;
	default: expr_stop(m, EXPR_UNKNOWN);
	}
}

/* clang-format on */

static void expr_step(struct machine *m)
{
	uint8_t op = read_u8(&m->code);

	if (op >= OP_LIT0 && op <= OP_LIT31)
		expr_push(m, op - OP_LIT0);
	else if (op >= OP_BREG0 && op <= OP_BREG31)
		expr_push_reg(m, op - OP_BREG0, read_sleb(&m->code));
	else if (expr_is_binary(op))
		expr_binary_op(m, op);
	else
		expr_other_op(m, op);
	if (m->code.failed)
		expr_stop(m, EXPR_DAMAGED);
}

enum expr_status expr_eval(struct bytes expr, const struct expr_input *input, uint64_t *ret)
{
	struct machine m = { .input = input, .code = reader_of(expr) };

	if (input->has_initial)
		expr_push(&m, input->initial);
	for (unsigned steps = 0; reader_left(&m.code) && m.status == EXPR_OK; steps++) {
		if (steps == MAX_STEPS)
			expr_stop(&m, EXPR_DAMAGED);
		else
			expr_step(&m);
	}
	uint64_t value = expr_pop(&m);
	if (m.status == EXPR_OK)
		*ret = value;
	return m.status;
}
