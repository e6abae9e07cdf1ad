/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code in memory without a file: read page by page, read again when it has changed, unwound.
 */
#include <errno.h>
#include <string.h>

#include "tests/test.h"
#include "unwinder/code_pages.h"
#include "unwinder/unwinder.h"

#define CODE 0xffff80000000u
#define STACK 0xffffc0001000u
#define PID 9
#define SECOND_NS 1000000000ull

#define FAR_CODE 0x20000u /* offset of code that belongs to no function */

struct target {
	uint32_t code[FAR_CODE / 4 + 1024];
	unsigned n_reads;
	bool is_gone;
};

static ssize_t read_target(void *context, pid_t pid, uint64_t addr, void *to, size_t len)
{
	struct target *target = context;
	uint64_t offset = addr - CODE;

	target->n_reads++;
	if (target->is_gone || pid != PID || offset >= sizeof(target->code))
		return -ESRCH;
	len = len < sizeof(target->code) - offset ? len : sizeof(target->code) - offset;
	memcpy(to, (const uint8_t *)target->code + offset, len);
	return (ssize_t)len;
}

TEST(code_pages_reads_a_page_once_an_epoch)
{
	struct target target = { .code = { 1, 2, 3 } };
	struct code_pages *pages = code_pages_new(read_target, &target);

	code_pages_tick(pages, SECOND_NS);
	uint64_t version = code_pages_version(pages, PID, CODE);
	CHECK(version != 0);
	CHECK_EQ(code_pages_at(pages, PID, CODE + 8).len, 4088);
	CHECK_EQ(code_pages_at(pages, PID, CODE + 8).at[0], 3);
	CHECK_EQ(target.n_reads, 1);
	code_pages_tick(pages, 2 * SECOND_NS);
	CHECK_EQ(code_pages_version(pages, PID, CODE), version);
	CHECK_EQ(target.n_reads, 2);
	code_pages_free(pages);
}

TEST(code_pages_version_changes_with_the_code)
{
	struct target target = { .code = { 1 } };
	struct code_pages *pages = code_pages_new(read_target, &target);

	code_pages_tick(pages, SECOND_NS);
	uint64_t version = code_pages_version(pages, PID, CODE),
		 other = code_pages_version(pages, PID, CODE + 4096);
	target.code[0] = 7;
	CHECK_EQ(code_pages_version(pages, PID, CODE), version);
	code_pages_tick(pages, 2 * SECOND_NS);
	CHECK(code_pages_version(pages, PID, CODE) != version);
	CHECK_EQ(code_pages_version(pages, PID, CODE + 4096), other);
	CHECK_EQ(code_pages_at(pages, PID, CODE).at[0], 7);
	code_pages_free(pages);
}

TEST(code_pages_uses_code_from_a_recording)
{
	struct code_pages *pages = code_pages_new(NULL, NULL);
	const uint8_t code[] = { 1, 2, 3, 4, 5, 6, 7, 8 };

	code_pages_tick(pages, SECOND_NS);
	uint64_t epoch = code_pages_epoch(pages);
	code_pages_put(pages, PID, CODE, (struct bytes){ code, sizeof(code) });
	CHECK(code_pages_epoch(pages) != epoch);
	uint64_t version = code_pages_version(pages, PID, CODE);
	CHECK(version != 0);
	CHECK_EQ(code_pages_at(pages, PID, CODE + 4).at[0], 5);
	CHECK_EQ(code_pages_at(pages, PID, CODE + 4).len, 4);
	code_pages_tick(pages, 9 * SECOND_NS);
	CHECK_EQ(code_pages_version(pages, PID, CODE), version);
	code_pages_put(pages, PID, CODE, (struct bytes){ code + 4, 4 });
	CHECK(code_pages_version(pages, PID, CODE) != version);
	CHECK_EQ(code_pages_at(pages, PID, CODE).at[0], 5);
	code_pages_put(pages, PID, CODE + 4097,
		       (struct bytes){ code, sizeof(code) }); /* not at the start of a page */
	CHECK_EQ(code_pages_at(pages, PID, CODE + 4097).len, 0);
	code_pages_free(pages);
}

