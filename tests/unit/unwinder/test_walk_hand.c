/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hand-written code, for AArch64: an interpreter with a single unwind entry, and code without a frame that
 * saves its return address in a callee-saved register. And the stack of a coroutine, which has no caller.
 */
#include "tests/frame_maker.h"
#include "tests/unit/unwinder/scene.h"

#define BIAS 0xaaaa00000000u
#define STACK 0xffffc0001000u
#define JIT 0x10000u /* code without a file, which cannot be read */

enum { X19 = 19, X20 = 20, X29 = 29, X30 = 30, SP = 31, PC = 32 };

/* vaddrs */
enum {
	START = 0x1000,
	START_CALLS = 0x1004,
	INTERPRETER = 0x1100, /* its unwind row is x29 + 16 throughout */
	INTERPRETER_CALLS = 0x1108,
	INTERPRETER_CALLS_C = 0x110c,
	SUBROUTINE = 0x1110,
	ENTRY = 0x1120,  /* creates the interpreter's frame */
	LEAVES = 0x1140, /* releases it */
	INTERPRETER_END = 0x1150,
	CALLER = 0x1200, /* runs the interpreter again */
	CALLER_CALLS = 0x120c,
	C_CALL = 0x1300, /* from managed code to C, return address in x19 */
	C_CALL_CALLS = 0x1308,
	OTHER_CALL = 0x1320, /* the same, in x20 */
	OTHER_CALL_CALLS = 0x1328,
	MANAGED = 0x1340,
	MANAGED_CALLS = 0x134c,
	BEGIN = 0x1380,
	BEGIN_CALLS = 0x1384,
	C_FUNCTION = 0x1400,
	EARLY = 0x1500, /* its unwind row has the return address saved too early */
	EARLY_CALLED = 0x1544,
	EARLY_CALLED_BEFORE = 0x1564,
	RUNS_JIT = 0x15c0, /* its CFA is sp + 32 and x29 + 32 */
	RUNS_JIT_CALLS = 0x15cc,
	RUNS_JIT_CALLED = 0x1604,
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
	PUT(START, 0x94000048, 0xd4200000); /* bl entry; brk */
	/* nop; bl subroutine; blr x9; br x8 */
	PUT(INTERPRETER, 0xd503201f, 0x94000003, 0xd63f0120, 0xd61f0100);
	PUT(SUBROUTINE, 0x91000400, 0xd65f03c0); /* add x0,x0,#1; ret */
	/* sub sp,sp,#32; stp x29,x30,[sp,#16]; add x29,sp,#16; nop; br x8 */
	PUT(ENTRY, 0xd10083ff, 0xa9017bfd, 0x910043fd, 0xd503201f, 0xd61f0100);
	PUT(LEAVES, 0xa9417bfd, 0x910083ff, 0xd65f03c0); /* ldp x29,x30,[sp,#16]; add sp,sp,#32; ret */
	/* stp x29,x30,[sp,#-32]!; mov x29,sp; bl entry; ldp x29,x30,[sp],#32; ret */
	PUT(CALLER, 0xa9be7bfd, 0x910003fd, 0x97ffffc6, 0xa8c27bfd, 0xd65f03c0);
	PUT(C_CALL, 0xaa1e03f3, 0xd63f0100, 0xd65f0260);     /* mov x19,x30; blr x8; ret x19 */
	PUT(OTHER_CALL, 0xaa1e03f4, 0xd63f0100, 0xd65f0280); /* mov x20,x30; blr x8; ret x20 */
	/* sub sp,sp,#16; str x30,[sp,#8]; bl c_call; ldr x30,[sp,#8]; add sp,sp,#16; ret */
	PUT(MANAGED, 0xd10043ff, 0xf90007fe, 0x97ffffee, 0xf94007fe, 0x910043ff, 0xd65f03c0);
	PUT(BEGIN, 0x97fffff0, 0xd4200000); /* bl managed; brk */
	/* stp x29,x30,[sp,#-16]!; nop; ldp x29,x30,[sp],#16; ret */
	PUT(C_FUNCTION, 0xa9bf7bfd, 0xd503201f, 0xa8c17bfd, 0xd65f03c0);
	/* sub sp,sp,#16; str x30,[sp,#8]; nop; br x8 */
	PUT(EARLY, 0xd10043ff, 0xf90007fe, 0xd503201f, 0xd61f0100);
	PUT(EARLY_CALLED - 4, 0x97fffff0, 0xd4200000);        /* bl early; brk */
	PUT(EARLY_CALLED_BEFORE - 4, 0x97ffffe8, 0xd4200000); /* bl early; brk */
	/* stp x29,x30,[sp,#-32]!; mov x29,sp; blr x0; ldp x29,x30,[sp],#32; ret */
	PUT(RUNS_JIT, 0xa9be7bfd, 0x910003fd, 0xd63f0000, 0xa8c27bfd, 0xd65f03c0);
	PUT(RUNS_JIT_CALLED - 4, 0x97fffff0, 0xd4200000); /* bl runs_jit; brk */
}

