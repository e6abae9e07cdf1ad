/* SPDX-License-Identifier: Apache-2.0 */
/*
 * a64_decode: finds the table row of an instruction word, and the fields that need computation.
 *
 * What a mask cannot express (a reserved shift, a meaningless bit pattern) is checked here, so that a row
 * that was found can be trusted.
 */
#include "binary/isa/a64/a64.h"

bool a64_bitmask(uint32_t word, uint64_t *ret)
{
	unsigned width = word >> 31 ? 64 : 32, n = a64_bits(word, 22, 22);
	unsigned rotate = a64_bits(word, 21, 16), ones = a64_bits(word, 15, 10);
	unsigned pattern = n << 6 | (~ones & 63);

	if (pattern < 2 || (width == 32 && n))
		return false;
	unsigned size = 1u << (31 - (unsigned)__builtin_clz(pattern));
	ones &= size - 1;
	rotate &= size - 1;
	if (ones == size - 1)
		return false;

	uint64_t value = (UINT64_C(2) << ones) - 1;
	uint64_t all = size == 64 ? UINT64_MAX : (UINT64_C(1) << size) - 1;
	if (rotate)
		value = (value >> rotate | value << (size - rotate)) & all;
	for (; size < width; size *= 2)
		value |= value << size;
	*ret = value;
	return true;
}

unsigned a64_memory_width(uint32_t word)
{
	unsigned size = a64_bits(word, 31, 30);

	if (a64_bits(word, 26, 26))
		size |= a64_bits(word, 23, 23) << 2;
	return 1u << size;
}

unsigned a64_vector_count(uint32_t word)
{
	static const uint8_t counts[16] = { [0] = 4, [2] = 4, [4] = 3, [6] = 3, [7] = 1, [8] = 2, [10] = 2 };

	return counts[a64_bits(word, 15, 12)];
}

static bool a64_is_valid_memory(uint32_t word, enum a64_kind kind)
{
	unsigned size = a64_bits(word, 31, 30), opc = a64_bits(word, 23, 22);

	if (kind == A64_MEMORY_REGISTER && !a64_bits(word, 14, 14))
		return false;
	if (a64_bits(word, 26, 26))
		return opc < 2 || size == 0;
	return opc < 2 || size + opc < 5; /* size 3, opc 2 is prfm and has its own rows */
}

static bool a64_is_valid_pair(uint32_t word)
{
	unsigned opc = a64_bits(word, 31, 30), mode = a64_bits(word, 24, 23);

	if (opc == 3)
		return false;
	return opc != 1 || a64_bits(word, 26, 26) || mode != 0;
}

/* One structure: the lane number shares its bits with the size. */
static bool a64_is_valid_lane(uint32_t word)
{
	unsigned scale = a64_bits(word, 15, 14), s = a64_bits(word, 12, 12), size = a64_bits(word, 11, 10);

	switch (scale) {
	case 0:
		return true;
	case 1:
		return !(size & 1);
	case 2:
		return size == 0 || (size == 1 && !s);
	default:
		return a64_bits(word, 22, 22) && !s;
	}
}

static bool a64_is_valid_shift(uint32_t word)
{
	return word >> 31 || !a64_bits(word, 15, 15);
}

static bool a64_is_valid_bitfield(uint32_t word)
{
	unsigned sf = word >> 31;

	return a64_bits(word, 22, 22) == sf && (sf || (!a64_bits(word, 21, 21) && !a64_bits(word, 15, 15)));
}

static bool a64_is_valid(uint32_t word, enum a64_kind kind)
{
	uint64_t value;

	switch (kind) {
	case A64_ADD_SHIFTED:
		return a64_bits(word, 23, 22) != 3 && a64_is_valid_shift(word);
	case A64_ADD_EXTENDED:
		return a64_bits(word, 12, 10) <= 4;
	case A64_LOGIC_IMMEDIATE:
		return a64_bitmask(word, &value);
	case A64_LOGIC_SHIFTED:
		return a64_is_valid_shift(word);
	case A64_MOVE_WIDE:
		return a64_bits(word, 30, 29) != 1 && (word >> 31 || !a64_bits(word, 22, 22));
	case A64_BITFIELD:
		return a64_bits(word, 30, 29) != 3 && a64_is_valid_bitfield(word);
	case A64_EXTRACT:
		return a64_is_valid_bitfield(word & ~0x3f0000u);
	case A64_MEMORY:
	case A64_MEMORY_UNSCALED:
	case A64_MEMORY_POST:
	case A64_MEMORY_PRE:
	case A64_MEMORY_REGISTER:
		return a64_is_valid_memory(word, kind);
	case A64_PAIR:
		return a64_is_valid_pair(word);
	case A64_MEMORY_COPY: /* three different registers */
		return a64_bits(word, 31, 30) == 0 && a64_bits(word, 4, 0) != a64_bits(word, 9, 5) &&
		       a64_bits(word, 4, 0) != a64_bits(word, 20, 16) &&
		       a64_bits(word, 9, 5) != a64_bits(word, 20, 16);
	case A64_VECTOR_MEMORY:
	case A64_VECTOR_MEMORY_POST:
		return a64_bits(word, 24, 24) ? a64_is_valid_lane(word) : a64_vector_count(word) != 0;
	default:
		return true;
	}
}

static const struct a64_table *const classes[16] = {
	&a64_reserved, NULL,          &a64_sve,       NULL,           &a64_memory, &a64_register,
	&a64_memory,   &a64_vector,   &a64_immediate, &a64_immediate, &a64_branch, &a64_branch,
	&a64_memory,   &a64_register, &a64_memory,    &a64_vector,
};

static const struct a64_row *a64_find_in(const struct a64_table *table, uint32_t word)
{
	for (size_t i = 0; table && i < table->n; i++)
		if ((word & table->rows[i].mask) == table->rows[i].bits)
			return a64_is_valid(word, table->rows[i].kind) ? &table->rows[i] : NULL;
	return NULL;
}

const struct a64_row *a64_find(uint32_t word)
{
	return a64_find_in(classes[a64_bits(word, 28, 25)], word);
}

/*
 * Vectors and floating point: moves and conversions of scalars, and compares, have 0x1e in bits 24 to 28 and
 * bit 30 clear; lanes are copied by 0x0e there with bits 15 and 21 to 23 clear and bit 10 set. No others use
 * a general register or the flags.
 */
static bool a64_is_vector_only(uint32_t word)
{
	bool is_scalar = (word & 0x5f000000) == 0x1e000000, is_copy = (word & 0x9fe08400) == 0x0e000400;

	return !is_scalar && !is_copy;
}

const struct a64_row *a64_find_effects(uint32_t word)
{
	static const struct a64_row vector_only = { .kind = A64_PLAIN };
	const struct a64_table *table = classes[a64_bits(word, 28, 25)];

	return table == &a64_vector && a64_is_vector_only(word) ? &vector_only : a64_find_in(table, word);
}
