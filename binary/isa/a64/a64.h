/* SPDX-License-Identifier: Apache-2.0 */
/*
 * a64: the A64 instruction set as tables, private to isa_aarch64.c and the a64_*.c files.
 *
 * A row defines which words it matches, which kind of instruction they are (for isa_aarch64.c), which general
 * registers they use, and how they are printed (by a64_format.c). Effects and text therefore come from the
 * same row and cannot contradict each other. The first row that matches wins, so an alias precedes the
 * instruction that it is a form of.
 */
#pragma once

#include "binary/isa/isa.h"

enum a64_kind {
	A64_PLAIN, /* completely described by the row's uses; no memory, no control flow */
	A64_ADD_IMMEDIATE,
	A64_ADD_SHIFTED,
	A64_ADD_EXTENDED,
	A64_LOGIC_IMMEDIATE,
	A64_LOGIC_SHIFTED,
	A64_MOVE_WIDE,
	A64_BITFIELD,
	A64_EXTRACT,
	A64_ADR,
	A64_ADRP,
	A64_LOAD_LITERAL,
	A64_MEMORY,          /* one register at [n + scaled immediate] */
	A64_MEMORY_UNSCALED, /* at [n + signed immediate] */
	A64_MEMORY_POST,
	A64_MEMORY_PRE,
	A64_MEMORY_REGISTER, /* at [n + extended m] */
	A64_MEMORY_BASE, /* at [n], ordered or exclusive; width is in the size field, the load bit is 22 */
	A64_PAIR_BASE,   /* the same for two registers of half the bits each */
	A64_PAIR,        /* bits 24:23 say offset, pre- or post-index */
	A64_ATOMIC,      /* memory at [n] is read and written */
	A64_LOAD_AUTHENTICATED,
	A64_TAG,           /* tag stores with writeback */
	A64_VECTOR_MEMORY, /* ld1..st4 */
	A64_VECTOR_MEMORY_POST,
	A64_MEMORY_COPY, /* cpy and set */
	A64_PREFETCH_REGISTER,
	A64_MULTI_64B, /* ld64b and the like: eight registers */
	A64_JUMP,
	A64_CALL,
	A64_BRANCH_CONDITION,
	A64_BRANCH_COMPARE,
	A64_BRANCH_BIT,
	A64_JUMP_REGISTER,
	A64_CALL_REGISTER,
	A64_RETURN,
	A64_RETURN_LINK, /* retaa, retab: always through x30 */
	A64_SYSCALL,
	A64_STOP,
	A64_HINT,
};

/* General registers a row uses, by field: d = bits 4:0, n = 9:5, a = 14:10, m = 20:16. */
enum a64_use {
	A64_WD = 1,
	A64_RD = 2,
	A64_RN = 4,
	A64_RM = 8,
	A64_RA = 16,
	A64_WM = 32,
	A64_WA = 64,
	A64_NSP = 128,   /* 31 in field n is sp, not zr */
	A64_DSP = 256,   /* the same for field d */
	A64_FLAGS = 512, /* writes the condition flags */
};

struct a64_row {
	uint32_t mask, bits;
	uint8_t kind;
	uint16_t uses;
	const char *text; /* a template, see a64_format.c; NULL: its effects are known, but it cannot be
			     printed */
};

struct a64_table {
	const struct a64_row *rows;
	size_t n;
};

/* The tables, one for each class of the encoding's bits 28:25. */
extern const struct a64_table a64_reserved, a64_sve, a64_immediate, a64_branch, a64_memory, a64_register,
	a64_vector;

#define A64_ZR 31 /* in a field that cannot mean sp */

static inline uint32_t a64_word(const uint8_t *at)
{
	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static inline unsigned a64_bits(uint32_t word, unsigned high, unsigned low)
{
	return word >> low & ((2u << (high - low)) - 1);
}

static inline int64_t a64_signed_bits(uint32_t word, unsigned high, unsigned low)
{
	return (int64_t)((uint64_t)word << (63 - high)) >> (63 - high + low);
}

/* NULL if the word is not an instruction. */
const struct a64_row *a64_find(uint32_t word);
/* The same for callers that do not print it: all vector instructions without a general register share one
 * row. */
const struct a64_row *a64_find_effects(uint32_t word);
/* See isa.h. */
size_t a64_idle_len(struct bytes code, uint64_t registers, struct isa_room room);
bool a64_glance(struct bytes code, struct isa_use *ret);
bool a64_quick(struct bytes code, uint64_t vaddr, struct isa_quick *ret);
/* The value of a logical immediate (bits 22:10); false if it is reserved. */
bool a64_bitmask(uint32_t word, uint64_t *ret);
/* Bytes moved by a single load or store of the register forms. */
unsigned a64_memory_width(uint32_t word);
/* Registers moved by a vector load or store of several structures; 0 if reserved. */
unsigned a64_vector_count(uint32_t word);

/* One line of disassembly of the word at vaddr; returns its length. */
size_t a64_format(uint32_t word, uint64_t vaddr, char *text, size_t size);