static void write_frames(struct writer *eh)
{
	size_t cie = frame_cie(eh, "zR", 4, -8, 30, PROGRAM(0x0c, 31, 0));

	frame_fde(eh, EH, cie, START, 8, 0, PROGRAM(0x07, 30));
	frame_fde(eh, EH, cie, INTERPRETER, INTERPRETER_END - INTERPRETER, 0,
		  PROGRAM(0x0c, 29, 16, 0x9e, 1, 0x9d, 2));
	frame_fde(eh, EH, cie, CALLER, 20, 0,
		  PROGRAM(0x41, 0x0e, 32, 0x9d, 4, 0x9e, 3, 0x43, 0xde, 0xdd, 0x0e, 0));
	frame_fde(eh, EH, cie, C_CALL, 12, 0, PROGRAM(0x41, 0x09, 30, 19));
	frame_fde(eh, EH, cie, OTHER_CALL, 12, 0, PROGRAM(0x41, 0x09, 30, 20));
	frame_fde(eh, EH, cie, MANAGED, 24, 0, PROGRAM(0x41, 0x0e, 16, 0x41, 0x9e, 1, 0x43, 0xde, 0x0e, 0));
	frame_fde(eh, EH, cie, BEGIN, 8, 0, PROGRAM(0x07, 30));
	frame_fde(eh, EH, cie, EARLY, 16, 0, PROGRAM(0x41, 0x0e, 16, 0x9e, 1));
	frame_fde(eh, EH, cie, EARLY_CALLED - 4, 8, 0, PROGRAM(0x07, 30));
	frame_fde(eh, EH, cie, EARLY_CALLED_BEFORE - 4, 8, 0, PROGRAM(0x07, 30));
	frame_fde(eh, EH, cie, RUNS_JIT, 20, 0,
		  PROGRAM(0x41, 0x0e, 32, 0x9d, 4, 0x9e, 3, 0x43, 0xde, 0xdd, 0x0e, 0));
	frame_fde(eh, EH, cie, RUNS_JIT_CALLED - 4, 8, 0, PROGRAM(0x07, 30));
	frame_fde(eh, EH, cie, C_FUNCTION, 16, 0,
		  PROGRAM(0x41, 0x0e, 16, 0x9d, 2, 0x9e, 1, 0x42, 0xde, 0xdd, 0x0e, 0));
}

static struct scene scene(void)
{
	static const struct scene_program program = { &isa_aarch64, 0, BIAS, write_text, write_frames };
	struct scene s = scene_new(&program, &(struct unwinder_options){ .mode = UNWIND_AUTO });

	scene_map(&s, &(struct mapping){
			      .start = JIT, .len = 0x1000, .image = IMAGE_NONE, .is_executable = true });
	s.event.sample.regs.known = UINT64_MAX >> (64 - REG_MAX);
	s.event.sample.regs.value[SP] = STACK;
	return s;
}

