/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small AArch64 program, built by hand. A call leaves the return address in x30: a leaf function keeps it
 * there, all others store it in memory.
 */
#include "tests/frame_maker.h"
#include "tests/unit/unwinder/scene.h"

#define BIAS 0xaaaa00000000u
#define STACK 0xffffc0001000u
#define PROBES 0xfffffffff000u /* where the kernel usually maps [uprobes] */

enum { X14 = 14, X15 = 15, X19 = 19, X29 = 29, X30 = 30, SP = 31, PC = 32 };

/* vaddrs */
enum {
	START = 0x1000,
	START_CALLS = 0x1004,
	OUTER = 0x1100,
	OUTER_CALLS = 0x1108,
	LEAF = 0x1200,
	LIAR_CALLS = 0x1304, /* makes a call, but its unwind entry has the return address in x30 */
	TRAMPOLINE = 0x1400,
	HEAD = 0x1500,
	INDIRECT_CALLS = 0x1604,
	BY_HAND = 0x1700, /* has no frame: saves its return address in x15 while a helper runs */
	BY_HAND_CALLS = 0x1708,
	HELPER = 0x1720,
	BY_HAND_CALLED = 0x1744,
	CARELESS = 0x1760, /* like BY_HAND, but its helper changes x15 */
	CARELESS_CALLS = 0x1768,
	GREEDY = 0x1780,
	CARELESS_CALLED = 0x17a4,
	OVER_TWO = 0x17c0, /* saves its return address in x15, and calls a function that saves its own in x14
			      and calls the helper */
	OVER_TWO_CALLS = 0x17c8,
	OVER_ONE = 0x17e0,
	OVER_ONE_CALLS = 0x17e8,
	OVER_TWO_CALLED = 0x1804,
	THROUGH = 0x1900, /* like BY_HAND, but its helper falls through to another */
	THROUGH_CALLS = 0x1908,
	THROUGH_FIRST = 0x1910,
	THROUGH_SECOND = 0x1914,
	THROUGH_CALLED = 0x1924,
	JUMPS_ON = 0x1940, /* calls the helper twice, then tail-calls it */
	JUMPS_ON_CALLS = 0x194c,
	JUMPS_ON_CALLED = 0x1964,
	IN_GAP = 0x1980, /* has no unwind entry; reached by a jump, with the return address in x15 */
	IN_GAP_CALLS = 0x1988,
};

static void put(uint8_t *text, uint64_t vaddr, const uint32_t *words, size_t n)
{
	memcpy(text + (vaddr - TEXT), words, n * 4);
}
#define PUT(vaddr, ...) \
	put(text, vaddr, (const uint32_t[]){ __VA_ARGS__ }, sizeof((const uint32_t[]){ __VA_ARGS__ }) / 4)

