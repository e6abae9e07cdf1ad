/* SPDX-License-Identifier: Apache-2.0 */
/*
 * a64_transfer: effects of loads and stores. Writeback is a SET in its place: before the transfer for
 * pre-index, after it for post-index.
 */
#include "binary/isa/a64/a64_effects.h"

struct place {
	unsigned base, index, shift, index_width;
	int64_t imm;
};

/* One register, or REG_NONE, to or from memory. */
static void a64_transfer_add(struct insn *insn, enum effect_kind kind, unsigned reg, struct place at,
			     unsigned width, bool is_signed)
{
	struct effect effect = { .kind = (uint8_t)kind,
				 .reg = (uint8_t)reg,
				 .base = (uint8_t)at.base,
				 .index = (uint8_t)at.index,
				 .shift = (uint8_t)at.shift,
				 .index_width = (uint8_t)at.index_width,
				 .width = (uint8_t)width,
				 .is_signed = is_signed,
				 .imm = at.imm };

	if (kind == EFFECT_STORE)
		insn->reads |= reg_bit(reg);
	insn->reads |= reg_bit(at.base) | reg_bit(at.index);
	if (kind == EFFECT_STORE || reg != REG_NONE)
		add_effect(insn, effect);
}

static struct place a64_transfer_at(unsigned base, int64_t imm)
{
	return (struct place){ .base = base, .index = REG_NONE, .index_width = 8, .imm = imm };
}

/* The register forms of ldr and str: direction, sign and register by size, opc and the vector bit. */
static void a64_transfer_one(const struct a64_fields *f, struct place at, struct insn *insn)
{
	unsigned opc = a64_bits(f->word, 23, 22), width = a64_memory_width(f->word);
	bool is_vector = a64_bits(f->word, 26, 26);

	if (is_vector)
		a64_transfer_add(insn, opc & 1 ? EFFECT_LOAD : EFFECT_STORE, REG_NONE, at, width, false);
	else
		a64_transfer_add(insn, opc ? EFFECT_LOAD : EFFECT_STORE, zr_none(f->d), at, width, opc >= 2);
}

static struct place a64_transfer_by_register(const struct a64_fields *f)
{
	unsigned option = a64_bits(f->word, 15, 13),
		 size = (unsigned)__builtin_ctz(a64_memory_width(f->word));
	struct place at = a64_transfer_at(f->n, 0);

	at.index = zr_none(f->m);
	at.shift = a64_bits(f->word, 12, 12) ? size : 0;
	at.index_width = option & 1 ? 8 : 4;
	return at;
}

static void a64_transfer_memory(const struct a64_fields *f, enum a64_kind kind, struct insn *insn)
{
	int64_t simm9 = a64_signed_bits(f->word, 20, 12);

	switch (kind) {
	case A64_MEMORY:
		a64_transfer_one(
			f,
			a64_transfer_at(f->n, (int64_t)a64_bits(f->word, 21, 10) * a64_memory_width(f->word)),
			insn);
		break;
	case A64_MEMORY_POST:
		a64_transfer_one(f, a64_transfer_at(f->n, 0), insn);
		add_set(insn, f->n, f->n, simm9, 8);
		break;
	case A64_MEMORY_PRE:
		add_set(insn, f->n, f->n, simm9, 8);
		a64_transfer_one(f, a64_transfer_at(f->n, 0), insn);
		break;
	case A64_MEMORY_REGISTER:
		a64_transfer_one(f, a64_transfer_by_register(f), insn);
		break;
	default:
		a64_transfer_one(f, a64_transfer_at(f->n, simm9), insn);
		break;
	}
}

static void a64_transfer_base(const struct a64_fields *f, struct insn *insn)
{
	/* ldapr has its own encoding, in which bit 22 is 0. */
	bool is_load = a64_bits(f->word, 22, 22) || a64_bits(f->word, 29, 29);
	unsigned width = 1u << a64_bits(f->word, 31, 30);

	a64_transfer_add(insn, is_load ? EFFECT_LOAD : EFFECT_STORE, zr_none(f->d), a64_transfer_at(f->n, 0),
			 width, false);
}

