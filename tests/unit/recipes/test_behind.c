/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/behind.h"

#include <string.h>

#include "tests/test.h"

#define CODE 0x7f0000001000u

static struct bytes code_at(void *context, uint64_t pc)
{
	const struct bytes *code = context;

	return pc < CODE ? (struct bytes){ 0 } : bytes_from(*code, pc - CODE);
}

/* The recipe after the last word, as text. */
static const char *behind(const uint32_t *words, size_t n, bool is_return)
{
	static char text[256];
	struct bytes code = { (const uint8_t *)words, 4 * n };
	struct recipes recipes;

	recipes_init(&recipes);
	uint32_t recipe = behind_recipe(&isa_aarch64, code_at, &code, CODE + 4 * n, is_return, &recipes);
	if (recipe == RECIPE_NONE)
		strcpy(text, "none");
	else
		recipe_format(&recipes, recipe, &isa_aarch64, text, sizeof(text));
	recipes_done(&recipes);
	return text;
}
#define BEHIND(...) \
	behind((const uint32_t[]){ __VA_ARGS__ }, sizeof((const uint32_t[]){ __VA_ARGS__ }) / 4, true)
#define BEHIND_INSIDE(...) \
	behind((const uint32_t[]){ __VA_ARGS__ }, sizeof((const uint32_t[]){ __VA_ARGS__ }) / 4, false)

#define UNDEFINED(reg) " x" #reg "=undefined"
#define FRAME                                                                                            \
	"cfa=x29+32" UNDEFINED(19) UNDEFINED(20) UNDEFINED(21) UNDEFINED(22) UNDEFINED(23) UNDEFINED(24) \
		UNDEFINED(25) UNDEFINED(26) UNDEFINED(27) UNDEFINED(28) " x29=c-32 ra=c-24"

enum {
	UDF = 0,
	NOP = 0xd503201f,
	RET = 0xd65f03c0,
	CALL = 0xd63f0060,      /* blr x3 */
	JUMP_X8 = 0xd61f0100,   /* br x8 */
	PUSH_PAIR = 0xa9be7bfd, /* stp x29, x30, [sp, #-32]! */
	SET_FP = 0x910003fd,    /* mov x29, sp */
	LOWER = 0xd10083ff,     /* sub sp, sp, #32 */
	PACIASP = 0xd503233f,
};

TEST(behind_finds_the_prologue_that_created_the_frame)
{
	CHECK_STR(BEHIND(UDF, PUSH_PAIR, SET_FP), FRAME);
	CHECK_STR(BEHIND(RET, PUSH_PAIR, SET_FP, LOWER, CALL, NOP), FRAME);
	/* whatever was pushed before has no part in it */
	CHECK_STR(BEHIND(LOWER, PACIASP, PUSH_PAIR, SET_FP, CALL), FRAME);
}

TEST(behind_finds_a_frame_record_among_other_saved_registers)
{
	/* sub sp, sp, #64; stp x29, x30, [sp, #32]; stp x20, x19, [sp, #48]; add x29, sp, #32 */
	CHECK_STR(BEHIND(RET, 0xd10103ff, 0xa9027bfd, 0xa9034ff4, 0x910083fd, CALL), FRAME);
}

TEST(behind_gives_no_recipe_after_an_unconditional_jump)
{
	CHECK_STR(BEHIND(UDF, PUSH_PAIR, SET_FP, RET, NOP), "none");
	CHECK_STR(BEHIND(UDF, PUSH_PAIR, SET_FP, JUMP_X8, NOP), "none");
	CHECK_STR(BEHIND(UDF, PUSH_PAIR, SET_FP, 0x14000001, NOP), "none"); /* b .+4 */
	CHECK_STR(BEHIND(NOP, NOP, NOP), "none");
}

TEST(behind_gives_no_recipe_if_the_frame_pointer_was_changed)
{
	CHECK_STR(BEHIND(UDF, PUSH_PAIR, SET_FP, 0xa8c27bfd, NOP), "none"); /* ldp x29, x30, [sp], #32 */
	CHECK_STR(BEHIND(UDF, PUSH_PAIR, SET_FP, 0xaa0003fd, NOP), "none"); /* mov x29, x0 */
	CHECK_STR(BEHIND(UDF, NOP, SET_FP, NOP), "none");                   /* nothing is saved */
	CHECK_STR(BEHIND(UDF, 0xa9be4ff4, SET_FP, NOP), "none");            /* other registers are saved */
	CHECK_STR(BEHIND(UDF, PUSH_PAIR, 0x910043fd, NOP), "none");         /* add x29, sp, #16 */
}