static void write_text(uint8_t *text)
{
	memset(text, 0, TEXT_SIZE);
	PUT(START, 0x94000040, 0xd4200000); /* bl outer; brk */
	PUT(OUTER, 0xa9be7bfd, 0x9400003f, 0xa8c27bfd,
	    0xd65f03c0);                         /* stp x29,x30,[sp,-32]!; bl leaf; ldp; ret */
	PUT(LEAF, 0xd503201f, 0xd65f03c0);       /* nop; ret */
	PUT(0x1300, 0x97ffffc0, 0xd65f03c0);     /* bl leaf; ret */
	PUT(TRAMPOLINE, 0xd2801168, 0xd4000001); /* mov x8, #139; svc #0 */
	PUT(0x1600, 0xd63f0000, 0xd65f03c0);     /* blr x0; ret */
	PUT(BY_HAND, 0xaa1e03ef, 0x94000007, 0xaa0f03fe,
	    0xd65f03c0);                                 /* mov x15,x30; bl helper; mov x30,x15; ret */
	PUT(HELPER, 0x91000400, 0xd65f03c0);             /* add x0,x0,#1; ret */
	PUT(BY_HAND_CALLED - 4, 0x97fffff0, 0xd4200000); /* bl by_hand; brk */
	PUT(CARELESS, 0xaa1e03ef, 0x94000007, 0xaa0f03fe, 0xd65f03c0);
	PUT(GREEDY, 0x9100040f, 0xd65f03c0); /* add x15,x0,#1; ret */
	PUT(CARELESS_CALLED - 4, 0x97fffff0, 0xd4200000);
	PUT(OVER_TWO, 0xaa1e03ef, 0x94000007, 0xd65f01e0); /* mov x15,x30; bl over_one; ret x15 */
	PUT(OVER_ONE, 0xaa1e03ee, 0x97ffffcf, 0xd65f01c0); /* mov x14,x30; bl helper; ret x14 */
	PUT(OVER_TWO_CALLED - 4, 0x97fffff0, 0xd4200000);
	PUT(THROUGH, 0xaa1e03ef, 0x94000003, 0xd65f01e0); /* mov x15,x30; bl first; ret x15 */
	PUT(THROUGH_FIRST, 0x91000400);                   /* add x0,x0,#1 */
	PUT(THROUGH_SECOND, 0x91000400, 0xd65f03c0);      /* add x0,x0,#1; ret */
	PUT(THROUGH_CALLED - 4, 0x97fffff8, 0xd4200000);
	PUT(JUMPS_ON, 0xaa1e03ef, 0x97ffff77, 0x97ffff76, 0xaa0f03fe,
	    0x17ffff74); /* mov x15,x30; bl helper; bl helper; mov x30,x15; b helper */
	PUT(JUMPS_ON_CALLED - 4, 0x97fffff8, 0xd4200000);
	PUT(IN_GAP, 0xd503201f, 0x97ffff67, 0xd503201f, 0xd65f01e0); /* nop; bl helper; nop; ret x15 */
	/* stp x16,x30,[sp,-16]!; adrp x16; ldr x17,[x16]; add x16,x16; br x17; nop; nop; nop */
	PUT(HEAD, 0xa9bf7bf0, 0x90000010, 0xf9400211, 0x91000210, 0xd61f0220, 0xd503201f, 0xd503201f,
	    0xd503201f);
}

static void write_frames(struct writer *eh)
{
	size_t cie = frame_cie(eh, "zR", 4, -8, 30, PROGRAM(0x0c, 31, 0));

	frame_fde(eh, EH, cie, START, 8, 0, PROGRAM(0x07, 30));
	frame_fde(eh, EH, cie, OUTER, 16, 0,
		  PROGRAM(0x41, 0x0e, 32, 0x9d, 4, 0x9e, 3, 0x42, 0xde, 0xdd, 0x0e, 0));
	frame_fde(eh, EH, cie, LEAF, 8, 0, PROGRAM(0));
	frame_fde(eh, EH, cie, 0x1300, 8, 0, PROGRAM(0));
	frame_fde(eh, EH, cie, OVER_TWO, 12, 0, PROGRAM(0));
	frame_fde(eh, EH, cie, OVER_ONE, 12, 0, PROGRAM(0));
	frame_fde(eh, EH, cie, OVER_TWO_CALLED - 4, 8, 0, PROGRAM(0x07, 30));
	frame_fde(eh, EH, cie, THROUGH, 12, 0, PROGRAM(0));
	frame_fde(eh, EH, cie, THROUGH_FIRST, 4, 0, PROGRAM(0));
	frame_fde(eh, EH, cie, THROUGH_SECOND, 8, 0, PROGRAM(0));
	frame_fde(eh, EH, cie, THROUGH_CALLED - 4, 8, 0, PROGRAM(0x07, 30));
	frame_fde(eh, EH, cie, JUMPS_ON, 20, 0, PROGRAM(0));
	frame_fde(eh, EH, cie, JUMPS_ON_CALLED - 4, 8, 0, PROGRAM(0x07, 30));
	for (uint64_t function = BY_HAND; function <= CARELESS; function += CARELESS - BY_HAND) {
		frame_fde(eh, EH, cie, function, 16, 0, PROGRAM(0));
		frame_fde(eh, EH, cie, function + HELPER - BY_HAND, 8, 0, PROGRAM(0));
		frame_fde(eh, EH, cie, function + BY_HAND_CALLED - 4 - BY_HAND, 8, 0, PROGRAM(0x07, 30));
	}
}

