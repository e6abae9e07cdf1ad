/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code without unwind entries that was not called, but returned or jumped to, and runs in a frame that was
 * set up before, as V8's deoptimizer leaves it.
 */
#include "tests/frame_maker.h"
#include "tests/unit/unwinder/scene.h"

#define BIAS 0x555000000000u
#define STACK 0x7ffc00001000u
#define JUNK 0x3af9c0580d39u

enum { RBX = 3, RBP = 6, RSP = 7, RIP = 16 };

/* vaddrs */
enum {
	START = 0x1000,
	START_CALLS = 0x1002,
	LEAF = 0x1100,
	CONTINUES = 0x1200, /* prepares a call in the frame, and jumps to what is called */
	CONTINUES_LOADS = 0x1205,
	CONTINUES_JUMPS = 0x1209,
	ENDS = 0x1300, /* releases the frame and an unknown number of arguments, and returns to its caller */
	ENDS_CALLS = 0x130a,
	ENDS_LEAVES = 0x130f,
	HELPER = 0x1400, /* is called, and looks at its caller's frame */
	HELPER_RETURNS = 0x1404,
	MOVES = 0x1500, /* continues the frame, but first lets go of something on the stack */
	MOVED = 0x1501,
};

static void put(uint8_t *text, uint64_t vaddr, struct bytes code)
{
	memcpy(text + (vaddr - TEXT), code.at, code.len);
}

static void write_text(uint8_t *text)
{
	memset(text, 0xcc, TEXT_SIZE);
	put(text, START, PROGRAM(0xff, 0xd0, 0xf4));            /* call *rax; hlt */
	put(text, LEAF, PROGRAM(0x53, 0x90, 0x90, 0x5b, 0xc3)); /* push rbx; nop; nop; pop rbx; ret */
	/* mov -16(%rbp), %rbx; push %rbx; mov -24(%rbp), %rcx; jmp *%rcx */
	put(text, CONTINUES, PROGRAM(0x48, 0x8b, 0x5d, 0xf0, 0x53, 0x48, 0x8b, 0x4d, 0xe8, 0xff, 0xe1));
	/* mov -16(%rbp), %r8; push %rbx; push -16(%rbp); call *%rax; add $8, %rsp; pop %rbx */
	put(text, ENDS,
	    PROGRAM(0x4c, 0x8b, 0x45, 0xf0, 0x53, 0xff, 0x75, 0xf0, 0xff, 0xd0, 0x48, 0x83, 0xc4, 0x08,
		    0x5b));
	/* mov %rbp, %rsp; pop %rbp; pop %r8; lea (%rsp,%rbx,8), %rsp; push %r8; ret */
	put(text, ENDS_LEAVES,
	    PROGRAM(0x48, 0x89, 0xec, 0x5d, 0x41, 0x58, 0x48, 0x8d, 0x24, 0xdc, 0x41, 0x50, 0xc3));
	put(text, HELPER, PROGRAM(0x48, 0x8b, 0x45, 0xf8, 0xc3)); /* mov -8(%rbp), %rax; ret */
	/* pop %rdx; mov -16(%rbp), %rbx; jmp *%rbx */
	put(text, MOVES, PROGRAM(0x5a, 0x48, 0x8b, 0x5d, 0xf0, 0xff, 0xe3));
}

static void write_frames(struct writer *eh)
{
	size_t cie = frame_cie(eh, "zR", 1, -8, 16, PROGRAM(0x0c, 7, 8, 0x90, 1));

	frame_fde(eh, EH, cie, START, 3, 0, PROGRAM(0x07, 16));
	frame_fde(eh, EH, cie, LEAF, 5, 0, PROGRAM(0x41, 0x0e, 16, 0x83, 2, 0x43, 0x0e, 8));
}

static struct scene scene(void)
{
	static const struct scene_program program = { &isa_x86_64, START, BIAS, write_text, write_frames };
	struct scene s = scene_new(&program, &(struct unwinder_options){ .mode = UNWIND_AUTO });

	s.event.sample.regs.known = 1u << RIP | 1u << RSP | 1u << RBX | 1u << RBP;
	s.event.sample.regs.value[RSP] = STACK;
	return s;
}