TEST(code_pages_joins_instructions_that_cross_pages)
{
	struct target target = { .code = { [1023] = 0x11111111, [1024] = 0x22222222 } };
	struct code_pages *pages = code_pages_new(read_target, &target);

	struct bytes code = code_pages_at(pages, PID, CODE + 4094);
	CHECK(code.len >= CODE_AT_LEAST);
	CHECK_EQ(code.at[1], 0x11);
	CHECK_EQ(code.at[2], 0x22);
	CHECK_EQ(code_pages_at(pages, PID, CODE + sizeof(target.code) - 4).len, 4); /* the code ends there */
	CHECK_EQ(code_pages_at(pages, PID, CODE + sizeof(target.code)).len, 0);
	CHECK_EQ(code_pages_at(pages, PID + 1, CODE).len, 0);
	code_pages_free(pages);
}

TEST(code_pages_without_requests_are_dropped)
{
	struct target target = { .code = { 5, [1024] = 6 } };
	struct code_pages *pages = code_pages_new(read_target, &target);

	code_pages_at(pages, PID, CODE);
	code_pages_at(pages, PID, CODE + 4096);
	code_pages_forget(pages);
	CHECK_EQ(code_pages_count(pages), 2);
	uint64_t version = code_pages_version(pages, PID, CODE);
	code_pages_forget(pages);
	CHECK_EQ(code_pages_count(pages), 1);
	CHECK_EQ(code_pages_version(pages, PID, CODE), version);
	CHECK_EQ(code_pages_at(pages, PID, CODE + 4096).at[0], 6);
	code_pages_forget(pages);
	code_pages_forget(pages);
	CHECK_EQ(code_pages_count(pages), 0);
	CHECK(code_pages_version(pages, PID, CODE) != version);
	code_pages_free(pages);
}

TEST(code_pages_of_an_ended_process_are_kept)
{
	struct target target = { .code = { 5 } };
	struct code_pages *pages = code_pages_new(read_target, &target);
	struct code_pages *blind = code_pages_new(NULL, NULL);

	CHECK_EQ(code_pages_at(pages, PID, CODE).at[0], 5);
	target.is_gone = true;
	code_pages_tick(pages, 9 * SECOND_NS);
	CHECK_EQ(code_pages_at(pages, PID, CODE).at[0], 5);
	CHECK_EQ(code_pages_at(blind, PID, CODE).len, 0);
	CHECK_EQ(code_pages_version(blind, PID, CODE), 0);
	code_pages_free(pages);
	code_pages_free(blind);
}

/* ---- walks -------------------------------------------------------------------------------------- */

enum {
	NOP = 0xd503201f,
	RET = 0xd65f03c0,
	CALL = 0xd63f0060,    /* blr x3 */
	POP_32 = 0xa8c27bfd,  /* ldp x29, x30, [sp], #32 */
	POP_48 = 0xa8c37bfd,  /* ldp x29, x30, [sp], #48 */
	JUMP_X8 = 0xd61f0100, /* br x8: an interpreter's dispatch */
};

/* instruction numbers */
enum { LEAF = 0, CALLER = 16, INTERPRETER = 32, ENTRY = 64 };

struct scene {
	struct target target;
	struct images *images;
	struct unwinder *unwinder;
	struct event event;
	struct stack stack;
};