static struct scene scene_of(enum unwind_mode mode)
{
	static const struct scene_program program = { &isa_aarch64, 0, BIAS, write_text, write_frames };
	struct scene s = scene_new(&program, &(struct unwinder_options){ .mode = mode });

	s.event.sample.regs.known = UINT64_MAX >> (64 - REG_MAX);
	s.event.sample.regs.value[SP] = STACK;
	return s;
}

static struct scene scene(void)
{
	return scene_of(UNWIND_CFI);
}

static void walk(struct scene *s, uint64_t vaddr, uint64_t x30, const uint64_t *words, size_t n)
{
	s->event.sample.regs.value[PC] = BIAS + vaddr;
	s->event.sample.regs.value[X30] = x30;
	scene_walk(s, words, n);
}
#define WALK(s, vaddr, x30, ...) \
	walk(s, vaddr, x30, (const uint64_t[]){ __VA_ARGS__ }, sizeof((const uint64_t[]){ __VA_ARGS__ }) / 8)

TEST(walk_unwinds_a_leaf_by_its_register_without_moving_sp)
{
	struct scene s = scene();

	WALK(&s, LEAF, BIAS + OUTER_CALLS, 0, BIAS + START_CALLS, 0, 0);
	CHECK_END(&s, STACK_COMPLETE, 3);
	CHECK_EQ(s.stack.frames.at[1].vaddr, OUTER_CALLS);
	CHECK_EQ(s.stack.frames.at[2].vaddr, START_CALLS);
	scene_done(&s);
}

TEST(walk_unwinds_a_function_that_has_not_saved_anything_yet)
{
	struct scene s = scene();

	WALK(&s, OUTER, BIAS + START_CALLS, 0, 0);
	CHECK_END(&s, STACK_COMPLETE, 2);
	/* and after it has restored everything */
	WALK(&s, OUTER + 12, BIAS + START_CALLS, 0, 0);
	CHECK_END(&s, STACK_COMPLETE, 2);
	scene_done(&s);
}

TEST(walk_does_not_assume_that_x30_survives_a_call)
{
	struct scene s = scene();

	WALK(&s, LEAF, BIAS + LIAR_CALLS, 0, 0);
	CHECK_END(&s, STACK_NO_RECIPE, 2);
	scene_done(&s);
}

TEST(walk_removes_authentication_bits)
{
	struct scene s = scene();

	WALK(&s, LEAF, (0x35ull << 48) | (BIAS + OUTER_CALLS), 0, (0x7bull << 48) | (BIAS + START_CALLS), 0,
	     0);
	CHECK_END(&s, STACK_COMPLETE, 3);
	CHECK_EQ(s.stack.frames.at[1].pc, BIAS + OUTER_CALLS);
	CHECK_EQ(s.stack.frames.at[2].pc, BIAS + START_CALLS);
	scene_done(&s);
}

TEST(walk_finds_x30_live_again_after_a_signal_frame)
{
	struct scene s = scene();
	uint64_t words[110] = { 0 };
	uint64_t *saved = words + (128 + 184) / 8;

	/* the handler is leaf, returning to the trampoline; leaf itself was interrupted */
	saved[30] = BIAS + OUTER_CALLS;
	saved[31] = STACK + 80 * 8;
	saved[32] = BIAS + LEAF;
	words[80 + 1] = BIAS + START_CALLS;
	walk(&s, LEAF, BIAS + TRAMPOLINE, words, ARRAY_LEN(words));
	CHECK_END(&s, STACK_COMPLETE, 5);
	CHECK_EQ(s.stack.frames.at[1].vaddr, TRAMPOLINE);
	CHECK_EQ(s.stack.frames.at[2].vaddr, LEAF);
	CHECK(!s.stack.frames.at[2].is_return);
	CHECK_EQ(s.stack.frames.at[3].vaddr, OUTER_CALLS);
	scene_done(&s);
}

