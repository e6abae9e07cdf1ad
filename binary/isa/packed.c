/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packed: recognises SIMD arithmetic, which marks a loop as vectorised, by its encoding alone. Moves, zeroing
 * and shuffles are not included: scalar code uses them to copy and to clear.
 */
#include "binary/isa/packed.h"

/* ---- AArch64 ------------------------------------------------------------------------------------- */

static uint32_t packed_word(struct bytes code)
{
	return (uint32_t)code.at[0] | (uint32_t)code.at[1] << 8 | (uint32_t)code.at[2] << 16 |
	       (uint32_t)code.at[3] << 24;
}

unsigned a64_packed_width(struct bytes code)
{
	if (code.len < 4)
		return 0;
	uint32_t word = packed_word(code);
	bool is_simd = (word & 0x9e000000) == 0x0e000000;
	bool is_sve = (word & 0x1e000000) == 0x04000000 || (word & 0xff000000) == 0x65000000;
	bool is_immediate = (word & 0x9ff80400) == 0x0f000400; /* movi and its like */
	bool is_copy = (word & 0x9fe08400) == 0x0e000400;      /* dup, ins, umov */
	bool is_shuffle = (word & 0xbf208400) == 0x0e000000 || (word & 0xbf208c00) == 0x0e000800 ||
			  (word & 0xbf208400) == 0x2e000000; /* tbl, zip, ext */

	if (is_sve)
		return PACKED_SCALABLE;
	if (!is_simd || is_immediate || is_copy || is_shuffle)
		return 0;
	return word >> 30 & 1 ? 16 : 8;
}

unsigned a64_stored_width(struct bytes code)
{
	if (code.len < 4)
		return 0;
	uint32_t word = packed_word(code);
	bool is_single = (word & 0xffc00000) == 0x3d800000 || (word & 0xffe00000) == 0x3c800000 ||
			 (word & 0xffe00c00) == 0x3ca00800;                                    /* str q */
	bool is_pair = (word & 0xfc400000) == 0xac000000;                                      /* stp q */
	bool is_list = (word & 0xffff0000) == 0x4c000000 || (word & 0xffe00000) == 0x4c800000; /* st1 */
	bool is_on_stack = (word >> 5 & 31) == 31;

	return (is_single || is_pair || is_list) && !is_on_stack ? 16 : 0;
}

bool a64_is_atomic(struct bytes code)
{
	if (code.len < 4)
		return false;
	uint32_t word = packed_word(code);
	bool is_exclusive = (word & 0x3f800000) == 0x08000000;  /* ldxr, stxr, casp */
	bool is_exchange = (word & 0x3fa07c00) == 0x08a07c00;   /* cas */
	bool is_arithmetic = (word & 0x3f200c00) == 0x38200000; /* ldadd, swp */

	return is_exclusive || is_exchange || is_arithmetic;
}

/* ld1 to ld4, st1 to st4 of whole registers: bits 12 to 15 say how many. */
static unsigned a64_listed(uint32_t word)
{
	switch (word >> 12 & 15) {
	case 0:
	case 2:
		return 4;
	case 4:
	case 6:
		return 3;
	case 8:
	case 10:
		return 2;
	default:
		return 1;
	}
}

unsigned a64_accesses(struct bytes code)
{
	uint32_t word = code.len < 4 ? 0 : packed_word(code);
	bool is_constant = (word & 0x3b000000) == 0x18000000; /* pc-relative */
	bool is_prefetch = (word & 0xffc00000) == 0xf9800000 || (word & 0xffe00000) == 0xf8800000 ||
			   (word & 0xffe00c00) == 0xf8a00800;
	bool is_on_stack = (word >> 5 & 31) == 31;

	if ((word & 0x0a000000) != 0x08000000 || is_constant || is_prefetch || is_on_stack)
		return 0;
	if ((word & 0xbf000000) == 0x0c000000)
		return a64_listed(word);
	return (word & 0x3a000000) == 0x28000000 ? 2 : 1; /* a pair */
}

/* ---- x86-64 -------------------------------------------------------------------------------------- */

enum { PREFIX_NONE, PREFIX_66, PREFIX_F3, PREFIX_F2 };

struct opcode {
	uint8_t map, prefix, byte; /* map 1: 0f, 2: 0f 38 */
	bool is_vex;
	uint8_t width; /* of the registers, in bytes */
	uint8_t modrm;
};

/* Finds the opcode after REX and legacy prefixes, or VEX or EVEX. False if it is in none of the relevant
 * maps. */
static bool packed_find_opcode(struct bytes code, struct opcode *ret)
{
	size_t at = 0;
	const uint8_t *b = code.at;

	*ret = (struct opcode){ 0 };
	for (; at < code.len && (b[at] == 0x66 || b[at] == 0xf2 || b[at] == 0xf3); at++)
		ret->prefix = b[at] == 0x66 ? PREFIX_66 : b[at] == 0xf3 ? PREFIX_F3 : PREFIX_F2;
	if (at < code.len && (b[at] & 0xf0) == 0x40)
		at++;
	if (at + 6 > code.len)
		return false;
	if (b[at] == 0xc5) {
		*ret = (struct opcode){
			1, b[at + 1] & 3, b[at + 2], true, b[at + 1] & 4 ? 32 : 16, b[at + 3]
		};
	} else if (b[at] == 0xc4) {
		*ret = (struct opcode){ b[at + 1] & 31, b[at + 2] & 3,           b[at + 3],
					true,           b[at + 2] & 4 ? 32 : 16, b[at + 4] };
	} else if (b[at] == 0x62) {
		*ret = (struct opcode){
			b[at + 1] & 7, b[at + 2] & 3, b[at + 4], true, (uint8_t)(16 << (b[at + 3] >> 5 & 3)),
			b[at + 5]
		};
	} else if (b[at] == 0x0f) {
		ret->map = b[at + 1] == 0x38 ? 2 : 1;
		ret->byte = b[at + ret->map];
		ret->width = 16;
		ret->modrm = b[at + ret->map + 1];
	}
	return ret->map == 1 || ret->map == 2;
}