TEST(behind_does_not_look_across_a_call_in_a_function_that_may_have_no_frame)
{
	CHECK_STR(BEHIND_INSIDE(UDF, PUSH_PAIR, SET_FP, NOP), FRAME);
	CHECK_STR(BEHIND_INSIDE(UDF, PUSH_PAIR, SET_FP, CALL, NOP), "none");
	/* nor into one that has made another kind of frame: str x30, [sp, #-16]! */
	CHECK_STR(BEHIND(UDF, PUSH_PAIR, SET_FP, CALL, 0xf81f0ffe, NOP, CALL), "none");
}

static bool points_to_frame(const uint32_t *words, size_t n)
{
	struct bytes code = { (const uint8_t *)words, 4 * n };

	return behind_points_to_frame(&isa_aarch64, code_at, &code, CODE + 4 * n - 1);
}
#define POINTS(...) \
	points_to_frame((const uint32_t[]){ __VA_ARGS__ }, sizeof((const uint32_t[]){ __VA_ARGS__ }) / 4)

TEST(behind_determines_whether_the_frame_pointer_points_to_the_frame)
{
	CHECK(POINTS(PACIASP, PUSH_PAIR, SET_FP, LOWER, CALL));
	CHECK(POINTS(PACIASP, PUSH_PAIR, SET_FP, 0xa8c27bfd, RET, JUMP_X8, NOP, CALL)); /* another exit */
	CHECK(!POINTS(PUSH_PAIR, SET_FP, RET, PACIASP, NOP, CALL)); /* the prologue of another function */
	CHECK(!POINTS(PUSH_PAIR, SET_FP, RET, PUSH_PAIR, NOP, CALL));
	CHECK(!POINTS(NOP, NOP, CALL));
}

/* x86-64: the recipe `at` bytes after the start of a prologue as V8 generates it, or of code that looks like
 * one. */
static const char *in_prologue(const uint8_t *bytes, size_t n, size_t at)
{
	static char text[256];
	struct bytes code = { bytes, n };
	struct recipes recipes;

	recipes_init(&recipes);
	uint32_t recipe = behind_recipe(&isa_x86_64, code_at, &code, CODE + at, false, &recipes);
	if (recipe == RECIPE_NONE)
		strcpy(text, "none");
	else
		recipe_format(&recipes, recipe, &isa_x86_64, text, sizeof(text));
	recipes_done(&recipes);
	return text;
}

TEST(behind_recognises_prologues_of_code_that_cannot_be_decoded_backwards)
{
	static const uint8_t code[] = {
		0xe9, 0xb1, 0x44, 0xe5, 0x7f, /* 0 jmp elsewhere */
		0x55,                         /* 5 push %rbp */
		0x48, 0x89, 0xe5,             /* 6 mov %rsp, %rbp */
		0x56,                         /* 9 push %rsi */
		0x57,                         /* 10 push %rdi */
		0x48, 0x83, 0xec, 0x08,       /* 11 sub $8, %rsp */
		0x48, 0x89, 0x75, 0xe0,       /* 15 mov %rsi, -0x20(%rbp) */
		0xc3,                         /* 19 ret */
		0x90,                         /* 20 nop */
	};
	static const char framed[] = "cfa=rbp+16 rbx=undefined rbp=c-16 rsp=undefined r12=undefined"
				     " r13=undefined r14=undefined r15=undefined ra=c-8";

	CHECK_STR(in_prologue(code, sizeof(code), 0), "none");
	CHECK_STR(in_prologue(code, sizeof(code), 5), "cfa=rsp+8 rsp=undefined ra=c-8");
	CHECK_STR(in_prologue(code, sizeof(code), 6), "cfa=rsp+16 rbp=c-16 rsp=undefined ra=c-8");
	CHECK_STR(in_prologue(code, sizeof(code), 9), framed);
	CHECK_STR(in_prologue(code, sizeof(code), 11), framed);
	CHECK_STR(in_prologue(code, sizeof(code), 19), framed);
	CHECK_STR(in_prologue(code, sizeof(code), 20), "none"); /* after a return */
	CHECK_STR(in_prologue(code, sizeof(code), 8), "none");  /* inside an instruction */
	CHECK_STR(in_prologue(code, sizeof(code), 12), "none");
	/* After a call, it may be another function. */
	CHECK_STR(in_prologue((const uint8_t[]){ 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd0, 0x90 }, 7, 6), "none");
	/* The frame pointer is restored. */
	CHECK_STR(in_prologue((const uint8_t[]){ 0x55, 0x48, 0x89, 0xe5, 0x5d, 0xc3 }, 6, 5), "none");
	/* The frame pointer is set, but was not saved; it is saved, but not set. */
	CHECK_STR(in_prologue((const uint8_t[]){ 0x53, 0x48, 0x89, 0xe5, 0x56, 0xc3 }, 6, 5), "none");
	CHECK_STR(in_prologue((const uint8_t[]){ 0x55, 0x48, 0x89, 0xe0, 0x56, 0xc3 }, 6, 5), "none");
}