TEST(walk_reports_where_a_signal_frame_stores_the_interrupted_sp)
{
	struct scene s = scene();
	uint64_t words[110] = { 0 };
	uint64_t *saved = words + (128 + 184) / 8;

	saved[30] = BIAS + OUTER_CALLS;
	saved[31] = STACK + 0x100000;
	saved[32] = BIAS + LEAF;
	walk(&s, LEAF, BIAS + TRAMPOLINE, words, ARRAY_LEN(words));
	CHECK_END(&s, STACK_BAD_READ, 4);
	CHECK_EQ(s.stack.elsewhere, STACK + 128 + 184 + 8 * 31);

	/* The same, where that stack was copied too. */
	uint64_t page[STACK_PAGE / 8] = { 0 };
	struct stack_page pages = { (const uint8_t *)page, 1 };
	page[1] = BIAS + START_CALLS;
	saved[31] = 0xffffd0000000;
	s.event.sample.deep = &pages;
	s.event.sample.n_deep = 1;
	s.event.sample.deep_start = 0xffffd0000000;
	walk(&s, LEAF, BIAS + TRAMPOLINE, words, ARRAY_LEN(words));
	CHECK_END(&s, STACK_COMPLETE, 5);
	CHECK_EQ(s.stack.elsewhere, 0);
	scene_done(&s);
}

TEST(walk_unwinds_the_plt_header_before_and_after_its_push)
{
	struct scene s = scene();

	WALK(&s, HEAD, BIAS + INDIRECT_CALLS, 0, 0);
	CHECK_EQ(s.stack.frames.at[1].vaddr, INDIRECT_CALLS);
	CHECK_EQ(s.stack.frames.at[0].witness, WITNESS_TEMPLATE);
	WALK(&s, HEAD + 8, 0, 7, BIAS + INDIRECT_CALLS, 0, 0);
	CHECK_EQ(s.stack.frames.at[1].vaddr, INDIRECT_CALLS);
	scene_done(&s);
}

TEST(walk_finds_a_return_address_that_hand_written_code_saves_in_a_register)
{
	struct scene s = scene_of(UNWIND_AUTO);

	s.event.sample.regs.value[X15] = BIAS + BY_HAND_CALLED;
	WALK(&s, HELPER + 4, BIAS + BY_HAND_CALLS, 0, 0);
	CHECK_END(&s, STACK_COMPLETE, 3);
	CHECK_EQ(s.stack.frames.at[1].vaddr, BY_HAND_CALLS);
	CHECK_EQ(s.stack.frames.at[2].vaddr, BY_HAND_CALLED);
	scene_done(&s);
}

TEST(walk_finds_it_after_the_second_call_if_the_code_ends_in_a_tail_call)
{
	struct scene s = scene_of(UNWIND_AUTO);

	s.event.sample.regs.value[X15] = BIAS + JUMPS_ON_CALLED;
	WALK(&s, HELPER + 4, BIAS + JUMPS_ON_CALLS, 0, 0);
	CHECK_END(&s, STACK_COMPLETE, 3);
	CHECK_EQ(s.stack.frames.at[2].vaddr, JUMPS_ON_CALLED);
	scene_done(&s);
}

TEST(walk_unwinds_code_without_an_unwind_entry_by_analysing_the_code_ahead)
{
	struct scene s = scene_of(UNWIND_AUTO);

	s.event.sample.regs.value[X15] = BIAS + JUMPS_ON_CALLED;
	WALK(&s, HELPER + 4, BIAS + IN_GAP_CALLS, 0, 0);
	CHECK_END(&s, STACK_COMPLETE, 3);
	CHECK_EQ(s.stack.frames.at[1].vaddr, IN_GAP_CALLS);
	CHECK_EQ(s.stack.frames.at[2].vaddr, JUMPS_ON_CALLED);
	/* not if the helper had changed the register */
	WALK(&s, GREEDY + 4, BIAS + IN_GAP_CALLS, 0, 0);
	CHECK(s.stack.end != STACK_COMPLETE);
	scene_done(&s);
}

