/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>

#include "collector/record/perf_regs.h"
#include "tests/test.h"

static const struct isa x86 = { .elf_machine = EM_X86_64 };
static const struct isa arm = { .elf_machine = EM_AARCH64 };
static const struct isa riscv = { .elf_machine = EM_RISCV };

static struct bytes bytes_of(const uint64_t *values, size_t n)
{
	return (struct bytes){ (const uint8_t *)values, n * sizeof(*values) };
}

TEST(mask_is_the_one_that_perf_uses)
{
	CHECK_EQ(perf_regs_mask(&x86), 0xff0fff);
	CHECK_EQ(perf_regs_mask(&arm), 0x1ffffffff);
	CHECK_EQ(perf_regs_mask(&riscv), 0);
	CHECK_EQ(perf_regs_mask(NULL), 0);
}

TEST(x86_64_registers_get_their_dwarf_numbers)
{
	/* ax bx cx dx si di bp sp ip flags cs ss r8..r15 */
	uint64_t values[20];
	for (size_t i = 0; i < ARRAY_LEN(values); i++)
		values[i] = 100 + i;
	struct regs regs = perf_regs_read(&x86, 0xff0fff, bytes_of(values, ARRAY_LEN(values)));
	static const uint64_t want[17] = {
		100, 103, 102, 101, 104, 105, 106, 107, /* ax dx cx bx si di bp sp */
		112, 113, 114, 115, 116, 117, 118, 119, 108
	}; /* r8-r15 ip */

	CHECK_EQ(regs.known, 0x1ffff);
	for (size_t i = 0; i < ARRAY_LEN(want); i++)
		CHECK_EQ(regs.value[i], want[i]);
}

TEST(aarch64_registers_keep_their_numbers)
{
	uint64_t values[33];
	for (size_t i = 0; i < ARRAY_LEN(values); i++)
		values[i] = 100 + i;
	struct regs regs = perf_regs_read(&arm, 0x1ffffffff, bytes_of(values, ARRAY_LEN(values)));

	CHECK_EQ(regs.known, 0x1ffffffff);
	for (size_t i = 0; i < ARRAY_LEN(values); i++)
		CHECK_EQ(regs.value[i], 100 + i);
}

TEST(only_registers_in_the_mask_are_known)
{
	uint64_t values[] = { 7, 8 };
	struct regs regs = perf_regs_read(&x86, 1 << 7 | 1 << 8, bytes_of(values, 2));

	CHECK_EQ(regs.known, 1u << 7 | 1u << 16);
	CHECK_EQ(regs.value[7], 7);
	CHECK_EQ(regs.value[16], 8);
}

TEST(values_that_are_missing_leave_their_registers_unknown)
{
	uint64_t values[] = { 7, 8 };
	struct regs regs = perf_regs_read(&arm, 0x1ffffffff, bytes_of(values, 2));

	CHECK_EQ(regs.known, 3);
}

TEST(bits_beyond_the_table_are_ignored)
{
	uint64_t values[2] = { 7, 8 }; /* x0, and the vector granule */
	struct regs regs = perf_regs_read(&arm, 1ull << 46 | 1, bytes_of(values, 2));

	CHECK_EQ(regs.known, 1);
	CHECK_EQ(perf_regs_read(&riscv, 3, bytes_of(values, 2)).known, 0);
}
