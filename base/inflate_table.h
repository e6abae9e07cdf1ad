/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inflate_table: what the next bits of a deflated block stand for.
 *
 * A table is looked up with as many bits as most codes have at most; longer ones find a link to a second
 * table for the rest. An entry has all that is to be known of its code.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define N_LENGTHS 19
#define N_LITERALS 288 /* the last two mean nothing, and only the fixed codes have them */
#define N_DISTANCES 32 /* the same */
#define MAX_CODE 15    /* bits */
#define LENGTH_BITS 7  /* to look a code up with */
#define LITERAL_BITS 11
#define DISTANCE_BITS 8

#define ENTRY_LITERAL 0x80000000u
#define ENTRY_SPECIAL 0x40000000u /* no code, or the end of a block */
#define ENTRY_END 0x20000000u
#define ENTRY_LINK                                                                              \
	0x10000000u /* to a table for the rest of the bits: its place, and how many (code bits) \
		     */

/* Bits to drop, those of the code among them, and the value that the extra bits behind it are added to. */
static inline unsigned entry_bits(uint32_t entry)
{
	return entry & 63;
}
static inline unsigned entry_code_bits(uint32_t entry)
{
	return entry >> 6 & 15;
}
static inline uint32_t entry_value(uint32_t entry)
{
	return entry >> 10 & 0xffff;
}

/*
 * Codes are complete, so that behind every link there are two at least: of 288 literals with 11 bits to start
 * with, 144 times 16 entries; of 32 distances with 8, 16 times 128.
 */
#define TABLE_SIZE (2048 + 144 * 16)
struct code_table {
	uint32_t entries[TABLE_SIZE];
};

/* Each from the number of bits that every symbol's code has, 0 = none. False if there can be no such codes.
 */
bool code_table_lengths(struct code_table *table, const uint8_t *lengths, unsigned n);
bool code_table_literals(struct code_table *table, const uint8_t *lengths, unsigned n);
bool code_table_distances(struct code_table *table, const uint8_t *lengths, unsigned n);