/* Two adjacent registers. A load must not change its base before the second one is read. */
static void a64_transfer_add_pair(const struct a64_fields *f, bool is_load, int64_t imm, unsigned width,
				  bool is_signed, struct insn *insn)
{
	enum effect_kind kind = is_load ? EFFECT_LOAD : EFFECT_STORE;
	unsigned first = zr_none(f->d), second = zr_none(f->a);

	if (is_load && first == f->n) {
		a64_transfer_add(insn, kind, second, a64_transfer_at(f->n, imm + width), width, is_signed);
		a64_transfer_add(insn, kind, first, a64_transfer_at(f->n, imm), width, is_signed);
		return;
	}
	a64_transfer_add(insn, kind, first, a64_transfer_at(f->n, imm), width, is_signed);
	a64_transfer_add(insn, kind, second, a64_transfer_at(f->n, imm + width), width, is_signed);
}

static void a64_transfer_pair(const struct a64_fields *f, struct insn *insn)
{
	enum { NO_ALLOCATE, POST, OFFSET, PRE } mode = a64_bits(f->word, 24, 23);
	unsigned opc = a64_bits(f->word, 31, 30), is_vector = a64_bits(f->word, 26, 26);
	bool is_load = a64_bits(f->word, 22, 22), is_tagged = opc == 1 && !is_vector && !is_load;
	unsigned width = is_vector ? 4u << opc : opc == 2 || is_tagged ? 8 : 4;
	int64_t offset = a64_signed_bits(f->word, 21, 15) * (is_tagged ? 16 : width);
	int64_t imm = mode == OFFSET || mode == NO_ALLOCATE ? offset : 0;

	if (mode == PRE)
		add_set(insn, f->n, f->n, offset, 8);
	if (is_vector)
		a64_transfer_add(insn, is_load ? EFFECT_LOAD : EFFECT_STORE, REG_NONE,
				 a64_transfer_at(f->n, imm), 2 * width, false);
	else
		a64_transfer_add_pair(f, is_load, imm, width, opc == 1, insn);
	if (mode == POST)
		add_set(insn, f->n, f->n, offset, 8);
}

static void a64_transfer_literal(const struct a64_fields *f, struct insn *insn)
{
	unsigned opc = a64_bits(f->word, 31, 30);
	int64_t imm = (int64_t)f->vaddr + a64_signed_bits(f->word, 23, 5) * 4;

	a64_transfer_add(insn, EFFECT_LOAD, zr_none(f->d), a64_transfer_at(REG_NONE, imm), opc == 1 ? 8 : 4,
			 opc == 2);
}

static void a64_transfer_authenticated(const struct a64_fields *f, struct insn *insn)
{
	int64_t imm = (a64_signed_bits(f->word, 22, 22) * 512 + a64_bits(f->word, 20, 12)) * 8;
	bool is_pre = a64_bits(f->word, 11, 11);

	if (is_pre)
		add_set(insn, f->n, f->n, imm, 8);
	a64_transfer_add(insn, EFFECT_LOAD, zr_none(f->d), a64_transfer_at(f->n, is_pre ? 0 : imm), 8, false);
}

static void a64_transfer_tag(const struct a64_fields *f, struct insn *insn)
{
	unsigned mode = a64_bits(f->word, 11, 10), opc = a64_bits(f->word, 23, 22);
	int64_t imm = a64_signed_bits(f->word, 20, 12) * 16;

	if (mode == 3)
		add_set(insn, f->n, f->n, imm, 8);
	if (opc & 1) /* the forms that zero the data as well */
		a64_transfer_add(insn, EFFECT_STORE, REG_NONE, a64_transfer_at(f->n, mode == 2 ? imm : 0),
				 opc == 1 ? 16 : 32, false);
	insn->reads |= BIT(f->n);
	if (mode == 1)
		add_set(insn, f->n, f->n, imm, 8);
}