static void scene_init(struct scene *s, enum unwind_mode mode)
{
	static const uint32_t leaf[] = { NOP, RET }, caller[] = { CALL, NOP, POP_32, RET };
	static const uint32_t interpreter[] = { NOP, NOP, JUMP_X8 }, entry[] = { NOP, JUMP_X8 };

	*s = (struct scene){ .images = images_new() };
	memcpy(s->target.code + LEAF, leaf, sizeof(leaf));
	memcpy(s->target.code + CALLER, caller, sizeof(caller));
	memcpy(s->target.code + ENTRY, entry, sizeof(entry));
	memcpy(s->target.code + INTERPRETER, interpreter, sizeof(interpreter));
	s->unwinder =
		unwinder_new(s->images, &isa_aarch64,
			     &(struct unwinder_options){
				     .mode = mode, .read_code = read_target, .read_context = &s->target });
	struct event map = { .kind = EVENT_MAPPING, .pid = PID, .tid = PID };
	map.mapping = (struct mapping){ .start = CODE,
					.len = sizeof(s->target.code),
					.image = images_add_pseudo(s->images, IMAGE_JIT, "[jit]", NULL),
					.is_executable = true };
	unwinder_event(s->unwinder, &map);
	s->event = (struct event){ .kind = EVENT_SAMPLE, .pid = PID, .tid = PID, .time_ns = SECOND_NS };
	s->event.sample.regs.known = UINT64_MAX >> (64 - REG_MAX);
	s->event.sample.regs.value[31] = STACK;
}

static void scene_done(struct scene *s)
{
	stack_done(&s->stack);
	unwinder_free(s->unwinder);
	images_free(s->images);
}

static uint64_t pc_of(unsigned insn)
{
	return CODE + 4 * insn;
}

static void walk(struct scene *s, unsigned insn, uint64_t x30, const uint64_t *words, size_t n)
{
	s->event.sample.regs.value[32] = pc_of(insn);
	s->event.sample.regs.value[30] = x30;
	s->event.sample.stack = (struct bytes){ (const uint8_t *)words, n * 8 };
	unwinder_walk(s->unwinder, &s->event, &s->stack);
}

TEST(jit_code_is_unwound_by_analysing_the_code_ahead)
{
	struct scene s;
	const uint64_t words[8] = { 0, pc_of(CALLER + 1), 0, 0, 0, pc_of(CALLER + 1) };

	scene_init(&s, UNWIND_AUTO);
	walk(&s, LEAF, pc_of(CALLER + 1), words, 8);
	CHECK_EQ(s.stack.frames.n, 4);
	CHECK_EQ(s.stack.frames.at[1].pc, pc_of(CALLER + 1));
	CHECK_EQ(s.stack.frames.at[1].witness, WITNESS_ANALYSIS);
	CHECK_EQ(s.stack.frames.at[3].pc, pc_of(CALLER + 1));
	scene_done(&s);
}

TEST(jit_code_that_was_overwritten_is_analysed_again)
{
	struct scene s;
	const uint64_t words[12] = { 0, pc_of(CALLER + 1), 0, 0, 0, 0, 0, pc_of(LEAF) };

	scene_init(&s, UNWIND_AUTO);
	walk(&s, CALLER + 2, 0, words, 12); /* the frame has 32 bytes: then the return address is 0 */
	CHECK_EQ(s.stack.frames.n, 2);
	s.target.code[CALLER + 2] = POP_48;
	s.event.time_ns += SECOND_NS;
	const uint64_t moved[12] = { 0, pc_of(CALLER + 1), 0, 0, 0, 0, 0, pc_of(CALLER + 1) };
	walk(&s, CALLER + 2, 0, moved, 12);
	CHECK_EQ(s.stack.frames.n, 3);
	CHECK_EQ(s.stack.frames.at[2].pc, pc_of(CALLER + 1));
	scene_done(&s);
}

TEST(new_jit_code_is_read_at_once)
{
	struct scene s;
	const uint64_t words[8] = { 0, pc_of(CALLER + 1) };

	scene_init(&s, UNWIND_AUTO);
	s.target.code[CALLER] = 0;
	s.target.code[LEAF] = JUMP_X8;
	walk(&s, LEAF, pc_of(CALLER + 1), words, 8);
	CHECK_EQ(s.stack.frames.n, 1);
	s.target.code[CALLER] = CALL;
	s.target.code[LEAF] = NOP;
	s.event.time_ns++;
	walk(&s, LEAF, pc_of(CALLER + 1), words, 8);
	CHECK_EQ(s.stack.frames.n, 3);
	CHECK_EQ(s.stack.frames.at[2].pc, pc_of(CALLER + 1));
	scene_done(&s);
}

