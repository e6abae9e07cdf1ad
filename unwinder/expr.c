/* SPDX-License-Identifier: Apache-2.0 */
#include "unwinder/expr.h"

#define MAX_DEPTH 64
#define MAX_STEPS \
	4096 /* expressions may branch backwards; those of compilers have at most some twenty steps */

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

static void stop(struct machine *m, enum expr_status status)
{
	if (m->status == EXPR_OK)
		m->status = status;
}

static void push(struct machine *m, uint64_t value)
{
	if (m->n == MAX_DEPTH)
		stop(m, EXPR_DAMAGED);
	else
		m->at[m->n++] = value;
}

static uint64_t pop(struct machine *m)
{
	if (m->n == 0) {
		stop(m, EXPR_DAMAGED);
		return 0;
	}
	return m->at[--m->n];
}

/* The value `depth` below the top. */
static uint64_t peek(struct machine *m, unsigned depth)
{
	if (depth >= m->n) {
		stop(m, EXPR_DAMAGED);
		return 0;
	}
	return m->at[m->n - 1 - depth];
}

static void push_reg(struct machine *m, uint64_t reg, int64_t offset)
{
	uint64_t value;

	if (reg >= REG_MAX || !cursor_reg(m->input->cursor, (unsigned)reg, &value))
		stop(m, EXPR_UNKNOWN);
	else
		push(m, value + (uint64_t)offset);
}

static void load(struct machine *m, unsigned size)
{
	uint64_t addr = pop(m), value = 0;

	if (size != 1 && size != 2 && size != 4 && size != 8)
		stop(m, EXPR_DAMAGED);
	if (m->status != EXPR_OK)
		return;
	switch (cursor_read(m->input->cursor, addr, size, &value)) {
	case MEMORY_OK:
		push(m, value);
		break;
	case MEMORY_BEYOND:
		stop(m, EXPR_BEYOND);
		break;
	case MEMORY_BAD:
		stop(m, EXPR_BAD_READ);
		break;
	}
}

static void jump(struct machine *m, int16_t offset)
{
	int64_t to = (int64_t)reader_offset(&m->code) + offset;

	if (to < 0)
		stop(m, EXPR_DAMAGED);
	else
		reader_seek(&m->code, (uint64_t)to);
}

static void rotate(struct machine *m)
{
	uint64_t a = pop(m), b = pop(m), c = pop(m);

	push(m, a);
	push(m, c);
	push(m, b);
}

static uint64_t shift_right_signed(uint64_t value, uint64_t by)
{
	return (uint64_t)((int64_t)value >> (by < 63 ? by : 63));
}

static void divide(struct machine *m, uint64_t a, uint64_t b)
{
	if (b == 0)
		stop(m, EXPR_DAMAGED);
	else if (b == UINT64_MAX) /* INT64_MIN / -1 has no C meaning */
		push(m, -a);
	else
		push(m, (uint64_t)((int64_t)a / (int64_t)b));
}

static void modulo(struct machine *m, uint64_t a, uint64_t b)
{
	if (b == 0)
		stop(m, EXPR_DAMAGED);
	else
		push(m, a % b);
}

/* One operation a line: it is a table. */
/* clang-format off */

/* Operations on the two topmost values: a is the deeper one. */
static void binary_op(struct machine *m, enum op op)
{
	uint64_t b = pop(m), a = pop(m);
	int64_t sa = (int64_t)a, sb = (int64_t)b;

	switch (op) {
	case OP_AND: push(m, a & b); break;
	case OP_DIV: divide(m, a, b); break;
	case OP_MINUS: push(m, a - b); break;
	case OP_MOD: modulo(m, a, b); break;
	case OP_MUL: push(m, a * b); break;
	case OP_OR: push(m, a | b); break;
	case OP_PLUS: push(m, a + b); break;
	case OP_SHL: push(m, b < 64 ? a << b : 0); break;
	case OP_SHR: push(m, b < 64 ? a >> b : 0); break;
	case OP_SHRA: push(m, shift_right_signed(a, b)); break;
	case OP_XOR: push(m, a ^ b); break;
	case OP_EQ: push(m, a == b); break;
	case OP_GE: push(m, sa >= sb); break;
	case OP_GT: push(m, sa > sb); break;
	case OP_LE: push(m, sa <= sb); break;
	case OP_LT: push(m, sa < sb); break;
	case OP_NE: push(m, a != b); break;
	default: stop(m, EXPR_UNKNOWN);
	}
}

