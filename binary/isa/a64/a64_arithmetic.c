/* SPDX-License-Identifier: Apache-2.0 */
/*
 * a64_arithmetic: effects of arithmetic: sums and moves from which an address or a table index is made, and
 * compares, become effects; everything else clobbers its destination.
 */
#include "binary/isa/a64/a64_effects.h"

static int64_t a64_masked(int64_t imm, unsigned width)
{
	return width == 4 ? (int64_t)(uint32_t)imm : imm;
}

static void a64_add_compare(struct insn *insn, unsigned base, unsigned reg, int64_t imm, unsigned width)
{
	insn->reads |= reg_bit(reg);
	insn->writes_flags = true;
	add_effect(insn, (struct effect){ .kind = EFFECT_COMPARE,
					  .reg = (uint8_t)reg,
					  .base = (uint8_t)base,
					  .index = REG_NONE,
					  .index_width = 8,
					  .width = (uint8_t)width,
					  .imm = a64_masked(imm, width) });
}

static void a64_add_immediate(const struct a64_fields *f, struct insn *insn)
{
	bool is_sub = a64_bits(f->word, 30, 30), sets_flags = a64_bits(f->word, 29, 29);
	int64_t imm = (int64_t)a64_bits(f->word, 21, 10) << (a64_bits(f->word, 22, 22) ? 12 : 0);
	unsigned reg = sets_flags ? zr_none(f->d) : f->d;

	/* cmn with n compares with -n, except for n = 0, where the carry differs. */
	insn->writes_flags = sets_flags;
	if (sets_flags && (is_sub || imm))
		a64_add_compare(insn, f->n, REG_NONE, is_sub ? imm : -imm, f->width);
	add_set(insn, reg, f->n, is_sub ? -imm : imm, f->width);
}

/* reg = base + extended and shifted index. */
static void a64_add_sum(struct insn *insn, struct effect sum)
{
	if (sum.base == REG_NONE && sum.shift == 0 && sum.index_width == 8 && !sum.is_subtracted) {
		sum.base = sum.index;
		sum.index = REG_NONE;
	}
	if (sum.index == REG_NONE)
		sum.shift = sum.is_signed = sum.is_subtracted = 0, sum.index_width = 8;
	add_effect(insn, sum);
}

static void a64_add_shifted(const struct a64_fields *f, struct insn *insn)
{
	bool is_sub = a64_bits(f->word, 30, 30), sets_flags = a64_bits(f->word, 29, 29);
	unsigned amount = a64_bits(f->word, 15, 10), reg = zr_none(f->d), base = zr_none(f->n),
		 index = zr_none(f->m);
	bool is_left = a64_bits(f->word, 23, 22) == 0 || amount == 0;

	insn->reads |= reg_bit(base) | reg_bit(index);
	insn->writes_flags = sets_flags;
	if (sets_flags && is_sub && base != REG_NONE && amount == 0)
		a64_add_compare(insn, base, index, 0, f->width);
	if (reg == REG_NONE)
		return;
	if (!is_left) {
		insn->clobbers |= BIT(reg);
		return;
	}
	a64_add_sum(insn, (struct effect){ .kind = EFFECT_SET,
					   .reg = (uint8_t)reg,
					   .base = (uint8_t)base,
					   .index = (uint8_t)index,
					   .shift = (uint8_t)amount,
					   .is_subtracted = is_sub,
					   .index_width = 8,
					   .width = (uint8_t)f->width });
}

static void a64_add_extended(const struct a64_fields *f, struct insn *insn)
{
	bool is_sub = a64_bits(f->word, 30, 30), sets_flags = a64_bits(f->word, 29, 29);
	unsigned option = a64_bits(f->word, 15, 13), amount = a64_bits(f->word, 12, 10);
	unsigned reg = sets_flags ? zr_none(f->d) : f->d, index = zr_none(f->m);
	unsigned index_width = 1u << (option & 3);

	insn->reads |= BIT(f->n) | reg_bit(index);
	insn->writes_flags = sets_flags;
	if (sets_flags && is_sub && amount == 0 && index_width >= f->width)
		a64_add_compare(insn, f->n, index, 0, f->width);
	if (reg == REG_NONE)
		return;
	a64_add_sum(insn, (struct effect){ .kind = EFFECT_SET,
					   .reg = (uint8_t)reg,
					   .base = (uint8_t)f->n,
					   .index = (uint8_t)index,
					   .shift = (uint8_t)amount,
					   .is_subtracted = is_sub,
					   .is_signed = option >= 4 && index_width < 8,
					   .index_width = (uint8_t)index_width,
					   .width = (uint8_t)f->width });
}

static void a64_add_and(struct insn *insn, unsigned reg, unsigned base, uint64_t imm, unsigned width)
{
	add_effect(insn, (struct effect){ .kind = EFFECT_AND,
					  .reg = (uint8_t)reg,
					  .base = (uint8_t)base,
					  .index = REG_NONE,
					  .index_width = 8,
					  .width = (uint8_t)width,
					  .imm = (int64_t)imm });
}

static void a64_logic_immediate(const struct a64_fields *f, struct insn *insn)
{
	enum { AND, OR, XOR, AND_FLAGS } op = a64_bits(f->word, 30, 29);
	unsigned reg = op == AND_FLAGS ? zr_none(f->d) : f->d, base = zr_none(f->n);
	uint64_t imm = 0;

	a64_bitmask(f->word, &imm);
	insn->reads |= reg_bit(base);
	if (reg == REG_NONE)
		;
	else if (base == REG_NONE) /* mov, or 0 & imm */
		add_set(insn, reg, REG_NONE, op == OR || op == XOR ? (int64_t)imm : 0, f->width);
	else if (op == AND || op == AND_FLAGS)
		a64_add_and(insn, reg, base, imm, f->width);
	else
		insn->clobbers |= BIT(reg);
	insn->writes_flags = op == AND_FLAGS;
}

