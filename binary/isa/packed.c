/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packed: arithmetic on several values at once, told from the encoding alone: what marks a loop as
 * vectorised. Moves, zeroing and shuffles do not count: scalar code uses them to copy and to clear.
 */
#include "binary/isa/packed.h"

/* ---- AArch64 ------------------------------------------------------------------------------------- */

unsigned a64_packed_width(struct bytes code)
{
	if (code.len < 4)
		return 0;
	uint32_t word = (uint32_t)code.at[0] | (uint32_t)code.at[1] << 8 | (uint32_t)code.at[2] << 16 |
			(uint32_t)code.at[3] << 24;
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

/* ---- x86-64 -------------------------------------------------------------------------------------- */

enum { PREFIX_NONE, PREFIX_66, PREFIX_F3, PREFIX_F2 };

struct opcode {
	uint8_t map, prefix, byte; /* map 1: 0f, 2: 0f 38 */
	bool is_vex;
	uint8_t width; /* of the registers, in bytes */
};

/* REX and legacy prefixes, or VEX or EVEX, up to the opcode. False if it is of no map we ask about. */
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
		*ret = (struct opcode){ 1, b[at + 1] & 3, b[at + 2], true, b[at + 1] & 4 ? 32 : 16 };
	} else if (b[at] == 0xc4) {
		*ret = (struct opcode){ b[at + 1] & 31, b[at + 2] & 3, b[at + 3], true,
					b[at + 2] & 4 ? 32 : 16 };
	} else if (b[at] == 0x62) {
		*ret = (struct opcode){ b[at + 1] & 7, b[at + 2] & 3, b[at + 4], true,
					(uint8_t)(16 << (b[at + 3] >> 5 & 3)) };
	} else if (b[at] == 0x0f) {
		ret->map = b[at + 1] == 0x38 ? 2 : 1;
		ret->byte = b[at + ret->map];
		ret->width = 16;
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
	    op.byte <= 0xbf) /* fused multiply-add: odd is scalar, but for the alternating ones */
		return (op.byte & 15) >= 6 && ((op.byte & 15) < 8 || !(op.byte & 1));
	return (op.byte >= 0x1c && op.byte <= 0x1e) || (op.byte >= 0x38 && op.byte <= 0x40);
}

unsigned x86_packed_width(struct bytes code)
{
	struct opcode op;

	return packed_find_opcode(code, &op) && packed_computes(op) ? op.width : 0;
}
