/* SPDX-License-Identifier: Apache-2.0 */
/*
 * a64_idle: most words need not be decoded by who looks for calls, jumps and addresses.
 *
 * Told from the top of the word, with what is rare or writes registers that no field names left to the decoder:
 * a word that is wrongly thought busy costs a decode, one that is wrongly thought idle would be missed.
 */
#include "binary/a64.h"

/* Data processing on an immediate, registers or vectors, and loads and stores, but for these. */
static bool is_busy_kind(uint32_t word)
{
	bool is_immediate = (word & 0x1c000000) == 0x10000000, is_memory = (word & 0x0a000000) == 0x08000000;
	bool is_computing = (word & 0x0e000000) == 0x0a000000 || (word & 0x0e000000) == 0x0e000000;

	if (is_immediate)
		return (word & 0x1f000000) == 0x10000000; /* adr, adrp */
	if (is_memory)
		return (word & 0x3b000000) == 0x18000000 || /* literals */
		       (word & 0x3b000000) == 0x19000000 || /* tags, copies of memory */
		       (word & 0x3f000000) == 0x08000000 || /* exclusive, compare and swap */
		       (word & 0x3b200c00) == 0x38200000;   /* atomic, 64 bytes at once */
	return !is_computing;
}

bool a64_is_idle(struct bytes code, uint64_t registers)
{
	if (code.len < 4)
		return false;
	uint32_t word = (uint32_t)code.at[0] | (uint32_t)code.at[1] << 8 | (uint32_t)code.at[2] << 16 | (uint32_t)code.at[3] << 24;
	uint64_t named = 1ull << (word & 31) | 1ull << (word >> 5 & 31) | 1ull << (word >> 10 & 31) | 1ull << (word >> 16 & 31);
	return !(named & registers) && !is_busy_kind(word);
}