static void walk(struct scene *s, uint64_t vaddr, uint64_t x29, uint64_t x30, const uint64_t *words, size_t n)
{
	s->event.sample.regs.value[PC] = BIAS + vaddr;
	s->event.sample.regs.value[X29] = x29;
	s->event.sample.regs.value[X30] = x30;
	scene_walk(s, words, n);
}
#define WALK(s, vaddr, x29, x30, ...)                               \
	walk(s, vaddr, x29, x30, (const uint64_t[]){ __VA_ARGS__ }, \
	     sizeof((const uint64_t[]){ __VA_ARGS__ }) / 8)

TEST(walk_unwinds_an_interpreter_by_its_unwind_row)
{
	struct scene s = scene();

	WALK(&s, INTERPRETER, STACK + 16, 0, 0, 0, 0, BIAS + START_CALLS);
	CHECK_END(&s, STACK_COMPLETE, 2);
	CHECK_EQ(s.stack.frames.at[0].witness, WITNESS_CFI);
	CHECK_EQ(s.stack.frames.at[1].vaddr, START_CALLS);
	scene_done(&s);
}

TEST(walk_finds_the_caller_of_a_subroutine_within_an_unwind_row)
{
	struct scene s = scene();

	for (uint64_t at = SUBROUTINE; at < SUBROUTINE + 8; at += 4) {
		WALK(&s, at, STACK + 16, BIAS + INTERPRETER_CALLS, 0, 0, 0, BIAS + START_CALLS);
		CHECK_END(&s, STACK_COMPLETE, 3);
		CHECK_EQ(s.stack.frames.at[1].vaddr, INTERPRETER_CALLS);
		CHECK_EQ(s.stack.frames.at[2].vaddr, START_CALLS);
	}
	scene_done(&s);
}

TEST(walk_skips_no_caller_while_an_interpreter_creates_its_frame)
{
	struct scene s = scene();

	/* at the entry, and after sp was lowered */
	WALK(&s, ENTRY, STACK, BIAS + CALLER_CALLS, STACK + 48, BIAS + INTERPRETER_CALLS_C, 0, 0, 0, 0, 0,
	     BIAS + START_CALLS);
	CHECK_END(&s, STACK_COMPLETE, 4);
	CHECK_EQ(s.stack.frames.at[1].vaddr, CALLER_CALLS);
	CHECK_EQ(s.stack.frames.at[2].vaddr, INTERPRETER_CALLS_C);
	WALK(&s, ENTRY + 4, STACK + 32, BIAS + CALLER_CALLS, 0, 0, 0, 0, STACK + 80,
	     BIAS + INTERPRETER_CALLS_C, 0, 0, 0, 0, 0, BIAS + START_CALLS);
	CHECK_END(&s, STACK_COMPLETE, 4);
	CHECK_EQ(s.stack.frames.at[1].vaddr, CALLER_CALLS);
	scene_done(&s);
}

TEST(walk_skips_no_caller_while_an_interpreter_releases_its_frame)
{
	struct scene s = scene();

	WALK(&s, LEAVES + 8, STACK, BIAS + CALLER_CALLS, STACK + 48, BIAS + INTERPRETER_CALLS_C, 0, 0, 0, 0,
	     0, BIAS + START_CALLS);
	CHECK_END(&s, STACK_COMPLETE, 4);
	CHECK_EQ(s.stack.frames.at[1].vaddr, CALLER_CALLS);
	scene_done(&s);
}

TEST(walk_crosses_a_frameless_call_that_saves_the_return_address_in_a_register)
{
	struct scene s = scene();

	s.event.sample.regs.value[X19] = BIAS + MANAGED_CALLS;
	WALK(&s, C_FUNCTION + 4, 0, 0, 0, BIAS + C_CALL_CALLS, 0, BIAS + BEGIN_CALLS);
	CHECK_END(&s, STACK_COMPLETE, 4);
	CHECK_EQ(s.stack.frames.at[1].vaddr, C_CALL_CALLS);
	CHECK_EQ(s.stack.frames.at[2].vaddr, MANAGED_CALLS);
	CHECK_EQ(s.stack.frames.at[3].vaddr, BEGIN_CALLS);
	scene_done(&s);
}

