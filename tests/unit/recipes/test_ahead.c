/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/ahead.h"

#include <string.h>

#include "tests/frame_maker.h"
#include "tests/test.h"

#define CODE 0x7f0000001000u

static struct bytes code_at(void *context, uint64_t pc)
{
	const struct bytes *code = context;

	return pc < CODE ? (struct bytes){ 0 } : bytes_from(*code, pc - CODE);
}

/* The recipe at an offset into the code, in words. */
static const char *recipe_in(const struct isa *isa, struct bytes code, uint64_t offset, bool is_return)
{
	static char text[256];
	struct ahead *ahead = ahead_new(isa, 1u << 15);
	struct recipes recipes;

	recipes_init(&recipes);
	uint32_t recipe = ahead_recipe(ahead, code_at, &code, CODE + offset, is_return, &recipes);
	if (recipe == RECIPE_NONE)
		strcpy(text, "none");
	else
		recipe_format(&recipes, recipe, isa, text, sizeof(text));
	recipes_done(&recipes);
	ahead_free(ahead);
	return text;
}

#define ARM(index, is_return, ...)                                                    \
	recipe_in(&isa_aarch64,                                                       \
		  (struct bytes){ (const uint8_t *)(const uint32_t[]){ __VA_ARGS__ }, \
				  sizeof((const uint32_t[]){ __VA_ARGS__ }) },        \
		  4 * (index), is_return)

enum {
	NOP = 0xd503201f,
	RET = 0xd65f03c0,
	PUSH_PAIR = 0xa9be7bfd, /* stp x29, x30, [sp, #-32]! */
	SET_FP = 0x910003fd,    /* mov x29, sp */
	POP_PAIR = 0xa8c27bfd,  /* ldp x29, x30, [sp], #32 */
	CALL = 0xd63f0060,      /* blr x3 */
	JUMP_X8 = 0xd61f0100,   /* br x8 */
	BACK_3 = 0x54ffffa1,    /* b.ne .-12 */
};

TEST(ahead_finds_the_frame_that_an_epilogue_releases)
{
	CHECK_STR(ARM(0, true, NOP, POP_PAIR, RET), "cfa=sp+32 x29=c-32 ra=c-24");
	CHECK_STR(ARM(0, false, NOP, POP_PAIR, RET), "cfa=sp+32 x29=c-32 ra=c-24");
	CHECK_STR(ARM(2, false, NOP, POP_PAIR, RET), "cfa=sp+0 ra=same");
}

TEST(ahead_tracks_saves_and_restores_on_its_path)
{
	CHECK_STR(ARM(0, false, PUSH_PAIR, SET_FP, CALL, POP_PAIR, RET), "cfa=sp+0 ra=same");
}

TEST(ahead_follows_branches_and_leaves_loops)
{
	CHECK_STR(ARM(0, true, NOP, NOP, NOP, BACK_3, POP_PAIR, RET), "cfa=sp+32 x29=c-32 ra=c-24");
	/* cbz x0, .+12; udf; nop; the exit */
	CHECK_STR(ARM(0, true, 0xb4000060, 0, NOP, POP_PAIR, RET), "cfa=sp+32 x29=c-32 ra=c-24");
}

TEST(ahead_does_not_assume_that_the_return_address_survives_a_call)
{
	CHECK_STR(ARM(0, true, NOP, RET), "none");
	CHECK_STR(ARM(0, false, CALL, RET), "none");
}

TEST(ahead_follows_a_return_through_another_register)
{
	const uint32_t ret_x15 = 0xd65f01e0;

	CHECK_STR(ARM(0, false, NOP, ret_x15), "cfa=sp+0 ra=x15");
	CHECK_STR(ARM(0, true, NOP, CALL, ret_x15), "cfa=sp+0 ra=x15");
	CHECK_STR(ARM(0, true, NOP, 0xaa0f03fe, RET), "cfa=sp+0 ra=x15"); /* mov x30, x15 */
	/* mov x15, x3: overwritten; ret x14: not known to be preserved by callees */
	CHECK_STR(ARM(0, true, NOP, 0xaa0303ef, CALL, ret_x15), "none");
	CHECK_STR(ARM(0, true, NOP, 0xd65f01c0), "none");
}