/* It was not there when its page was read; a frame pointer that leads on is no reason to leave it at that. */
TEST(new_jit_code_is_read_before_the_frame_pointer_is_trusted)
{
	struct scene s;
	const uint64_t words[8] = { 0, pc_of(CALLER + 1), 0, 0, 0, pc_of(CALLER + 1) };

	scene_init(&s, UNWIND_AUTO);
	s.target.code[LEAF] = JUMP_X8;
	s.event.sample.regs.value[29] = STACK + 32;
	walk(&s, LEAF, pc_of(CALLER + 1), words, 8);
	CHECK_EQ(s.stack.frames.at[0].witness, WITNESS_FP);
	s.target.code[LEAF] = NOP;
	s.event.time_ns++;
	walk(&s, LEAF, pc_of(CALLER + 1), words, 8);
	CHECK_EQ(s.stack.frames.at[0].witness, WITNESS_ANALYSIS);
	CHECK_EQ(s.stack.frames.n, 4);
	scene_done(&s);
}

TEST(jit_code_that_cannot_be_read_ends_the_stack_without_an_image)
{
	struct scene s;
	const uint64_t words[4] = { 0 };

	scene_init(&s, UNWIND_AUTO);
	s.target.is_gone = true;
	walk(&s, LEAF, pc_of(CALLER + 1), words, 4);
	CHECK_EQ(s.stack.end, STACK_NO_IMAGE);
	CHECK_EQ(s.stack.frames.n, 1);
	scene_done(&s);
}

TEST(jit_frames_of_an_interpreter_need_no_call)
{
	struct scene s;
	uint64_t words[40] = { 0 };
	const unsigned fp = 20;

	scene_init(&s, UNWIND_AUTO);
	/* caller (32 bytes) returns into the interpreter, whose frame is at word 20 */
	words[0] = STACK + 8 * fp;
	words[1] = pc_of(INTERPRETER + 1);
	words[fp] = 0;
	words[fp + 1] = pc_of(CALLER + 1);
	words[fp - 1] = STACK + 8 * (fp + 4); /* the caller's sp */
	words[fp - 3] = 0xd000011710;
	words[fp - 8] = STACK + 8 * (fp + 5);
	words[fp - 10] = STACK + 8 * (fp - 10);
	walk(&s, CALLER + 1, 0, words, 40);
	CHECK_EQ(s.stack.frames.n, 3);
	CHECK_EQ(s.stack.frames.at[1].pc, pc_of(INTERPRETER + 1));
	CHECK_EQ(s.stack.frames.at[1].witness, WITNESS_TEMPLATE);
	CHECK_EQ(s.stack.frames.at[2].pc, pc_of(CALLER + 1));
	/* the same words without an interpreter's frame: no call precedes the address */
	words[fp - 10] = 0;
	words[fp - 3] = 0;
	walk(&s, CALLER + 1, 0, words, 40);
	CHECK_EQ(s.stack.end, STACK_INVALID_STEP);
	CHECK_EQ(s.stack.frames.n, 1);
	scene_done(&s);
}

TEST(jit_methods_that_are_being_entered_have_their_caller_s_frame)
{
	struct scene s;
	uint64_t words[40] = { 0 };
	const unsigned fp = 20;

	scene_init(&s, UNWIND_AUTO);
	s.event.sample.regs.value[29] = STACK + 8 * fp;
	words[fp + 1] = pc_of(CALLER + 1);
	words[fp - 1] = STACK + 8 * (fp + 4);
	words[fp - 3] = 0xd000011710;
	words[fp - 8] = STACK + 8 * (fp + 5);
	words[fp - 10] = STACK + 8 * (fp - 10);
	walk(&s, ENTRY, pc_of(INTERPRETER + 1), words, 40);
	CHECK_EQ(s.stack.frames.n, 3);
	CHECK_EQ(s.stack.frames.at[1].pc, pc_of(INTERPRETER + 1));
	CHECK_EQ(s.stack.frames.at[2].pc, pc_of(CALLER + 1));
	/* a call has left its return address: that says nothing of a method */
	walk(&s, ENTRY, pc_of(CALLER + 1), words, 40);
	CHECK_EQ(s.stack.frames.at[0].witness, WITNESS_FP);
	scene_done(&s);
}