static void a64_logic_shifted(const struct a64_fields *f, struct insn *insn)
{
	enum { AND, OR, XOR, AND_FLAGS } op = a64_bits(f->word, 30, 29);
	bool is_negated = a64_bits(f->word, 21, 21), is_left = a64_bits(f->word, 23, 22) == 0;
	unsigned amount = a64_bits(f->word, 15, 10), reg = zr_none(f->d), base = zr_none(f->n),
		 index = zr_none(f->m);

	insn->reads |= reg_bit(base) | reg_bit(index);
	insn->writes_flags = op == AND_FLAGS;
	if (op == AND_FLAGS && !is_negated && base == index && base != REG_NONE && amount == 0)
		a64_add_compare(insn, base, REG_NONE, 0, f->width); /* tst x, x tests whether x is 0 */
	if (reg == REG_NONE)
		return;
	if ((op == OR || op == XOR) && !is_negated && base == REG_NONE && (is_left || amount == 0))
		a64_add_sum(insn, (struct effect){ .kind = EFFECT_SET,
						   .reg = (uint8_t)reg,
						   .base = REG_NONE,
						   .index = (uint8_t)index,
						   .shift = (uint8_t)amount,
						   .index_width = 8,
						   .width = (uint8_t)f->width });
	else
		insn->clobbers |= BIT(reg);
}

static void a64_move_wide(const struct a64_fields *f, struct insn *insn)
{
	enum { NEGATED, RESERVED, ZERO, KEEP } op = a64_bits(f->word, 30, 29);
	uint64_t imm = (uint64_t)a64_bits(f->word, 20, 5) << 16 * a64_bits(f->word, 22, 21);
	unsigned reg = zr_none(f->d);

	if (reg == REG_NONE)
		return;
	if (op == KEEP) {
		insn->reads |= BIT(reg);
		insn->clobbers |= BIT(reg);
		return;
	}
	add_set(insn, reg, REG_NONE, a64_masked((int64_t)(op == NEGATED ? ~imm : imm), f->width), f->width);
}

static void a64_bitfield(const struct a64_fields *f, struct insn *insn)
{
	enum { SIGNED, INSERT, UNSIGNED } op = a64_bits(f->word, 30, 29);
	unsigned rotate = a64_bits(f->word, 21, 16), top = a64_bits(f->word, 15, 10), bits = f->width * 8;
	unsigned reg = zr_none(f->d), from = zr_none(f->n);
	struct effect set = { .kind = EFFECT_SET,
			      .reg = (uint8_t)reg,
			      .base = REG_NONE,
			      .index = (uint8_t)from,
			      .index_width = 8,
			      .width = (uint8_t)f->width };

	insn->reads |= reg_bit(from);
	insn->reads |= op == INSERT ? reg_bit(reg) : 0;
	if (reg == REG_NONE)
		return;
	if (op == UNSIGNED && from != REG_NONE && top != bits - 1 && rotate == top + 1) { /* lsl */
		set.shift = (uint8_t)(bits - rotate);
		a64_add_sum(insn, set);
	} else if (op == UNSIGNED && from != REG_NONE && rotate == 0) { /* uxtb, uxth and the like */
		a64_add_and(insn, reg, from, top == 63 ? UINT64_MAX : (UINT64_C(2) << top) - 1, f->width);
	} else if (op == SIGNED && from != REG_NONE && rotate == 0 && (top == 7 || top == 15 || top == 31)) {
		set.index_width = (uint8_t)((top + 1) / 8);
		set.is_signed = 1;
		a64_add_sum(insn, set);
	} else {
		insn->clobbers |= BIT(reg);
	}
}

static void a64_adr(const struct a64_fields *f, enum a64_kind kind, struct insn *insn)
{
	int64_t imm = a64_signed_bits(f->word, 23, 5) * 4 + a64_bits(f->word, 30, 29);
	uint64_t at = kind == A64_ADRP ? (f->vaddr & ~UINT64_C(0xfff)) + ((uint64_t)imm << 12)
				       : f->vaddr + (uint64_t)imm;

	add_set(insn, zr_none(f->d), REG_NONE, (int64_t)at, 8);
	insn->is_address = true;
}

void a64_add_arithmetic(const struct a64_fields *f, enum a64_kind kind, struct insn *insn)
{
	switch (kind) {
	case A64_ADD_IMMEDIATE:
		a64_add_immediate(f, insn);
		break;
	case A64_ADD_SHIFTED:
		a64_add_shifted(f, insn);
		break;
	case A64_ADD_EXTENDED:
		a64_add_extended(f, insn);
		break;
	case A64_LOGIC_IMMEDIATE:
		a64_logic_immediate(f, insn);
		break;
	case A64_LOGIC_SHIFTED:
		a64_logic_shifted(f, insn);
		break;
	case A64_MOVE_WIDE:
		a64_move_wide(f, insn);
		break;
	case A64_BITFIELD:
		a64_bitfield(f, insn);
		break;
	case A64_EXTRACT:
		insn->reads |= reg_bit(zr_none(f->n)) | reg_bit(zr_none(f->m));
		insn->clobbers |= reg_bit(zr_none(f->d));
		break;
	case A64_ADR:
	case A64_ADRP:
		a64_adr(f, kind, insn);
		break;
	default:
		break;
	}
}