TEST(ahead_gives_no_recipe_if_exits_disagree)
{
	/* cbz x0, .+12; ldp; ret; ldp x29, x30, [sp], #16; ret */
	CHECK_STR(ARM(0, true, 0xb4000060, POP_PAIR, RET, 0xa8c17bfd, RET), "none");
}

TEST(ahead_takes_a_register_for_lost_if_exits_disagree_about_it)
{
	/* cbz x0, .+16; ldp x19, x20, [sp, #16]; ldp; ret; ldp; ret */
	CHECK_STR(ARM(0, true, 0xb4000080, 0xa94153f3, POP_PAIR, RET, POP_PAIR, RET),
		  "cfa=sp+32 x19=undefined x20=undefined x29=c-32 ra=c-24");
}

TEST(ahead_does_not_rely_on_memory_after_stores_that_it_cannot_track)
{
	enum { N_STORES = 25 };
	uint32_t code[N_STORES + 3];

	for (uint32_t i = 0; i < N_STORES; i++)
		code[i] = 0xf9000061 | i << 10; /* str x1, [x3, #8 * i] */
	code[N_STORES] = 0xa94153f3;            /* ldp x19, x20, [sp, #16] */
	code[N_STORES + 1] = POP_PAIR;
	code[N_STORES + 2] = RET;
	struct bytes bytes = { (const uint8_t *)code, sizeof(code) };
	CHECK_STR(recipe_in(&isa_aarch64, bytes, 0, false),
		  "cfa=sp+32 x19=undefined x20=undefined x29=c-32 ra=c-24");
	CHECK_STR(recipe_in(&isa_aarch64, bytes, 4, false), "cfa=sp+32 x19=c-16 x20=c-8 x29=c-32 ra=c-24");
}

TEST(ahead_knows_the_size_of_a_frame_that_is_too_large_for_an_immediate)
{
	/* mov x12, #0x1030, or w12; ldp x29, x30, [sp]; add sp, sp, x12; ret */
	CHECK_STR(ARM(0, true, 0xd282060c, 0xa9407bfd, 0x8b2c63ff, RET), "cfa=sp+4144 x29=c-4144 ra=c-4136");
	CHECK_STR(ARM(0, true, 0x5282060c, 0xa9407bfd, 0x8b2c63ff, RET), "cfa=sp+4144 x29=c-4144 ra=c-4136");
	/* mov x12, #0x1030; movk x12, #1, lsl #16: not followed */
	CHECK_STR(ARM(0, true, 0xd282060c, 0xf2a0002c, 0xa9407bfd, 0x8b2c63ff, RET),
		  "cfa=sp+0 x29=c+0 ra=c+8 sp=undefined");
}

TEST(ahead_treats_an_indirect_jump_as_an_exit_only_after_the_frame_is_released)
{
	CHECK_STR(ARM(0, false, NOP, JUMP_X8), "none");
	CHECK_STR(ARM(0, true, POP_PAIR, JUMP_X8), "cfa=sp+32 x29=c-32 ra=c-24");
}

TEST(ahead_treats_a_jump_after_the_frame_is_released_as_a_tail_call_or_shared_epilogue)
{
	/* ldp x29, x30, [sp], #32; b .+8; udf; then another function, which never returns */
	CHECK_STR(ARM(0, true, POP_PAIR, 0x14000002, 0, CALL, 0x14000000), "cfa=sp+32 x29=c-32 ra=c-24");
	/* ldp x29, x30, [sp]; b .+8; udf; add sp, sp, #48; ret */
	CHECK_STR(ARM(0, true, 0xa9407bfd, 0x14000002, 0, 0x9100c3ff, RET), "cfa=sp+48 x29=c-48 ra=c-40");
}

TEST(ahead_does_not_mistake_a_read_of_another_frame_for_an_epilogue)
{
	/* ldr x30, [x29, #8]; b .+8; udf; nop (eight more than an epilogue has); the exit */
	CHECK_STR(ARM(0, true, 0xf94007be, 0x14000002, 0, NOP, NOP, NOP, NOP, NOP, NOP, NOP, NOP, POP_PAIR,
		      RET),
		  "cfa=sp+32 x29=c-32 ra=c-24");
}

