/* SPDX-License-Identifier: Apache-2.0 */
/* The operands of conditional branches, from the encodings that assemblers produce. */
#include "binary/isa/isa.h"
#include "tests/test.h"

static struct isa_branch branch;

static bool a64(uint32_t word)
{
	uint8_t bytes[4] = { (uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16),
			     (uint8_t)(word >> 24) };

	return isa_aarch64.branch((struct bytes){ bytes, 4 }, &branch);
}

#define X86(...)                                                                      \
	isa_x86_64.branch((struct bytes){ (const uint8_t[]){ __VA_ARGS__ },           \
					  sizeof((const uint8_t[]){ __VA_ARGS__ }) }, \
			  &branch)

TEST(branch_a64_by_flags)
{
	CHECK(a64(0x54000041)); /* b.ne +8 */
	CHECK_EQ(branch.test, BRANCH_BY_FLAGS);
	CHECK_EQ(branch.condition, 1);
	CHECK(a64(0x5400004c)); /* b.gt */
	CHECK_EQ(branch.condition, 12);
}

TEST(branch_a64_by_a_register)
{
	CHECK(a64(0xb4000043)); /* cbz x3 */
	CHECK_EQ(branch.test, BRANCH_IF_ZERO);
	CHECK_EQ(branch.reg, 3);
	CHECK_EQ(branch.width, 8);
	CHECK(!branch.is_inverted);
	CHECK(a64(0x35000047)); /* cbnz w7 */
	CHECK_EQ(branch.reg, 7);
	CHECK_EQ(branch.width, 4);
	CHECK(branch.is_inverted);
}

TEST(branch_a64_by_a_bit)
{
	CHECK(a64(0x36180045)); /* tbz w5, #3 */
	CHECK_EQ(branch.test, BRANCH_IF_CLEAR);
	CHECK_EQ(branch.reg, 5);
	CHECK_EQ(branch.bit, 3);
	CHECK(a64(0xb7f80041)); /* tbnz x1, #63 */
	CHECK_EQ(branch.bit, 63);
	CHECK(branch.is_inverted);
}

TEST(branch_a64_other_instructions_are_refused)
{
	CHECK(!a64(0x14000002)); /* b */
	CHECK(!a64(0xd65f03c0)); /* ret */
	CHECK(!a64(0xd503201f)); /* nop */
}

TEST(branch_x86_near_and_far)
{
	CHECK(X86(0x75, 0x10)); /* jne */
	CHECK_EQ(branch.test, BRANCH_BY_FLAGS);
	CHECK_EQ(branch.condition, 5);
	CHECK(X86(0x0f, 0x8f, 0, 1, 0, 0)); /* jg */
	CHECK_EQ(branch.condition, 15);
	CHECK(X86(0x3e, 0x74, 0x10)); /* je with a branch hint */
	CHECK_EQ(branch.condition, 4);
	CHECK(X86(0xf2, 0x72, 0x10)); /* bnd jb */
	CHECK_EQ(branch.condition, 2);
}

TEST(branch_x86_by_rcx)
{
	CHECK(X86(0xe3, 0x10)); /* jrcxz */
	CHECK_EQ(branch.test, BRANCH_IF_ZERO);
	CHECK_EQ(branch.reg, 2);
	CHECK_EQ(branch.width, 8);
	CHECK(X86(0x67, 0xe3, 0x10)); /* jecxz */
	CHECK_EQ(branch.width, 4);
}

TEST(branch_x86_other_instructions_are_refused)
{
	CHECK(!X86(0xe2, 0x10)); /* loop */
	CHECK(!X86(0xeb, 0x10)); /* jmp */
	CHECK(!X86(0xc3, 0x90)); /* ret */
	CHECK(!X86(0x75));       /* truncated */
}

TEST(branch_fragile_sequences_end_with_their_store)
{
	const uint8_t loop[] = { 0x00, 0x7c, 0x5f, 0x88, /* ldxr w0, [x0] */
				 0x1f, 0x20, 0x03, 0xd5, 0x1f, 0x20,
				 0x03, 0xd5, 0x01, 0x7c, 0x02, 0x88, /* stxr w2, w1, [x0] */
				 0x1f, 0x20, 0x03, 0xd5 };

	CHECK_EQ(isa_aarch64.fragile_len((struct bytes){ loop, sizeof(loop) }), 16);
	CHECK_EQ(isa_aarch64.fragile_len((struct bytes){ loop + 4, sizeof(loop) - 4 }), 0);
	CHECK_EQ(isa_x86_64.fragile_len((struct bytes){ loop, sizeof(loop) }), 0);
}