TEST(walk_keeps_registers_over_a_helper_that_falls_through_to_another)
{
	struct scene s = scene_of(UNWIND_AUTO);

	s.event.sample.regs.value[X15] = BIAS + THROUGH_CALLED;
	WALK(&s, THROUGH_SECOND + 4, BIAS + THROUGH_CALLS, 0, 0);
	CHECK_END(&s, STACK_COMPLETE, 3);
	CHECK_EQ(s.stack.frames.at[2].vaddr, THROUGH_CALLED);
	/* not what a call of something else has led to */
	WALK(&s, HELPER + 4, BIAS + THROUGH_CALLS, 0, 0);
	CHECK(s.stack.end != STACK_COMPLETE);
	scene_done(&s);
}

TEST(walk_keeps_registers_over_several_frames)
{
	struct scene s = scene_of(UNWIND_AUTO);

	s.event.sample.regs.value[X14] = BIAS + OVER_TWO_CALLS;
	s.event.sample.regs.value[X15] = BIAS + OVER_TWO_CALLED;
	WALK(&s, HELPER + 4, BIAS + OVER_ONE_CALLS, 0, 0);
	CHECK_END(&s, STACK_COMPLETE, 4);
	CHECK_EQ(s.stack.frames.at[2].vaddr, OVER_TWO_CALLS);
	CHECK_EQ(s.stack.frames.at[3].vaddr, OVER_TWO_CALLED);
	scene_done(&s);
}

TEST(walk_does_not_use_a_register_that_the_callee_changes)
{
	struct scene s = scene_of(UNWIND_AUTO);

	s.event.sample.regs.value[X15] = BIAS + CARELESS_CALLED;
	WALK(&s, GREEDY + 4, BIAS + CARELESS_CALLS, 0, 0);
	CHECK_END(&s, STACK_NO_RECIPE, 2);
	scene_done(&s);
}

