/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packed: a recipe in 16 bytes, the same in memory and in the store.
 *
 * In nearly every recipe the CFA is a register plus an offset, and the saved values are in a few adjacent
 * words on the stack: this is stored directly, so that an unwind step needs no other data. For other recipes,
 * the packed rule is an index into an array of full recipes. Equal recipes have equal bytes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "recipes/rule.h"

enum packed_kind {
	PACKED_SLOTS = 1, /* every restored register has a slot */
	PACKED_WHOLE,
	PACKED_LEAF, /* like PACKED_SLOTS, but the last register is explicitly unchanged and has no slot */
};

#define PACKED_MAX_SLOTS 12 /* AArch64: x19 to x30; x86-64: six registers and the return address */
#define PACKED_MAX_WORDS 16 /* from the lowest slot to the highest */
#define PACKED_WORD 8       /* bytes; offsets that are not a multiple of it are not packed */

struct packed_rule {
	uint8_t head;      /* enum packed_kind: 2 bits; witness: 3; trust: 2; whether the ra is signed: 1 */
	uint8_t n_words;   /* from the lowest slot to the highest; 0 = no slots */
	uint8_t cfa_reg;   /* CFA = cfa_reg + cfa words */
	uint8_t first_reg; /* the lowest register that has a rule */
	union {
		struct {
			int16_t cfa, low; /* words; low: of the lowest slot, from the CFA */
		};
		uint32_t whole; /* PACKED_WHOLE: number of the full recipe */
	};
	uint16_t ruled;   /* mask of registers, from first_reg on: those with a rule */
	uint8_t slots[6]; /* 4 bits each, from the highest register with a slot down: words above the lowest
			     slot */
};
_Static_assert(sizeof(struct packed_rule) == 16, "it is stored");

/* The packed form; whole: the number of the full recipe, used if it cannot be packed. */
struct packed_rule packed_rule_of(const struct recipe *recipe, const struct rule *rules, uint32_t whole);
/* The recipe and its rules; ret_rules must have room for PACKED_MAX_SLOTS. False for PACKED_WHOLE and invalid
 * rules. */
bool packed_rule_unpack(const struct packed_rule *packed, struct recipe *ret, struct rule *ret_rules);

static inline enum packed_kind packed_kind(const struct packed_rule *packed)
{
	return (enum packed_kind)(packed->head & 3);
}

static inline enum witness packed_witness(const struct packed_rule *packed)
{
	return (enum witness)(packed->head >> 2 & 7);
}

/* Mask of the registers that have a slot. */
static inline uint64_t packed_saved(const struct packed_rule *packed)
{
	uint64_t ruled = packed->ruled;

	if (packed_kind(packed) == PACKED_LEAF)
		ruled ^= 1ull << (63 - __builtin_clzll(ruled | 1));
	return ruled << packed->first_reg;
}

/* The highest register that has a rule, if any has. */
static inline unsigned packed_last_reg(const struct packed_rule *packed)
{
	return packed->first_reg + 63u - (unsigned)__builtin_clzll(packed->ruled | 1u);
}

static inline int32_t packed_cfa(const struct packed_rule *packed)
{
	return packed->cfa * PACKED_WORD;
}

/* The bounds of all slots, in bytes from the CFA. */
static inline int32_t packed_low(const struct packed_rule *packed)
{
	return packed->low * PACKED_WORD;
}

static inline int32_t packed_high(const struct packed_rule *packed)
{
	return (packed->low + packed->n_words) * PACKED_WORD;
}

/* Bytes from the lowest slot to that of the n-th register with a slot, counting down from the highest
 * register. */
static inline uint32_t packed_slot(const struct packed_rule *packed, unsigned n)
{
	return ((uint32_t)packed->slots[n / 2] >> (n % 2 * 4) & 15u) * PACKED_WORD;
}
