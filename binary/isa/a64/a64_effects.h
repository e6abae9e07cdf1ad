/* SPDX-License-Identifier: Apache-2.0 */
/*
 * a64_effects: shared by the three parts of the A64 effects (arithmetic, memory, control flow). Private to
 * them and to isa_aarch64.c.
 *
 * Register 31 is sp or zr, depending on the field. zr never appears in an effect: an effect that writes it is
 * dropped, and one that reads it has REG_NONE (an unknown stored value, or an absent addend).
 */
#pragma once

#include "binary/isa/a64/a64.h"

#define A64_SP 31
#define A64_LINK 30
#define BIT(reg) (UINT64_C(1) << (reg))

struct a64_fields {
	uint32_t word;
	uint64_t vaddr;
	unsigned d, n, a, m; /* register fields as encoded */
	unsigned width;      /* 4 or 8, by bit 31 */
};

static inline unsigned zr_none(unsigned reg)
{
	return reg == A64_ZR ? REG_NONE : reg;
}

/* The mask of a register; empty for REG_NONE. */
static inline uint64_t reg_bit(unsigned reg)
{
	return reg == REG_NONE ? 0 : BIT(reg);
}

static inline void add_effect(struct insn *insn, struct effect effect)
{
	insn->reads |= reg_bit(effect.base) | reg_bit(effect.index);
	insn->effect[insn->n_effects++] = effect;
}

/* reg = base + imm; base may be REG_NONE. Adds no effect if reg is zr. */
static inline void add_set(struct insn *insn, unsigned reg, unsigned base, int64_t imm, unsigned width)
{
	insn->reads |= reg_bit(base);
	if (reg == REG_NONE)
		return;
	add_effect(insn, (struct effect){ .kind = EFFECT_SET,
					  .reg = (uint8_t)reg,
					  .base = (uint8_t)base,
					  .index = REG_NONE,
					  .index_width = 8,
					  .width = (uint8_t)width,
					  .imm = imm });
}

/* Each adds the effects, reads and clobbers of its own kinds and ignores others. */
void a64_add_arithmetic(const struct a64_fields *f, enum a64_kind kind, struct insn *insn);
void a64_add_memory(const struct a64_fields *f, enum a64_kind kind, struct insn *insn);
void a64_add_flow(const struct a64_fields *f, enum a64_kind kind, struct insn *insn);
