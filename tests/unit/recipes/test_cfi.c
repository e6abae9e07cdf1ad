/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/cfi.h"

#include <errno.h>

#include "base/text.h"
#include "tests/frame_maker.h"
#include "tests/test.h"
#include "tests/unit/unwinder/test_isa.h"

#define X86_START 0x0c, 7, 8, 0x90, 1 /* def_cfa rsp+8; ra at c-8 */
#define ARM_START 0x0c, 31, 0         /* def_cfa sp+0 */

static const uint8_t x86_start[] = { X86_START }, arm_start[] = { ARM_START };

static struct fde x86_fde(struct bytes program)
{
	return (struct fde){ .start = 0x1000,
			     .size = 0x100,
			     .program = program,
			     .program_vaddr = 0x2000,
			     .cie = { .code_align = 1,
				      .data_align = -8,
				      .ra_reg = 16,
				      .program = { x86_start, sizeof(x86_start) } } };
}

static struct fde arm_fde(struct bytes program)
{
	return (struct fde){ .start = 0x1000,
			     .size = 0x100,
			     .program = program,
			     .program_vaddr = 0x2000,
			     .cie = { .code_align = 4,
				      .data_align = -8,
				      .ra_reg = 30,
				      .program = { arm_start, sizeof(arm_start) } } };
}

/* All rows on one line: "0:cfa=... | 4:cfa=...". The text is valid until the next call. */
static const char *rows_of(const struct fde *fde, const struct isa *isa, int want)
{
	static char line[2048];
	struct recipes recipes;
	struct recipe_rows rows = { 0 };
	struct text out = { 0 };

	recipes_init(&recipes);
	CHECK_EQ(cfi_compile(fde, isa, &recipes, &rows), want);
	for (size_t i = 0; i < rows.rows.n; i++) {
		char recipe[256];
		recipe_format(&recipes, rows.rows.at[i].recipe, isa, recipe, sizeof(recipe));
		text_printf(&out, "%s%x:%s", i ? " | " : "", rows.rows.at[i].start, recipe);
	}
	snprintf(line, sizeof(line), "%s", out.at ? out.at : "");
	text_done(&out);
	vec_done(&rows.rows);
	recipes_done(&recipes);
	return line;
}

#define CHECK_X86(want, ...)                                     \
	do {                                                     \
		struct fde fde_ = x86_fde(PROGRAM(__VA_ARGS__)); \
		CHECK_STR(rows_of(&fde_, &test_x86, 0), want);   \
	} while (0)
#define CHECK_ARM(want, ...)                                     \
	do {                                                     \
		struct fde fde_ = arm_fde(PROGRAM(__VA_ARGS__)); \
		CHECK_STR(rows_of(&fde_, &test_arm, 0), want);   \
	} while (0)

TEST(cfi_follows_a_classic_prologue)
{
	/* push rbp; mov rsp,rbp; ...; leave */
	CHECK_X86("0:cfa=rsp+8 ra=c-8 | 1:cfa=rsp+16 rbp=c-16 ra=c-8 | 4:cfa=rbp+16 rbp=c-16 ra=c-8 | "
		  "44:cfa=rsp+8 rbp=c-16 ra=c-8",
		  0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x02, 0x40, 0x0c, 7, 8);
}

TEST(cfi_restores_a_remembered_state)
{
	CHECK_X86("0:cfa=rsp+8 ra=c-8 | 1:cfa=rsp+16 rbx=c-16 ra=c-8 | 10:cfa=rsp+8 ra=c-8 | "
		  "11:cfa=rsp+16 rbx=c-16 ra=c-8",
		  0x41, 0x0e, 16, 0x83, 2, 0x0a, 0x4f, 0x0e, 8, 0xc3, 0x41, 0x0b);
}

TEST(cfi_restores_the_rule_of_the_cie_not_the_default)
{
	struct fde fde = x86_fde(PROGRAM(0x41, 0x83, 5, 0x41, 0xc3));

	fde.cie.program = PROGRAM(X86_START, 0x83, 3);
	CHECK_STR(rows_of(&fde, &test_x86, 0), "0:cfa=rsp+8 rbx=c-24 ra=c-8 | 1:cfa=rsp+8 rbx=c-40 ra=c-8 | "
					       "2:cfa=rsp+8 rbx=c-24 ra=c-8");
}

TEST(cfi_scales_by_the_code_alignment)
{
	/* stp x29,x30,[sp,-32]!; then the pair is back */
	CHECK_ARM("0:cfa=sp+0 | 4:cfa=sp+32 x29=c-32 ra=c-24 | c:cfa=sp+0", 0x41, 0x0e, 32, 0x9d, 4, 0x9e, 3,
		  0x42, 0xde, 0xdd, 0x0e, 0);
}

