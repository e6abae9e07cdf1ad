/* SPDX-License-Identifier: Apache-2.0 */
/*
 * a64_idle: skips instructions that are neither calls nor jumps and form no addresses ("idle" for the
 * survey), without decoding them.
 *
 * Decided by the top bits of the word. Rare instructions, and those that write registers which no field
 * names, are left to the decoder: an idle instruction that is not recognised only costs a decode, but a busy
 * one that is taken for idle would be missed.
 */
#include "binary/isa/a64/a64.h"

/*
 * By bits 24 to 29. Idle: data processing on an immediate, registers or vectors, loads and stores; except adr
 * and adrp (10, 30), literals (18, 1c), tags and copies of memory (19, 1d), exclusives and compare-and-swap
 * (08), and atomics, which share 38 and 3c with other stores.
 */
#define IDLE_KINDS 0xee0eff00cc0efe00u
#define ATOMIC_KINDS (1ull << 0x38 | 1ull << 0x3c)

static bool a64_idle_kind(uint32_t word)
{
	unsigned kind = word >> 24 & 63;

	return (IDLE_KINDS >> kind & 1) | ((ATOMIC_KINDS >> kind & 1) & ((word & 0x200c00) != 0x200000));
}

/* A field of `bits` bits from bit 5 on counts instructions. */
static int64_t a64_idle_distance(uint32_t word, unsigned bits)
{
	return (int64_t)((int32_t)(word << (27 - bits)) >> (32 - bits)) * 4;
}

/* A conditional branch at `at` (but not "always") whose target is in the room. */
static bool a64_idle_stays(uint32_t word, size_t at, struct isa_room room)
{
	bool is_bit = (word & 0x7e000000) == 0x36000000;
	bool is_other =
		(word & 0x7e000000) == 0x34000000 || ((word & 0xff000010) == 0x54000000 && (word & 14) != 14);
	int64_t to = (int64_t)at + a64_idle_distance(word, is_bit ? 14 : 19);

	return (is_bit || is_other) && to >= room.low && to < room.high;
}

static bool a64_idle_names(uint32_t word, uint32_t registers)
{
	uint32_t in_fields = registers >> (word & 31) | registers >> (word >> 5 & 31) |
			     registers >> (word >> 10 & 31) | registers >> (word >> 16 & 31);

	return in_fields & 1;
}

/* Instructions come in an unpredictable order: the fewer branches here, the better. */
static inline size_t a64_idle_count(struct bytes code, uint32_t registers, struct isa_room room)
{
	size_t at = 0;

	for (; code.len - at >= 4; at += 4) {
		uint32_t word = a64_word(code.at + at);
		bool is_idle = a64_idle_kind(word) & !a64_idle_names(word, registers);
		if (!is_idle && !a64_idle_stays(word, at, room))
			break;
	}
	return at;
}

size_t a64_idle_len(struct bytes code, uint64_t registers, struct isa_room room)
{
	return registers ? a64_idle_count(code, (uint32_t)registers, room) : a64_idle_count(code, 0, room);
}

bool a64_quick(struct bytes code, uint64_t vaddr, struct isa_quick *ret)
{
	if (code.len < 4)
		return false;
	uint32_t word = a64_word(code.at);
	bool is_call = word >> 26 == 0x25, is_adrp = (word & 0x9f000000) == 0x90000000;
	int64_t to = a64_signed_bits(word, 25, 0) * 4;
	int64_t page = (a64_signed_bits(word, 23, 5) * 4 + (int64_t)a64_bits(word, 30, 29)) * 4096;

	if (is_call)
		*ret = (struct isa_quick){ vaddr + (uint64_t)to, REG_NONE };
	else
		*ret = (struct isa_quick){ (vaddr & ~UINT64_C(4095)) + (uint64_t)page, (uint8_t)(word & 31) };
	return is_call | (is_adrp & (ret->reg != A64_ZR));
}