TEST(jit_methods_that_were_just_returned_to_are_unwound_by_their_own_frame)
{
	struct scene s;
	uint64_t words[40] = { 0 };
	const unsigned fp = 20;

	scene_init(&s, UNWIND_AUTO);
	s.event.sample.regs.value[29] = STACK + 8 * fp;
	words[fp + 1] = pc_of(CALLER + 1);
	words[fp - 1] = STACK + 8 * (fp + 4);
	words[fp - 3] = 0xd000011710;
	words[fp - 8] = STACK + 8 * (fp + 5);
	words[fp - 10] = STACK + 8 * (fp - 10);
	walk(&s, INTERPRETER + 2, pc_of(INTERPRETER + 1), words, 40);
	CHECK(s.stack.frames.n >= 2);
	CHECK_EQ(s.stack.frames.at[0].witness, WITNESS_TEMPLATE);
	CHECK_EQ(s.stack.frames.at[1].pc, pc_of(CALLER + 1));
	scene_done(&s);
}

TEST(jit_calls_may_return_to_discarded_code)
{
	enum { GIVEN_UP = 96 };
	uint64_t words[8] = { STACK + 32, pc_of(GIVEN_UP), 0, 0, 0, pc_of(CALLER + 1) };
	struct scene s;

	scene_init(&s, UNWIND_AUTO);
	s.target.code[GIVEN_UP - 1] = NOP;
	s.target.code[GIVEN_UP] = 0x1000001e; /* adr x30, its own address */
	s.target.code[GIVEN_UP + 1] = JUMP_X8;
	walk(&s, CALLER + 1, 0, words, 8);
	CHECK(s.stack.frames.n >= 2);
	CHECK_EQ(s.stack.frames.at[0].witness, WITNESS_ANALYSIS);
	CHECK_EQ(s.stack.frames.at[1].pc, pc_of(GIVEN_UP));
	/* another address is no return address without a call */
	s.target.code[GIVEN_UP] = 0x1000003e; /* adr x30, the next instruction */
	s.event.time_ns += SECOND_NS;
	walk(&s, CALLER + 1, 0, words, 8);
	CHECK_EQ(s.stack.frames.n, 1);
	CHECK_EQ(s.stack.end, STACK_INVALID_STEP);
	scene_done(&s);
}

/* Code that ends in an indirect jump, followed by a branch to an epilogue that releases 32 bytes. */
static void put_way_out(struct scene *s, unsigned at, unsigned way_out)
{
	s->target.code[at] = NOP;
	s->target.code[at + 1] = JUMP_X8;
	s->target.code[at + 2] = 0x14000000 | (way_out - at - 2); /* b way_out */
	s->target.code[way_out] = NOP;
	s->target.code[way_out + 1] = POP_32;
	s->target.code[way_out + 2] = RET;
}

TEST(jit_code_without_an_exit_uses_a_nearby_one_that_the_frame_pointer_confirms)
{
	enum { JUMPS = 128, WAY_OUT = 192 };
	uint64_t words[12] = { STACK + 64, pc_of(CALLER + 1), 0, 0, STACK + 64, pc_of(CALLER + 1) };
	struct scene s;

	scene_init(&s, UNWIND_AUTO);
	put_way_out(&s, JUMPS, WAY_OUT);
	s.event.sample.regs.value[29] = STACK;
	walk(&s, JUMPS, 0, words, 12);
	CHECK(s.stack.frames.n >= 2);
	CHECK_EQ(s.stack.frames.at[0].witness, WITNESS_ANALYSIS);
	CHECK_EQ(s.stack.frames.at[1].pc, pc_of(CALLER + 1));
	/* the frame pointer finds another frame: the way out may be another function's */
	s.event.sample.regs.value[29] = STACK + 32;
	words[4] = STACK + 80;
	walk(&s, JUMPS, 0, words, 12);
	CHECK_EQ(s.stack.frames.at[0].witness, WITNESS_FP);
	s.event.sample.regs.value[29] = 0x10; /* ... or none */
	walk(&s, JUMPS, 0, words, 12);
	CHECK_EQ(s.stack.frames.n, 1);
	scene_done(&s);
}

