/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inflate_table: decoding tables for deflate codes.
 *
 * A table is indexed with enough bits for most codes; longer codes lead to an entry with a link to a second
 * table for the remaining bits. An entry contains everything about its code.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define N_LENGTHS 19
#define N_LITERALS 288 /* the last two are unused and exist only in the fixed codes */
#define N_DISTANCES 32 /* the same */
#define MAX_CODE 15    /* bits */
#define LENGTH_BITS 7  /* bits of the index of the first table */
#define LITERAL_BITS 11
#define DISTANCE_BITS 8

#define ENTRY_LITERAL 0x80000000u
#define ENTRY_SPECIAL 0x40000000u /* no code, or the end of a block */
#define ENTRY_END 0x20000000u
#define ENTRY_LINK                                                                              \
	0x10000000u /* to a table for the rest of the bits: its place, and how many (code bits) \
		     */

/* The number of bits to consume, including those of the code, and the value to which the extra bits are
 * added. */
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
 * Codes are complete, so every link leads to at least two of them: for 288 literals with 11 bits in the first
 * table, at most 144 times 16 entries; for 32 distances with 8 bits, 16 times 128.
 */
#define TABLE_SIZE (2048 + 144 * 16)
struct code_table {
	uint32_t entries[TABLE_SIZE];
};

/* Builds a table from the code length of each symbol, 0 = none. False if the lengths are invalid. */
bool code_table_lengths(struct code_table *table, const uint8_t *lengths, unsigned n);
bool code_table_literals(struct code_table *table, const uint8_t *lengths, unsigned n);
bool code_table_distances(struct code_table *table, const uint8_t *lengths, unsigned n);