TEST(walk_does_not_loop_if_sp_does_not_change)
{
	struct scene s = scene();

	/* A register that holds a return address has no value for the caller: each can be used for one step.
	 */
	s.event.sample.regs.value[X19] = BIAS + OTHER_CALL_CALLS;
	s.event.sample.regs.value[X20] = BIAS + C_CALL_CALLS;
	WALK(&s, C_FUNCTION + 4, 0, 0, 0, BIAS + C_CALL_CALLS, 0, BIAS + BEGIN_CALLS);
	CHECK_END(&s, STACK_NO_RECIPE, 4);
	/* a call that leads to itself */
	s.event.sample.regs.value[X19] = BIAS + C_CALL_CALLS;
	WALK(&s, C_FUNCTION + 4, 0, 0, 0, BIAS + C_CALL_CALLS, 0, BIAS + BEGIN_CALLS);
	CHECK_END(&s, STACK_NO_PROGRESS, 2);
	scene_done(&s);
}

TEST(walk_ends_where_the_stack_of_a_coroutine_begins)
{
	struct scene s = scene();

	s.event.sample.regs.value[SP] = STACK - 32;
	WALK(&s, ENTRY, STACK - 32, BIAS + CALLER_CALLS, 0, 0, 1, 2);
	CHECK_END(&s, STACK_COMPLETE, 2);
	/* the words above do not matter */
	WALK(&s, ENTRY, STACK - 32, BIAS + CALLER_CALLS, 0, 0, 1, 2, 3, 4);
	CHECK_END(&s, STACK_COMPLETE, 2);
	scene_done(&s);
}

TEST(walk_does_not_mistake_zeroed_memory_for_the_stack_of_a_coroutine)
{
	struct scene s = scene();

	s.event.sample.regs.value[SP] = STACK - 32;
	WALK(&s, ENTRY, STACK - 16, BIAS + CALLER_CALLS, 0, 0, 1, 2); /* the frame pointer points elsewhere */
	CHECK_END(&s, STACK_INVALID_STEP, 2);
	WALK(&s, ENTRY, STACK - 32, BIAS + CALLER_CALLS, STACK, 0, 1, 2); /* the chain continues */
	CHECK_END(&s, STACK_INVALID_STEP, 2);
	s.event.sample.regs.value[SP] = STACK; /* more pages follow */
	WALK(&s, ENTRY, STACK, BIAS + CALLER_CALLS, 0, 0, 1, 2, 3, 4);
	CHECK_END(&s, STACK_INVALID_STEP, 2);
	scene_done(&s);
}

TEST(walk_does_not_read_a_return_address_before_it_is_saved)
{
	struct scene s = scene();

	WALK(&s, EARLY + 4, 0, BIAS + EARLY_CALLED, 0, BIAS + EARLY_CALLED_BEFORE);
	CHECK_END(&s, STACK_COMPLETE, 2);
	CHECK_EQ(s.stack.frames.at[1].vaddr, EARLY_CALLED);
	/* after it is saved */
	WALK(&s, EARLY + 8, 0, BIAS + EARLY_CALLED, 0, BIAS + EARLY_CALLED_BEFORE);
	CHECK_END(&s, STACK_COMPLETE, 2);
	CHECK_EQ(s.stack.frames.at[1].vaddr, EARLY_CALLED_BEFORE);
	scene_done(&s);
}

TEST(walk_unwinds_a_frame_with_unknown_sp_by_its_frame_pointer)
{
	struct scene s = scene();

	/* the step out of the code without a file is by frame pointer, and remains a guess */
	WALK(&s, JIT + 16 - BIAS, STACK + 16, 0, 0, 0, STACK + 48, BIAS + RUNS_JIT_CALLS, 0, 0, 0,
	     BIAS + RUNS_JIT_CALLED, 0, 0);
	CHECK_END(&s, STACK_NO_RECIPE, 3);
	CHECK_EQ(s.stack.frames.at[0].witness, WITNESS_FP);
	CHECK_EQ(s.stack.frames.at[1].vaddr, RUNS_JIT_CALLS);
	CHECK_EQ(s.stack.frames.at[2].vaddr, RUNS_JIT_CALLED);
	scene_done(&s);
}
