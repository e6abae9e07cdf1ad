/* SPDX-License-Identifier: Apache-2.0 */
#include "base/inflate_table.h"

#include <stddef.h>

#define FIRST_LENGTH 257

/* For a symbol; the bits of its code are added later. */
static uint32_t inflate_table_entry_of(uint32_t value, unsigned extra)
{
	return value << 10 | extra;
}

static uint32_t with_code(uint32_t entry, unsigned n_bits)
{
	return entry + (n_bits << 6 | n_bits);
}

static uint32_t length_entry(unsigned symbol)
{
	return inflate_table_entry_of(symbol, 0);
}

static uint32_t literal_entry(unsigned symbol)
{
	static const uint16_t bases[] = { 3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
					  31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258 };
	unsigned i = symbol - FIRST_LENGTH;

	if (symbol < 256)
		return ENTRY_LITERAL | inflate_table_entry_of(symbol, 0);
	if (symbol == 256)
		return ENTRY_SPECIAL | ENTRY_END;
	if (i > 28)
		return ENTRY_SPECIAL;
	return inflate_table_entry_of(bases[i], i < 8 || i == 28 ? 0 : i / 4 - 1);
}

/* From 5 on, distances double every two codes. */
static uint32_t distance_entry(unsigned symbol)
{
	unsigned extra = symbol < 4 ? 0 : symbol / 2 - 1;

	if (symbol > 29)
		return ENTRY_SPECIAL;
	return inflate_table_entry_of(symbol < 4 ? symbol + 1 : ((2 + symbol % 2) << extra) + 1, extra);
}

/* Codes are packed from their highest bit, which therefore comes first. */
static unsigned reversed(unsigned code, unsigned n_bits)
{
	unsigned result = 0;

	for (unsigned i = 0; i < n_bits; i++, code >>= 1)
		result = result << 1 | (code & 1);
	return result;
}

/* The input of a table: symbols in the order of their codes. */
struct codes {
	unsigned n_of[MAX_CODE + 1]; /* number of codes of each length */
	uint16_t symbols[N_LITERALS];
	unsigned n, longest;
};

struct builder {
	struct codes codes;
	uint32_t *entries;
	unsigned root; /* bits that index the first table */
	unsigned used; /* number of entries in use */
};

/* False if some bit sequence would have no meaning, or if the codes do not fit. An incomplete code is allowed
 * if it is a single code of one bit: no others are needed then. */
static bool sort_codes(const uint8_t *lengths, unsigned n, struct codes *ret)
{
	unsigned first[MAX_CODE + 2] = { 0 }, left = 1;

	*ret = (struct codes){ 0 };
	for (unsigned i = 0; i < n; i++)
		ret->n_of[lengths[i]]++;
	ret->n = n - ret->n_of[0];
	ret->n_of[0] = 0;
	for (unsigned bits = 1; bits <= MAX_CODE; bits++) {
		first[bits + 1] = first[bits] + ret->n_of[bits];
		if (ret->n_of[bits])
			ret->longest = bits;
		if (ret->n_of[bits] > 2 * left)
			return false;
		left = 2 * left - ret->n_of[bits];
	}
	for (unsigned i = 0; i < n; i++)
		if (lengths[i])
			ret->symbols[first[lengths[i]]++] = (uint16_t)i;
	return left == 0 || (ret->n <= 1 && ret->longest <= 1);
}

static void inflate_table_fill(uint32_t *entries, unsigned first, unsigned step, unsigned end, uint32_t entry)
{
	for (unsigned i = first; i < end; i += step)
		entries[i] = entry;
}

/* Enters a code longer than the root: into the table that its first bits link to. */
static void add_long(struct builder *b, unsigned code, unsigned n_bits, uint32_t entry)
{
	unsigned rest = b->codes.longest - b->root;
	uint32_t *link = &b->entries[code & ((1u << b->root) - 1)];

	if (!(*link & ENTRY_LINK)) {
		*link = ENTRY_LINK | with_code(inflate_table_entry_of(b->used, 0), rest);
		b->used += 1u << rest;
	}
	inflate_table_fill(b->entries + entry_value(*link), code >> b->root, 1u << (n_bits - b->root),
			   1u << rest, with_code(entry, n_bits - b->root));
}

static bool build(struct code_table *table, unsigned root, const uint8_t *lengths, unsigned n,
		  uint32_t (*entry_for)(unsigned))
{
	struct builder b = { .entries = table->entries, .root = root, .used = 1u << root };
	unsigned code = 0, next = 0;

	if (!sort_codes(lengths, n, &b.codes))
		return false;
	if (b.codes.n <= 1 || b.codes.longest > root) /* some stay empty, or links are searched for */
		inflate_table_fill(b.entries, 0, 1, b.used, ENTRY_SPECIAL);
	for (unsigned bits = 1; bits <= b.codes.longest; bits++, code <<= 1)
		for (unsigned i = 0; i < b.codes.n_of[bits]; i++, code++) {
			uint32_t entry = entry_for(b.codes.symbols[next++]);
			if (bits <= root)
				inflate_table_fill(b.entries, reversed(code, bits), 1u << bits, 1u << root,
						   with_code(entry, bits));
			else
				add_long(&b, reversed(code, bits), bits, entry);
		}
	return true;
}

bool code_table_lengths(struct code_table *table, const uint8_t *lengths, unsigned n)
{
	unsigned n_used = 0;

	for (unsigned i = 0; i < n; i++)
		n_used += lengths[i] != 0;
	return n_used > 1 && build(table, LENGTH_BITS, lengths, n, length_entry);
}

bool code_table_literals(struct code_table *table, const uint8_t *lengths, unsigned n)
{
	return build(table, LITERAL_BITS, lengths, n, literal_entry);
}

bool code_table_distances(struct code_table *table, const uint8_t *lengths, unsigned n)
{
	return build(table, DISTANCE_BITS, lengths, n, distance_entry);
}