/* rbp points to word number `fp` of the stack. */
static void walk(struct scene *s, uint64_t vaddr, unsigned fp, const uint64_t *words, size_t n)
{
	s->event.sample.regs.value[RIP] = BIAS + vaddr;
	s->event.sample.regs.value[RBP] = STACK + 8 * fp;
	scene_walk(s, words, n);
}
#define WALK(s, vaddr, fp, ...) \
	walk(s, vaddr, fp, (const uint64_t[]){ __VA_ARGS__ }, sizeof((const uint64_t[]){ __VA_ARGS__ }) / 8)

TEST(walk_follows_a_return_to_the_start_of_code_that_continues_a_frame)
{
	struct scene s = scene();

	WALK(&s, LEAF + 2, 4, 1, BIAS + CONTINUES, JUNK, JUNK, 5, BIAS + START_CALLS, 6);
	CHECK_END(&s, STACK_COMPLETE, 3);
	CHECK_EQ(s.stack.frames.at[0].verdict, VERDICT_LIKELY);
	CHECK_EQ(s.stack.frames.at[1].vaddr, CONTINUES);
	CHECK(!s.stack.frames.at[1].is_return); /* it belongs to this function, not to the one before it */
	CHECK_EQ(s.stack.frames.at[2].vaddr, START_CALLS);
	scene_done(&s);
}

TEST(walk_refuses_a_return_to_the_start_of_a_function_that_is_called)
{
	struct scene s = scene();
	const uint64_t others[] = { LEAF, HELPER };

	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		WALK(&s, LEAF + 2, 4, 1, BIAS + others[i], JUNK, JUNK, 5, BIAS + START_CALLS, 6);
		CHECK_END(&s, STACK_INVALID_STEP, 1);
	}
	scene_done(&s);
}

TEST(walk_refuses_a_return_into_the_middle_of_code_that_continues_a_frame)
{
	struct scene s = scene();

	WALK(&s, LEAF + 2, 4, 1, BIAS + CONTINUES_LOADS, JUNK, JUNK, 5, BIAS + START_CALLS, 6);
	CHECK_END(&s, STACK_INVALID_STEP, 1);
	scene_done(&s);
}

TEST(walk_leaves_interrupted_code_that_continues_a_frame_by_that_frame)
{
	struct scene s = scene();
	const uint64_t all[] = { CONTINUES, CONTINUES_LOADS, CONTINUES_JUMPS, ENDS, ENDS + 5, ENDS_LEAVES };

	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		WALK(&s, all[i], 4, JUNK, JUNK, JUNK, JUNK, 5, BIAS + START_CALLS, 6);
		CHECK_END(&s, STACK_COMPLETE, 2);
		CHECK_EQ(s.stack.frames.at[1].vaddr, START_CALLS);
	}
	scene_done(&s);
}

TEST(walk_leaves_it_in_the_same_way_where_it_has_made_a_call)
{
	struct scene s = scene();

	WALK(&s, LEAF + 2, 6, 1, BIAS + ENDS_CALLS, JUNK, JUNK, JUNK, JUNK, 5, BIAS + START_CALLS, 6);
	CHECK_END(&s, STACK_COMPLETE, 3);
	CHECK_EQ(s.stack.frames.at[1].vaddr, ENDS_CALLS);
	CHECK(s.stack.frames.at[1].is_return);
	scene_done(&s);
}

/* The frame of a function that is called lies below the one that the frame pointer tells of: to go there
 * would skip its caller. */
TEST(walk_does_not_skip_the_caller_of_a_function_that_uses_its_callers_frame)
{
	struct scene s = scene();

	WALK(&s, HELPER_RETURNS, 4, JUNK, JUNK, JUNK, JUNK, 5, BIAS + START_CALLS, 6);
	CHECK_END(&s, STACK_INVALID_STEP, 1);
	scene_done(&s);
}

TEST(walk_does_not_take_a_frame_that_may_have_been_overwritten_since)
{
	struct scene s = scene();

	WALK(&s, MOVED, 4, JUNK, JUNK, JUNK, JUNK, 5, BIAS + START_CALLS, 6);
	CHECK(s.stack.end != STACK_COMPLETE);
	CHECK_EQ(s.stack.frames.n, 1);
	scene_done(&s);
}