/* Bytes one ld1..st4 moves: whole registers, or one lane of each. */
static unsigned a64_transfer_vector_bytes(uint32_t word)
{
	unsigned full = a64_bits(word, 30, 30) ? 16 : 8;

	if (!a64_bits(word, 24, 24))
		return a64_vector_count(word) * full;

	unsigned count = 1 + a64_bits(word, 21, 21) + 2 * a64_bits(word, 13, 13);
	unsigned scale = a64_bits(word, 15, 14), size = a64_bits(word, 11, 10);
	if (scale == 3) /* one lane to all */
		return count << size;
	if (scale == 2 && (size & 1))
		scale = 3;
	return count << scale;
}

static void a64_transfer_vector(const struct a64_fields *f, bool is_post, struct insn *insn)
{
	bool is_load = a64_bits(f->word, 22, 22);
	unsigned bytes = a64_transfer_vector_bytes(f->word);

	a64_transfer_add(insn, is_load ? EFFECT_LOAD : EFFECT_STORE, REG_NONE, a64_transfer_at(f->n, 0),
			 bytes, false);
	if (!is_post)
		return;
	if (f->m == 31) {
		add_set(insn, f->n, f->n, bytes, 8);
		return;
	}
	add_effect(insn, (struct effect){ .kind = EFFECT_SET,
					  .reg = (uint8_t)f->n,
					  .base = (uint8_t)f->n,
					  .index = (uint8_t)f->m,
					  .index_width = 8,
					  .width = 8 });
}

static void a64_transfer_atomic(const struct a64_fields *f, struct insn *insn)
{
	bool is_pair =
		!a64_bits(f->word, 29, 29) && !a64_bits(f->word, 23, 23); /* casp: registers s and s+1 */
	unsigned width = is_pair ? 8u << a64_bits(f->word, 30, 30) : 1u << a64_bits(f->word, 31, 30);

	a64_transfer_add(insn, EFFECT_STORE, REG_NONE, a64_transfer_at(f->n, 0), width, false);
	if (!is_pair)
		return;
	insn->clobbers |= f->m < 30 ? BIT(f->m + 1) : 0;
	insn->reads |= (f->m < 30 ? BIT(f->m + 1) : 0) | (f->d < 30 ? BIT(f->d + 1) : 0);
}

static void a64_transfer_64_bytes(const struct a64_fields *f, struct insn *insn)
{
	uint64_t eight = UINT64_C(0xff) << f->d & ~BIT(A64_SP) & (BIT(REG_MAX - 1) - 1);
	bool is_load = a64_bits(f->word, 15, 12) == 13;

	if (is_load)
		insn->clobbers |= eight;
	else
		a64_transfer_add(insn, EFFECT_STORE, REG_NONE, a64_transfer_at(f->n, 0), 64, false);
	insn->reads |= is_load ? 0 : eight;
}

void a64_add_memory(const struct a64_fields *f, enum a64_kind kind, struct insn *insn)
{
	switch (kind) {
	case A64_MEMORY:
	case A64_MEMORY_UNSCALED:
	case A64_MEMORY_POST:
	case A64_MEMORY_PRE:
	case A64_MEMORY_REGISTER:
		a64_transfer_memory(f, kind, insn);
		break;
	case A64_LOAD_LITERAL:
		a64_transfer_literal(f, insn);
		break;
	case A64_MEMORY_BASE:
		a64_transfer_base(f, insn);
		break;
	case A64_PAIR_BASE:
		a64_transfer_add_pair(f, a64_bits(f->word, 22, 22), 0, a64_bits(f->word, 30, 30) ? 8 : 4,
				      false, insn);
		break;
	case A64_PAIR:
		a64_transfer_pair(f, insn);
		break;
	case A64_ATOMIC:
		a64_transfer_atomic(f, insn);
		break;
	case A64_LOAD_AUTHENTICATED:
		a64_transfer_authenticated(f, insn);
		break;
	case A64_TAG:
		a64_transfer_tag(f, insn);
		break;
	case A64_VECTOR_MEMORY:
	case A64_VECTOR_MEMORY_POST:
		a64_transfer_vector(f, kind == A64_VECTOR_MEMORY_POST, insn);
		break;
	case A64_MEMORY_COPY: /* destination, source and count are all updated */
		insn->clobbers |= reg_bit(zr_none(f->n));
		break;
	case A64_MULTI_64B:
		a64_transfer_64_bytes(f, insn);
		break;
	default:
		break;
	}
}