/* More branches ahead than are remembered, the last of which leads out; all others to a trap. */
TEST(ahead_keeps_the_branches_with_the_furthest_targets)
{
	uint32_t words[1200] = { 0 };

	for (uint32_t i = 0; i < 1000; i++)
		words[i] = 0xb4000000 | (1100 - i % 50 - i) << 5; /* cbz x0, one of fifty udf instructions */
	words[1000] = 0xb4000040;                                 /* cbz x0, .+8 */
	words[1001] = 0x14000000;                                 /* b . */
	words[1002] = POP_PAIR;
	words[1003] = RET;
	struct bytes code = { (const uint8_t *)words, sizeof(words) };
	CHECK_STR(recipe_in(&isa_aarch64, code, 0, true), "cfa=sp+32 x29=c-32 ra=c-24");
}

TEST(ahead_finds_the_return_address_in_its_register_at_an_entry)
{
	const uint32_t mark = 0xd503245f; /* bti c */

	CHECK_STR(ARM(2, false, mark, NOP, NOP, JUMP_X8), "cfa=sp+0 ra=same");
	CHECK_STR(ARM(2, false, NOP, NOP, NOP, JUMP_X8), "none");
	CHECK_STR(ARM(3, false, mark, CALL, NOP, NOP, JUMP_X8), "none");
	CHECK_STR(ARM(2, true, mark, NOP, NOP, JUMP_X8), "none");
	CHECK_STR(ARM(2, false, mark, 0xd10083ff, NOP, JUMP_X8), "none"); /* sub sp, sp, #32 */
}

/* Mono's delegates: mov %rdi, %rax; mov %rsi, %rdi; jmp *0x10(%rax) */
#define THUNK 0x48, 0x8b, 0xc7, 0x48, 0x8b, 0xfe, 0xff, 0x60, 0x10
#define ZEROS 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0

TEST(ahead_finds_the_return_address_on_top_of_the_stack_in_a_thunk)
{
	struct bytes thunk = PROGRAM(ZEROS, THUNK, ZEROS);

	CHECK_STR(recipe_in(&isa_x86_64, thunk, 16, false), "cfa=rsp+8 ra=c-8");
	CHECK_STR(recipe_in(&isa_x86_64, thunk, 22, false), "cfa=rsp+8 ra=c-8");
	CHECK_STR(recipe_in(&isa_x86_64, thunk, 21, false), "none"); /* inside an instruction */
	CHECK_STR(recipe_in(&isa_x86_64, thunk, 19, true), "none");
	/* Something else follows, or is before it. */
	CHECK_STR(recipe_in(&isa_x86_64, PROGRAM(ZEROS, THUNK, 0xc9, ZEROS), 16, false), "none");
	CHECK_STR(recipe_in(&isa_x86_64, PROGRAM(0x90, 0x90, 0x90, THUNK, ZEROS), 3, false), "none");
	/* push %rbx */
	CHECK_STR(recipe_in(&isa_x86_64, PROGRAM(ZEROS, 0x53, THUNK, ZEROS), 17, false), "none");
}

TEST(ahead_does_not_know_sp_if_a_variable_number_of_arguments_is_popped)
{
	/* mov sp, x29; ldp x29, x30, [sp], #16; add sp, sp, x3, lsl #3; ret */
	CHECK_STR(ARM(0, true, 0x910003bf, 0xa8c17bfd, 0x8b236fff, RET),
		  "cfa=x29+16 x29=c-16 ra=c-8 sp=undefined");
}

TEST(ahead_finds_the_caller_s_sp_in_a_slot)
{
	/* ldur x13, [x29, #-8]; ldp x29, x30, [x29]; mov sp, x13; ret */
	CHECK_STR(ARM(0, true, 0xf85f83ad, 0xa9407bbd, 0x910001bf, RET),
		  "cfa=*(x29-8) x29=*(x29+0) ra=*(x29+8)");
}

TEST(ahead_gives_no_recipe_if_the_code_ends)
{
	CHECK_STR(ARM(0, false, NOP, NOP), "none");
	CHECK_STR(ARM(5, false, NOP, NOP), "none");
	CHECK_STR(ARM(0, false, 0x14000000), "none"); /* b . */
}

TEST(ahead_unwinds_frames_of_x86)
{
	/* nop; add $0x18, %rsp; pop %rbp; ret */
	struct bytes code = PROGRAM(0x90, 0x48, 0x83, 0xc4, 0x18, 0x5d, 0xc3);

	CHECK_STR(recipe_in(&isa_x86_64, code, 0, true), "cfa=rsp+40 rbp=c-16 ra=c-8");
	CHECK_STR(recipe_in(&isa_x86_64, code, 5, false), "cfa=rsp+16 rbp=c-16 ra=c-8");
	CHECK_STR(recipe_in(&isa_x86_64, code, 6, false), "cfa=rsp+8 ra=c-8");
}

