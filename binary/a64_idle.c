/* SPDX-License-Identifier: Apache-2.0 */
/*
 * a64_idle: most words need not be decoded by who looks for calls, jumps and addresses.
 *
 * Told from the top of the word, with what is rare or writes registers that no field names left to the decoder:
 * a word that is wrongly thought busy costs a decode, one that is wrongly thought idle would be missed.
 */
#include "binary/a64.h"

/*
 * By bits 24 to 29. Idle: data processing on an immediate, registers or vectors, loads and stores; but for adr and adrp
 * (10, 30), literals (18, 1c), tags and copies of memory (19, 1d), exclusives and compare-and-swap (08), and atomics, which
 * share 38 and 3c with other stores.
 */
#define IDLE_KINDS 0xee0eff00cc0efe00u
#define ATOMIC_KINDS (1ull << 0x38 | 1ull << 0x3c)

static bool is_idle_kind(uint32_t word)
{
	unsigned kind = word >> 24 & 63;

	return (IDLE_KINDS >> kind & 1) | ((ATOMIC_KINDS >> kind & 1) & ((word & 0x200c00) != 0x200000));
}

/* A field of `bits` bits from bit 5 on counts instructions. */
static int64_t distance(uint32_t word, unsigned bits)
{
	return (int64_t)((int32_t)(word << (27 - bits)) >> (32 - bits)) * 4;
}

/* A branch at `at` on a condition (but for "always"), a register or one of its bits, that stays in the room. */
static bool stays(uint32_t word, size_t at, struct isa_room room)
{
	bool is_bit = (word & 0x7e000000) == 0x36000000;
	bool is_other = (word & 0x7e000000) == 0x34000000 || ((word & 0xff000010) == 0x54000000 && (word & 14) != 14);
	int64_t to = (int64_t)at + distance(word, is_bit ? 14 : 19);

	return (is_bit || is_other) && to >= room.low && to < room.high;
}

static bool is_idle(uint32_t word, uint64_t registers)
{
	uint64_t named = 1ull << (word & 31) | 1ull << (word >> 5 & 31) | 1ull << (word >> 10 & 31) | 1ull << (word >> 16 & 31);

	return !(named & registers) & is_idle_kind(word);
}

size_t a64_idle_len(struct bytes code, uint64_t registers, struct isa_room room)
{
	size_t at = 0;

	for (; code.len - at >= 4; at += 4) {
		uint32_t word = a64_word(code.at + at);
		bool is_branch = (word & 0x1c000000) == 0x14000000;
		if (is_branch ? !stays(word, at, room) : !is_idle(word, registers))
			break;
	}
	return at;
}
