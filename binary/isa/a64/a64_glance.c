/* SPDX-License-Identifier: Apache-2.0 */
/*
 * a64_glance: the register use of the most common instructions, from bit fields alone, without the decoder:
 * moves, sums, loads and stores that do not involve the frame or the return address. They are two out of five
 * instructions in compiled code. Rare forms, and forms with reserved encodings, are left to the decoder.
 */
#include "binary/isa/a64/a64.h"

#define FRAME 0xe0000000u      /* x29, x30 and sp */
#define NAMED 0x7fffffffu      /* a field where 31 is zr */
#define NAMED_OR_SP UINT32_MAX /* ... or sp */

struct glance {
	uint32_t mask, bits;                          /* what else the word must have */
	uint32_t writes_d, needs_d, needs_n, needs_m; /* registers that count in the fields of enum a64_use */
	bool is_constant;
};

#define OF_TWO NAMED, 0, NAMED, NAMED, false
#define OF_IMMEDIATE NAMED_OR_SP, 0, NAMED_OR_SP, 0, false

/* By bits 22 to 29. Shifts by 32 and more, which only wide registers have, are left to the decoder. */
static const struct glance glances[256] = {
	/* and, eor; orr, which is also mov; by the kind of shift */
	[0x28] = { 0x00008000, 0, OF_TWO },
	[0x29] = { 0x00008000, 0, OF_TWO },
	[0x2a] = { 0x00008000, 0, OF_TWO },
	[0x2b] = { 0x00008000, 0, OF_TWO },
	[0xa8] = { 0x40008000, 0, OF_TWO },
	[0xa9] = { 0x40008000, 0, OF_TWO },
	[0xaa] = { 0x40008000, 0, OF_TWO },
	[0xab] = { 0x40008000, 0, OF_TWO },
	/* add, sub */
	[0x2c] = { 0x00208000, 0, OF_TWO },
	[0x2d] = { 0x00208000, 0, OF_TWO },
	[0x2e] = { 0x00208000, 0, OF_TWO },
	[0x44] = { 0, 0, OF_IMMEDIATE },
	[0x45] = { 0, 0, OF_IMMEDIATE },
	/* movz, movn */
	[0x4a] = { 0, 0, NAMED, 0, 0, 0, true },
	/* str, ldr at [n + m] and [n + immediate] */
	[0xe0] = { 0x00204c00, 0x00204800, 0, NAMED, NAMED_OR_SP, NAMED, false },
	[0xe1] = { 0x00204c00, 0x00204800, NAMED, 0, NAMED_OR_SP, NAMED, false },
	[0xe4] = { 0, 0, 0, NAMED, NAMED_OR_SP, 0, false },
	[0xe5] = { 0, 0, NAMED, 0, NAMED_OR_SP, 0, false },
};

/* Branch-free: instructions come in an unpredictable order. */
bool a64_glance(struct bytes code, struct isa_use *ret)
{
	if (code.len < 4)
		return false;

	uint32_t word = a64_word(code.at);
	const struct glance *g = &glances[word >> 22 & 255];
	uint32_t d = 1u << (word & 31), n = 1u << (word >> 5 & 31), m = 1u << (word >> 16 & 31);
	uint32_t needs = (d & g->needs_d) | (n & g->needs_n) | (m & g->needs_m), writes = d & g->writes_d;

	/* An instruction that needs nothing uses zr, or has none of these forms. */
	*ret = (struct isa_use){ needs | (g->is_constant ? USE_CONSTANT : 0), writes };
	return ((word & g->mask) == g->bits) & (ret->needs != 0) & !((needs | writes) & FRAME);
}