/* Code that was read from a process may contain anything, also sums that do not fit into a recipe. */
TEST(ahead_gives_no_recipe_for_frames_of_gigabytes)
{
	/* mov (%rdi), %rsp; add $0x3fffffff, %rsp, twice; ret */
	struct bytes code = PROGRAM(0x48, 0x8b, 0x27, 0x48, 0x81, 0xc4, 0xff, 0xff, 0xff, 0x3f, 0x48, 0x81,
				    0xc4, 0xff, 0xff, 0xff, 0x3f, 0xc3);

	CHECK_STR(recipe_in(&isa_x86_64, code, 0, true), "none");
	CHECK_STR(recipe_in(&isa_x86_64, code, 3, true), "none");
}

TEST(ahead_treats_an_indirect_jump_of_x86_as_an_exit_only_after_the_frame_is_left)
{
	/* test %rax, %rax; leave; jmp *%r11: a runtime's trampoline */
	CHECK_STR(recipe_in(&isa_x86_64, PROGRAM(0x48, 0x85, 0xc0, 0xc9, 0x41, 0xff, 0xe3), 0, true),
		  "cfa=rbp+16 rbp=c-16 ra=c-8");
	/* pop %rbp; pop %rbx; jmp *%r11: what was popped last need not be the whole frame */
	CHECK_STR(recipe_in(&isa_x86_64, PROGRAM(0x5d, 0x5b, 0x41, 0xff, 0xe3), 0, true), "none");
	CHECK_STR(recipe_in(&isa_x86_64, PROGRAM(0x41, 0xff, 0xe3), 0, false), "none");
}

/* HotSpot's stubs save all registers below their frame, and restore them before they leave it. */
TEST(ahead_leaves_a_frame_by_a_restored_frame_pointer)
{
	/* mov 0x50(%rsp), %rbp; add $0x78, %rsp; leave; ret */
	struct bytes code = PROGRAM(0x48, 0x8b, 0x6c, 0x24, 0x50, 0x48, 0x83, 0xc4, 0x78, 0xc9, 0xc3);

	CHECK_STR(recipe_in(&isa_x86_64, code, 0, true), "cfa=*(rsp+80)+16 rbp=c-16 ra=c-8");
	CHECK_STR(recipe_in(&isa_x86_64, code, 5, true), "cfa=rbp+16 rbp=c-16 ra=c-8");
}

TEST(ahead_does_not_take_the_next_function_for_the_end_of_this_one)
{
	/* jne .+6; add $0x18, %rsp; ret; call; then another function: sub $8, %rsp; add $8, %rsp; ret */
	struct bytes code = PROGRAM(0x75, 0x05, 0x48, 0x83, 0xc4, 0x18, 0xc3, 0xe8, 0, 0, 0x10, 0, 0x48, 0x83,
				    0xec, 8, 0x48, 0x83, 0xc4, 8, 0xc3);

	CHECK_STR(recipe_in(&isa_x86_64, code, 0, true), "cfa=rsp+32 ra=c-8");
	CHECK_STR(recipe_in(&isa_x86_64, code, 0, false), "none"); /* a stub may have no frame */
}

TEST(ahead_does_not_follow_a_call_that_never_returns_if_exits_disagree)
{
	/* jne .+7; leave; ret; nop; call thrower; then what is not reached: add $0x18, %rsp; ret */
	uint8_t code[] = { 0x75, 0x05, 0xc9, 0xc3, 0x0f, 0x1f, 0x00, 0xe8, 5, 0, 0, 0, 0x48, 0x83, 0xc4, 0x18,
			   0xc3,
			   /* thrower: sub $8, %rsp; call *%rax; int3 */
			   0x48, 0x83, 0xec, 8, 0xff, 0xd0, 0xcc };
	struct bytes bytes = { code, sizeof(code) };

	CHECK_STR(recipe_in(&isa_x86_64, bytes, 0, true), "cfa=rbp+16 rbp=c-16 ra=c-8");
	code[sizeof(code) - 1] = 0xc3; /* ret */
	CHECK_STR(recipe_in(&isa_x86_64, bytes, 0, true), "none");
}