TEST(walk_ends_at_the_arguments_of_the_program)
{
	struct scene s = scene();

	/* outer's frame of 32 bytes, jumped to from the entry point: two arguments, a zero, the environment
	 */
	WALK(&s, LEAF, BIAS + OUTER_CALLS, 0, 0, 0, 0, 2, STACK + 200, STACK + 208, 0, STACK + 216);
	CHECK_END(&s, STACK_COMPLETE, 2);
	/* zeros alone prove nothing */
	WALK(&s, LEAF, BIAS + OUTER_CALLS, 0, 0, 0, 0, 2, STACK + 200, STACK + 208, 7, STACK + 216);
	CHECK_END(&s, STACK_INVALID_STEP, 2);
	WALK(&s, LEAF, BIAS + OUTER_CALLS, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	CHECK_END(&s, STACK_INVALID_STEP, 2);
	scene_done(&s);
}

TEST(walk_ends_at_a_return_probe_without_its_address)
{
	struct scene s = scene();
	image_id id = images_add_pseudo(s.images, IMAGE_UNKNOWN, "[uprobes]", NULL);

	scene_map(
		&s,
		&(struct mapping){
			.start = PROBES, .len = 0x1000, .image = id, .bias = PROBES, .is_executable = true });
	WALK(&s, LEAF, PROBES, 0, 0);
	CHECK_END(&s, STACK_NO_IMAGE, 2);
	CHECK_EQ(s.stack.frames.at[0].verdict, VERDICT_VALID);
	CHECK_EQ(s.stack.frames.at[1].vaddr, 0);
	CHECK(!s.stack.frames.at[1].is_return); /* no call precedes it */
	scene_done(&s);
}

TEST(walk_continues_at_a_return_probe_with_its_address)
{
	const struct hidden_return hidden[] = { { STACK, BIAS + OUTER_CALLS, false } };
	struct scene s = scene();
	image_id id = images_add_pseudo(s.images, IMAGE_UNKNOWN, "[uprobes]", NULL);

	scene_map(
		&s,
		&(struct mapping){
			.start = PROBES, .len = 0x1000, .image = id, .bias = PROBES, .is_executable = true });
	s.event.sample.hidden = hidden;
	s.event.sample.n_hidden = 1;
	WALK(&s, LEAF, PROBES, 0, BIAS + START_CALLS, 0, 0);
	CHECK_END(&s, STACK_COMPLETE, 3);
	CHECK_EQ(s.stack.frames.at[1].vaddr, OUTER_CALLS);
	/* leaf has returned to the trampoline */
	WALK(&s, PROBES - BIAS, PROBES, 0, BIAS + START_CALLS, 0, 0);
	CHECK_END(&s, STACK_COMPLETE, 2);
	CHECK_EQ(s.stack.frames.at[0].vaddr, OUTER_CALLS);
	scene_done(&s);
}

/* ---- chains that the kernel unwound by frame pointers ------------------------------------------ */

static void chain(struct scene *s, uint64_t x30, const uint64_t *pcs, uint32_t n)
{
	s->event.sample.regs.known = x30 ? 1ull << X30 : 0; /* as recorded by perf */
	s->event.sample.regs.value[X30] = x30;
	s->event.sample.user_pc = pcs;
	s->event.sample.n_user_pc = n;
	s->event.sample.has_frame_chain = true;
	unwinder_walk(s->unwinder, &s->event, &s->stack);
}
#define CHAIN(s, x30, ...)                               \
	chain(s, x30, (const uint64_t[]){ __VA_ARGS__ }, \
	      (uint32_t)(sizeof((const uint64_t[]){ __VA_ARGS__ }) / 8))

TEST(walk_adds_the_caller_of_a_leaf_that_a_chain_skips)
{
	struct scene s = scene();

	CHAIN(&s, BIAS + OUTER_CALLS, BIAS + LEAF, BIAS + START_CALLS);
	CHECK_END(&s, STACK_COMPLETE, 3);
	CHECK_EQ(s.stack.frames.at[1].vaddr, OUTER_CALLS);
	CHECK(s.stack.frames.at[1].is_return);
	CHECK_EQ(s.stack.frames.at[0].witness, WITNESS_CFI);
	CHAIN(&s, (0x35ull << 48) | (BIAS + OUTER_CALLS), BIAS + LEAF, BIAS + START_CALLS);
	CHECK_END(&s, STACK_COMPLETE, 3);
	CHECK_EQ(s.stack.frames.at[1].pc, BIAS + OUTER_CALLS);
	/* Before a function has saved anything, and after it has restored everything. */
	CHAIN(&s, BIAS + START_CALLS, BIAS + OUTER);
	CHECK_END(&s, STACK_COMPLETE, 2);
	CHAIN(&s, BIAS + START_CALLS, BIAS + OUTER + 12);
	CHECK_END(&s, STACK_COMPLETE, 2);
	scene_done(&s);
}

TEST(walk_adds_the_caller_of_a_function_whose_frame_pointer_is_not_set_yet)
{
	struct scene s = scene();

	CHAIN(&s, BIAS + START_CALLS, BIAS + OUTER + 4);
	CHECK_END(&s, STACK_COMPLETE, 2);
	CHAIN(&s, BIAS + START_CALLS, BIAS + OUTER + 4, BIAS + START_CALLS); /* it is set */
	CHECK_END(&s, STACK_COMPLETE, 2);
	CHAIN(&s, BIAS + OUTER_CALLS, BIAS + OUTER_CALLS, BIAS + START_CALLS); /* it has made a call */
	CHECK_END(&s, STACK_COMPLETE, 2);
	scene_done(&s);
}

TEST(walk_adds_no_caller_that_did_not_call)
{
	struct scene s = scene();

	CHAIN(&s, BIAS + START_CALLS, BIAS + LEAF, BIAS + START_CALLS);
	CHECK_END(&s, STACK_INVALID_STEP, 1);
	CHAIN(&s, 1234, BIAS + LEAF, BIAS + START_CALLS);
	CHECK_END(&s, STACK_INVALID_STEP, 1);
	CHAIN(&s, 0, BIAS + LEAF, BIAS + START_CALLS);
	CHECK_END(&s, STACK_INVALID_STEP, 1);
	scene_done(&s);
}