static bool is_binary(uint8_t op)
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

static void other_op(struct machine *m, enum op op)
{
	struct reader *r = &m->code;
	uint64_t a;
	int16_t by;

	switch (op) {
	case OP_ADDR: push(m, read_u64(r) + m->input->bias); break;
	case OP_DEREF: load(m, 8); break;
	case OP_DEREF_SIZE: load(m, read_u8(r)); break;
	case OP_CONST1U: push(m, read_u8(r)); break;
	case OP_CONST1S: push(m, (uint64_t)(int8_t)read_u8(r)); break;
	case OP_CONST2U: push(m, read_u16(r)); break;
	case OP_CONST2S: push(m, (uint64_t)(int16_t)read_u16(r)); break;
	case OP_CONST4U: push(m, read_u32(r)); break;
	case OP_CONST4S: push(m, (uint64_t)(int32_t)read_u32(r)); break;
	case OP_CONST8U:
	case OP_CONST8S: push(m, read_u64(r)); break;
	case OP_CONSTU: push(m, read_uleb(r)); break;
	case OP_CONSTS: push(m, (uint64_t)read_sleb(r)); break;
	case OP_DUP: push(m, peek(m, 0)); break;
	case OP_DROP: pop(m); break;
	case OP_OVER: push(m, peek(m, 1)); break;
	case OP_PICK: push(m, peek(m, read_u8(r))); break;
	case OP_SWAP:
		a = pop(m);
		push(m, peek(m, 0));
		if (m->n > 1)
			m->at[m->n - 2] = a;
		break;
	case OP_ROT: rotate(m); break;
	case OP_ABS:
		a = pop(m);
		push(m, (int64_t)a < 0 ? -a : a);
		break;
	case OP_NEG: push(m, -pop(m)); break;
	case OP_NOT: push(m, ~pop(m)); break;
	case OP_PLUS_UCONST: push(m, pop(m) + read_uleb(r)); break;
	case OP_BRA:
		by = (int16_t)read_u16(r);
		if (pop(m))
			jump(m, by);
		break;
	case OP_SKIP: jump(m, (int16_t)read_u16(r)); break;
	case OP_BREGX:
		a = read_uleb(r);
		push_reg(m, a, read_sleb(r));
		break;
	case OP_NOP:
		break;
	default: stop(m, EXPR_UNKNOWN);
	}
}

/* clang-format on */

static void step(struct machine *m)
{
	uint8_t op = read_u8(&m->code);

	if (op >= OP_LIT0 && op <= OP_LIT31)
		push(m, op - OP_LIT0);
	else if (op >= OP_BREG0 && op <= OP_BREG31)
		push_reg(m, op - OP_BREG0, read_sleb(&m->code));
	else if (is_binary(op))
		binary_op(m, op);
	else
		other_op(m, op);
	if (m->code.failed)
		stop(m, EXPR_DAMAGED);
}

enum expr_status expr_eval(struct bytes expr, const struct expr_input *input, uint64_t *ret)
{
	struct machine m = { .input = input, .code = reader_of(expr) };

	if (input->has_initial)
		push(&m, input->initial);
	for (unsigned steps = 0; reader_left(&m.code) && m.status == EXPR_OK; steps++) {
		if (steps == MAX_STEPS)
			stop(&m, EXPR_DAMAGED);
		else
			step(&m);
	}
	uint64_t value = pop(&m);
	if (m.status == EXPR_OK)
		*ret = value;
	return m.status;
}