static bool packed_is_integer(uint8_t byte)
{
	switch (byte) {
	case 0x64:
	case 0x65:
	case 0x66:
	case 0x71:
	case 0x72:
	case 0x73:
	case 0x74:
	case 0x75:
	case 0x76:
	case 0xd1:
	case 0xd2:
	case 0xd3:
	case 0xd4:
	case 0xd5:
	case 0xd8:
	case 0xd9:
	case 0xda:
	case 0xdb:
	case 0xdc:
	case 0xdd:
	case 0xde:
	case 0xdf:
	case 0xe0:
	case 0xe1:
	case 0xe2:
	case 0xe3:
	case 0xe4:
	case 0xe5:
	case 0xe8:
	case 0xe9:
	case 0xea:
	case 0xeb:
	case 0xec:
	case 0xed:
	case 0xee:
	case 0xf1:
	case 0xf2:
	case 0xf3:
	case 0xf4:
	case 0xf5:
	case 0xf6:
	case 0xf8:
	case 0xf9:
	case 0xfa:
	case 0xfb:
	case 0xfc:
	case 0xfd:
	case 0xfe:
		return true;
	default:
		return false;
	}
}

static bool packed_computes(struct opcode op)
{
	if (op.map == 1) {
		bool is_float = op.byte == 0x51 || (op.byte >= 0x58 && op.byte <= 0x5f);
		return (is_float && op.prefix <= PREFIX_66) ||
		       (op.prefix == PREFIX_66 && packed_is_integer(op.byte));
	}
	if (op.prefix != PREFIX_66)
		return false;
	if (op.is_vex && op.byte >= 0x96 &&
	    op.byte <= 0xbf) /* fused multiply-add: odd is scalar, except for the alternating ones */
		return (op.byte & 15) >= 6 && ((op.byte & 15) < 8 || !(op.byte & 1));
	return (op.byte >= 0x1c && op.byte <= 0x1e) || (op.byte >= 0x38 && op.byte <= 0x40);
}

unsigned x86_packed_width(struct bytes code)
{
	struct opcode op;

	return packed_find_opcode(code, &op) && packed_computes(op) ? op.width : 0;
}

unsigned x86_stored_width(struct bytes code)
{
	struct opcode op;

	if (!packed_find_opcode(code, &op) || op.map != 1 || op.modrm >> 6 == 3)
		return 0;
	bool is_float = (op.byte == 0x11 || op.byte == 0x29 || op.byte == 0x2b) && op.prefix <= PREFIX_66;
	bool is_integer = (op.byte == 0x7f && (op.prefix == PREFIX_66 || op.prefix == PREFIX_F3)) ||
			  (op.byte == 0xe7 && op.prefix == PREFIX_66);
	return is_float || is_integer ? op.width : 0;
}

bool x86_takes_number(struct bytes code)
{
	struct opcode op;

	return packed_find_opcode(code, &op) && op.map == 1 && op.prefix == PREFIX_66 && op.byte == 0x7e &&
	       op.modrm >> 6 == 3;
}

/* Does a two-byte opcode have no operands in memory? Branches, bswap, cpuid, nop, prefetch ... */
static bool packed_is_bare(uint8_t byte)
{
	return (byte >= 0x80 && byte <= 0x8f) || (byte >= 0xc8 && byte <= 0xcf) || byte == 0xa2 ||
	       byte == 0x05 || byte == 0x0b || byte == 0x0d || (byte >= 0x18 && byte <= 0x1f) || byte == 0x77;
}

/* The same for one-byte opcodes. */
static bool packed_has_operand(uint8_t byte)
{
	return (byte < 0x40 && (byte & 7) < 4) || byte == 0x63 || byte == 0x69 || byte == 0x6b ||
	       (byte >= 0x80 && byte <= 0x8b) || byte == 0xc0 || byte == 0xc1 || byte == 0xc6 ||
	       byte == 0xc7 || (byte >= 0xd0 && byte <= 0xd3) || (byte >= 0xd8 && byte <= 0xdf) ||
	       byte == 0xf6 || byte == 0xf7 || byte >= 0xfe;
}

unsigned x86_accesses(struct bytes code)
{
	struct opcode op;
	size_t at = 0;

	if (packed_find_opcode(code, &op))
		return (op.is_vex || op.map != 1 || !packed_is_bare(op.byte)) && op.modrm >> 6 != 3;
	while (at < code.len && (code.at[at] == 0x66 || code.at[at] == 0xf2 || code.at[at] == 0xf3))
		at++;
	if (at < code.len && (code.at[at] & 0xf0) == 0x40)
		at++;
	return at + 1 < code.len && packed_has_operand(code.at[at]) && code.at[at + 1] >> 6 != 3;
}

bool x86_is_atomic(struct bytes code)
{
	size_t at = 0;

	while (at < code.len && (code.at[at] == 0x66 || code.at[at] == 0xf2 || code.at[at] == 0xf3 ||
				 code.at[at] == 0x2e || code.at[at] == 0x3e || code.at[at] == 0x64))
		at++;
	if (at < code.len && code.at[at] == 0xf0) /* lock */
		return true;
	if (at < code.len && (code.at[at] & 0xf0) == 0x40)
		at++;
	return at + 1 < code.len && (code.at[at] | 1) == 0x87 && code.at[at + 1] >> 6 != 3; /* xchg */
}