TEST(cfi_recognises_a_signed_return_address)
{
	CHECK_ARM("0:cfa=sp+0 | 4:cfa=sp+0 signed | 8:cfa=sp+0", 0x41, 0x2d, 0x41, 0x2d);
	/* on x86-64 the same number is not defined */
	CHECK_X86("0:cfa=rsp+8 ra=c-8", 0x41, 0x2d);
}

TEST(cfi_ignores_vector_registers)
{
	/* d8 at c-16: register 72 */
	CHECK_ARM("0:cfa=sp+0", 0x41, 0x05, 72, 2);
}

TEST(cfi_marks_the_outermost_frame)
{
	CHECK_X86("0:cfa=rsp+8 ra=undefined", 0x07, 16);
	CHECK_ARM("0:cfa=sp+0 ra=undefined", 0x07, 30);
}

TEST(cfi_puts_the_cfa_above_the_return_address)
{
	/* as glibc describes _dl_runtime_resolve: x30 at c+8, pushed before it was entered */
	CHECK_ARM("0:cfa=sp+16 ra=c-8 | 4:cfa=sp+224 x8=c-224 ra=c-8", 0x11, 30, 0x7f, 0x41, 0x0e, 0xd0, 0x01,
		  0x88, 26);
}

TEST(cfi_reads_registers_saved_in_registers)
{
	CHECK_ARM("0:cfa=sp+0 ra=x9", 0x09, 30, 9);
}

TEST(cfi_reads_realigned_frames_without_an_evaluator)
{
	/* def_cfa_expression: breg6 -8; deref.  expression rbp: breg6 0 */
	CHECK_X86("0:cfa=*(rbp-8) rbp=*(rbp+0) ra=c-8", 0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0);
	/* anything longer stays an expression: breg7 8; breg16 0; plus */
	CHECK_X86("0:cfa=exp ra=c-8", 0x0f, 5, 0x77, 8, 0x80, 0, 0x22);
}

TEST(cfi_reads_values_relative_to_the_cfa)
{
	CHECK_X86("0:cfa=rsp+8 rsp=v+16 ra=c-8", 0x15, 7, 0x7e);
	CHECK_X86("0:cfa=rsp+8 rbx=vexp ra=c-8", 0x16, 3, 1, 0x30);
}

TEST(cfi_skips_argument_sizes)
{
	CHECK_X86("0:cfa=rsp+8 ra=c-8", 0x41, 0x2e, 32, 0x41);
}

TEST(cfi_sets_the_location)
{
	struct fde fde = x86_fde(PROGRAM(0x01, 0x20, 0x10, 0, 0, 0, 0, 0, 0, 0x0e, 16));

	CHECK_STR(rows_of(&fde, &test_x86, 0), "0:cfa=rsp+8 ra=c-8 | 20:cfa=rsp+16 ra=c-8");
	/* pc-relative: the operand is at 0x2001 */
	fde.program = PROGRAM(0x01, 0x1f, 0xf0, 0xff, 0xff, 0x0e, 16);
	fde.cie.address_encoding = 0x1b;
	CHECK_STR(rows_of(&fde, &test_x86, 0), "0:cfa=rsp+8 ra=c-8 | 20:cfa=rsp+16 ra=c-8");
}

TEST(cfi_stops_at_the_end_of_the_function)
{
	CHECK_X86("0:cfa=rsp+8 ra=c-8", 0x03, 0x00, 0x01, 0x0e, 99);
}

TEST(cfi_has_no_recipe_after_damage)
{
	struct fde fde = x86_fde(PROGRAM(0x41, 0x0e, 16, 0x41, 0x3e));

	CHECK_STR(rows_of(&fde, &test_x86, -EBADMSG), "0:cfa=rsp+8 ra=c-8 | 1:cfa=rsp+16 ra=c-8 | 2:none");
	fde.program = PROGRAM(0x0b);
	CHECK_STR(rows_of(&fde, &test_x86, -EBADMSG), "0:none");
	fde.program = PROGRAM(0x41, 0x0f, 200, 0x77);
	CHECK_STR(rows_of(&fde, &test_x86, -EBADMSG), "0:cfa=rsp+8 ra=c-8 | 1:none");
}

TEST(cfi_bounds_the_states_a_program_may_remember)
{
	uint8_t many[100];
	struct fde fde = x86_fde((struct bytes){ many, sizeof(many) });

	memset(many, 0x0a, sizeof(many));
	CHECK_STR(rows_of(&fde, &test_x86, -EBADMSG), "0:none");
}

TEST(cfi_marks_signal_frames)
{
	struct fde fde = x86_fde(PROGRAM(0));

	fde.cie.is_signal_frame = true;
	CHECK_STR(rows_of(&fde, &test_x86, 0), "0:cfa=rsp+8 ra=c-8 signal");
}

TEST(cfi_without_a_rule_for_a_pushed_return_address_gives_no_recipe)
{
	struct fde fde = x86_fde(PROGRAM(0));

	fde.cie.program = PROGRAM(0x0c, 7, 8);
	CHECK_STR(rows_of(&fde, &test_x86, 0), "0:none");
}