TEST(jit_code_with_a_shared_exit_has_one_frame)
{
	enum { JUMPS = 128, WAY_OUT = FAR_CODE / 4 };
	uint64_t words[12] = { STACK + 64, pc_of(CALLER + 1), 0, 0, STACK + 80, pc_of(CALLER + 1) };
	struct scene s;

	scene_init(&s, UNWIND_AUTO);
	put_way_out(&s, JUMPS, WAY_OUT);
	/* the caller's: this code does not change it; or a number: it uses the register for something else */
	for (unsigned is_number = 0; is_number < 2; is_number++) {
		s.event.sample.regs.value[29] = is_number ? 0x10 : STACK + 32;
		walk(&s, JUMPS, 0, words, 12);
		CHECK(s.stack.frames.n >= 2);
		CHECK_EQ(s.stack.frames.at[0].witness, WITNESS_ANALYSIS);
		CHECK_EQ(s.stack.frames.at[1].pc, pc_of(CALLER + 1));
	}
	scene_done(&s);
}

TEST(jit_stubs_that_were_just_called_have_their_return_address_in_the_register)
{
	enum { STUB = 96, CALLS_STUB = 112 };
	static const uint32_t stub[] = { NOP, NOP, JUMP_X8 };
	static const uint32_t calls_stub[] = { 0x97fffff0, NOP, POP_32, RET }; /* bl stub */
	const uint64_t words[8] = { 0, pc_of(CALLER + 1) };
	struct scene s;

	scene_init(&s, UNWIND_AUTO);
	memcpy(s.target.code + STUB, stub, sizeof(stub));
	memcpy(s.target.code + CALLS_STUB, calls_stub, sizeof(calls_stub));
	walk(&s, STUB + 1, pc_of(CALLS_STUB + 1), words, 8);
	CHECK(s.stack.frames.n >= 3);
	CHECK_EQ(s.stack.frames.at[1].pc, pc_of(CALLS_STUB + 1));
	CHECK_EQ(s.stack.frames.at[0].witness, WITNESS_TEMPLATE);
	CHECK_EQ(s.stack.frames.at[2].pc, pc_of(CALLER + 1));
	/* the stack has changed since */
	s.target.code[STUB] = 0xd10083ff; /* sub sp, sp, #32 */
	s.event.time_ns += SECOND_NS;
	walk(&s, STUB + 1, pc_of(CALLS_STUB + 1), words, 8);
	CHECK(s.stack.frames.at[0].witness != WITNESS_TEMPLATE);
	/* the call has another target */
	s.target.code[STUB] = NOP;
	s.target.code[CALLS_STUB] = 0x97fffff3;
	s.event.time_ns += SECOND_NS;
	walk(&s, STUB + 1, pc_of(CALLS_STUB + 1), words, 8);
	CHECK(s.stack.frames.at[0].witness != WITNESS_TEMPLATE);
	scene_done(&s);
}

TEST(dropped_jit_code_is_read_again)
{
	const uint64_t words[8] = { 0, pc_of(CALLER + 1), 0, 0, 0, pc_of(CALLER + 1) };
	struct scene s;

	scene_init(&s, UNWIND_AUTO);
	for (unsigned round = 0; round < 4; round++) {
		walk(&s, LEAF, pc_of(CALLER + 1), words, 8);
		CHECK_EQ(s.stack.frames.n, 4);
		CHECK_EQ(s.stack.frames.at[1].witness, WITNESS_ANALYSIS);
		for (unsigned i = 0; i < round; i++)
			unwinder_forget(s.unwinder, true);
	}
	scene_done(&s);
}
