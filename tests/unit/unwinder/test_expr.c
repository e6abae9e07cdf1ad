/* SPDX-License-Identifier: Apache-2.0 */
#include "unwinder/expr.h"

#include "tests/frame_maker.h"
#include "tests/test.h"

static enum expr_status eval(struct bytes expr, uint64_t *ret)
{
	static const uint64_t words[] = { 0x1122334455667788, 42 };
	struct sample sample = { .stack = { (const uint8_t *)words, sizeof(words) }, .stack_was_full = true };
	struct cursor cursor;

	sample.regs.known = 1u << 7 | 1u << 16;
	sample.regs.value[7] = 0x7000;
	sample.regs.value[16] = 0x40102b;
	cursor_init(&cursor, NULL, NULL);
	cursor_begin(&cursor, &isa_x86_64, 1, &sample);
	struct expr_input input = { &cursor, 0, true, 1000 };
	return expr_eval(expr, &input, ret);
}

#define CHECK_VALUE(want, ...)                                         \
	do {                                                           \
		uint64_t got__ = 0;                                    \
		CHECK_EQ(eval(PROGRAM(__VA_ARGS__), &got__), EXPR_OK); \
		CHECK_EQ(got__, want);                                 \
	} while (0)
#define CHECK_STATUS(want, ...)                                     \
	do {                                                        \
		uint64_t got__ = 0;                                 \
		CHECK_EQ(eval(PROGRAM(__VA_ARGS__), &got__), want); \
	} while (0)

TEST(expr_computes_the_cfa_of_plt_stubs)
{
	/* breg7+8; breg16+0; lit15; and; lit11; ge; lit3; shl; plus: as every x86-64 linker writes it */
	CHECK_VALUE(0x7010, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22);
}

TEST(expr_starts_with_the_value_it_is_given)
{
	CHECK_VALUE(1008, 0x23, 8);
}

TEST(expr_reads_memory)
{
	CHECK_VALUE(42, 0x77, 8, 0x06);
	CHECK_VALUE(0x7788, 0x77, 0, 0x94, 2);
	CHECK_STATUS(EXPR_BEYOND, 0x77, 16, 0x06);
	CHECK_STATUS(EXPR_BAD_READ, 0x77, 0x78, 0x06);
}

TEST(expr_rearranges_the_stack)
{
	CHECK_VALUE(1, 0x31, 0x32, 0x16);       /* lit1 lit2 swap -> 2 1 */
	CHECK_VALUE(2, 0x31, 0x32, 0x16, 0x13); /* and drop */
	CHECK_VALUE(2, 0x31, 0x32, 0x33, 0x17); /* 1 2 3 rot -> 3 1 2 */
	CHECK_VALUE(1, 0x31, 0x32, 0x33, 0x17, 0x13);
	CHECK_VALUE(1, 0x31, 0x32, 0x14);
	CHECK_VALUE(1, 0x31, 0x32, 0x33, 0x15, 2);
}

TEST(expr_does_arithmetic)
{
	CHECK_VALUE((uint64_t)-3, 0x09, 0xfd);
	CHECK_VALUE(3, 0x09, 0xfd, 0x19);
	CHECK_VALUE((uint64_t)-2, 0x09, 0xfa, 0x33, 0x1b);
	CHECK_VALUE(1, 0x37, 0x33, 0x1d);
	CHECK_VALUE((uint64_t)-1, 0x09, 0xf0, 0x38, 0x3f, 0x22, 0x26); /* -16 >> (8 + 15) */
	CHECK_VALUE(0, 0x31, 0x08, 64, 0x24);
	CHECK_VALUE(1, 0x09, 0xff, 0x30, 0x2d); /* -1 < 0 */
	CHECK_STATUS(EXPR_DAMAGED, 0x31, 0x30, 0x1b);
}

TEST(expr_branches)
{
	CHECK_VALUE(9, 0x31, 0x28, 1, 0, 0x36, 0x39); /* lit1 bra +1 over lit6, lit9 */
	CHECK_VALUE(7, 0x2f, 1, 0, 0x36, 0x37);       /* skip */
	CHECK_STATUS(EXPR_DAMAGED, 0x2f, 0xfd, 0xff); /* an infinite loop */
	CHECK_STATUS(EXPR_DAMAGED, 0x2f, 0, 0x80);    /* jumps before the start */
}

TEST(expr_refuses_what_it_cannot_know)
{
	CHECK_STATUS(EXPR_UNKNOWN, 0x73, 0);
	CHECK_STATUS(EXPR_UNKNOWN, 0x9c);
	CHECK_STATUS(EXPR_DAMAGED, 0x13, 0x13);
	CHECK_STATUS(EXPR_DAMAGED, 0x77);
	uint8_t deep[200];
	uint64_t value;
	memset(deep, 0x12, sizeof(deep));
	CHECK_EQ(eval((struct bytes){ deep, sizeof(deep) }, &value), EXPR_DAMAGED);
}
