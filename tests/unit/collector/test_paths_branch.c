/* SPDX-License-Identifier: Apache-2.0 */
/* The direction of a branch, from the flags set by a comparison of two numbers. */
#include "collector/bpf/paths_branch.h"

#include "base/bytes.h"
#include "tests/test.h"

/* The flags of a cmp of two bytes on x86-64. */
static __u64 x86_flags(uint8_t a, uint8_t b)
{
	uint8_t difference = (uint8_t)(a - b);
	int exact = (int8_t)a - (int8_t)b;
	__u64 flags = 2; /* reserved, always 1 */

	flags |= a < b ? CARRY : 0;
	flags |= __builtin_popcount(difference) % 2 == 0 ? PARITY : 0;
	flags |= difference == 0 ? ZERO : 0;
	flags |= difference & 0x80 ? SIGN : 0;
	flags |= exact < -128 || exact > 127 ? OVERFLOW : 0;
	return flags;
}

/* The flags of a cmp of two words on AArch64. */
static __u64 a64_flags(uint32_t a, uint32_t b)
{
	uint32_t difference = a - b;
	int64_t exact = (int64_t)(int32_t)a - (int32_t)b;

	return (__u64)(difference >> 31) << 31 | (__u64)(difference == 0) << 30 | (__u64)(a >= b) << 29 |
	       (__u64)(exact < INT32_MIN || exact > INT32_MAX) << 28;
}

TEST(paths_branch_x86_every_condition)
{
	for (unsigned a = 0; a < 256; a++)
		for (unsigned b = 0; b < 256; b++) {
			int8_t x = (int8_t)a, y = (int8_t)b;
			__u64 flags = x86_flags((uint8_t)a, (uint8_t)b);
			bool expected[] = { x - y < -128 || x - y > 127,                 /* jo */
					    a < b,                                       /* jb */
					    a == b,                                      /* je */
					    a <= b,                                      /* jbe */
					    (a - b) >> 7 & 1,                            /* js */
					    __builtin_popcount((a - b) & 0xff) % 2 == 0, /* jp */
					    x < y,                                       /* jl */
					    x <= y };                                    /* jle */
			for (unsigned condition = 0; condition < 16; condition++)
				CHECK_EQ(branch_by_x86(flags, condition),
					 expected[condition / 2] != (condition & 1));
		}
}

TEST(paths_branch_a64_every_condition)
{
	static const uint32_t numbers[] = { 0, 1, 2, 0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 12345 };

	for (size_t i = 0; i < ARRAY_LEN(numbers) * ARRAY_LEN(numbers); i++) {
		uint32_t a = numbers[i / ARRAY_LEN(numbers)], b = numbers[i % ARRAY_LEN(numbers)];
		int32_t x = (int32_t)a, y = (int32_t)b;
		int64_t exact = (int64_t)x - y;
		bool expected[] = {
			a == b, a >= b, (a - b) >> 31 & 1, exact < INT32_MIN || exact > INT32_MAX, a > b,
			x >= y, x > y
		};
		__u64 flags = a64_flags(a, b);
		for (unsigned condition = 0; condition < 14; condition++)
			CHECK_EQ(branch_by_a64(flags, condition), expected[condition / 2] != (condition & 1));
		CHECK_EQ(branch_by_a64(flags, 14), 1);
	}
}

TEST(paths_branch_by_a_register)
{
	struct paths_probe zero = { .test = PATHS_IF_ZERO, .width = 4 };
	struct paths_probe bit = { .test = PATHS_IF_CLEAR, .bit = 63, .is_inverted = 1 };

	CHECK(branch_by_register(&zero, 0x100000000));
	CHECK(!branch_by_register(&zero, 1));
	zero.width = 8;
	CHECK(!branch_by_register(&zero, 0x100000000));
	CHECK(branch_by_register(&bit, 1ull << 63));
	CHECK(!branch_by_register(&bit, ~(1ull << 63)));
}
