/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"
#include "verify/shadow.h"

#define STACK 0x8000 /* regions */
#define OTHER 0x9000

static struct shadow shadow;

static void begin(const struct isa *isa)
{
	shadow_init(&shadow, isa);
	shadow_reset(&shadow, STACK);
}

static void end(void)
{
	shadow_done(&shadow);
}

static void step(uint8_t flow, uint64_t next, uint64_t pc, uint64_t sp, uint64_t region, uint64_t ra)
{
	shadow_step(&shadow, &(struct shadow_step){ flow, next, pc, sp, region, ra, false });
}

/* From an instruction that ends at ra to a function. */
static void call(uint64_t ra, uint64_t to, uint64_t sp)
{
	step(FLOW_CALL, ra, to, sp, STACK, ra);
}

static void jump(uint64_t pc, uint64_t sp)
{
	step(FLOW_JUMP_INDIRECT, 0xffff, pc, sp, STACK, 0);
}

/* An instruction that leaves sp at a value. */
static void set_sp(uint64_t pc, uint64_t sp)
{
	step(FLOW_NEXT, pc, pc, sp, STACK, 0);
}

/* The stack as text, innermost return address first. */
static const char *stack(void)
{
	static char text[256];
	struct shadow_walk walk = shadow_walk(&shadow);
	const struct shadow_entry *entry;
	size_t len = 0;

	text[0] = 0;
	while ((entry = shadow_walk_next(&walk)))
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%" PRIx64, len ? " " : "",
					entry->ra);
	return text;
}

TEST(shadow_a_call_lasts_until_it_returns)
{
	begin(&isa_aarch64);
	call(0x104, 0x200, 0x7000);
	set_sp(0x204, 0x6fe0);
	call(0x20c, 0x300, 0x6fe0);
	CHECK_STR(stack(), "20c 104");
	step(FLOW_RETURN, 0x304, 0x20c, 0x6fe0, STACK, 0x20c);
	CHECK_STR(stack(), "104");
	set_sp(0x210, 0x7000); /* the frame is popped, but the function has not returned */
	CHECK_STR(stack(), "104");
	step(FLOW_RETURN, 0x214, 0x104, 0x7000, STACK, 0x104);
	CHECK_STR(stack(), "");
	CHECK(shadow.is_settled);
	end();
}

/* Goroutines: sp is no address where a return address could be looked for. */
TEST(shadow_a_call_on_a_stack_that_may_be_moved_has_no_slot)
{
	begin(&isa_x86_64);
	call(0x105, 0x200, 0x6ff8);
	CHECK_EQ(shadow.stacks.at[0].entries.at[0].slot, 0x6ff8);
	shadow_step(&shadow,
		    &(struct shadow_step){ FLOW_CALL, 0x205, 0x300, 0x6ff0, STACK, 0x205, .is_moved = true });
	CHECK_STR(stack(), "205 105");
	CHECK_EQ(shadow.stacks.at[0].entries.at[1].slot, 0);
	end();
}

TEST(shadow_a_call_that_pushes_lasts_until_its_slot_is_popped)
{
	begin(&isa_x86_64);
	call(0x105, 0x200, 0x6ff8);
	set_sp(0x201, 0x6ff0);
	CHECK_STR(stack(), "105");
	set_sp(0x210, 0x6ff8);
	CHECK_STR(stack(), "105");
	step(FLOW_RETURN, 0x211, 0x105, 0x7000, STACK, 0);
	CHECK_STR(stack(), "");
	end();
}

/* OCaml's caml_c_call: pops it, leaves it where it is, and jumps to a C function that returns to it. */
TEST(shadow_a_return_address_that_is_popped_and_pushed_again_is_restored)
{
	begin(&isa_x86_64);
	call(0x105, 0x200, 0x6ff8);
	call(0x205, 0x300, 0x6fe8);
	uint64_t number = shadow.stacks.at[shadow.current].entries.at[1].call;
	set_sp(0x307, 0x6ff0);
	CHECK_STR(stack(), "105");
	CHECK(!shadow.is_settled);
	set_sp(0x30e, 0x6fe8);
	step(FLOW_JUMP_INDIRECT, 0x310, 0x400, 0x6fe8, STACK, 0x205);
	CHECK(shadow.is_settled);
	CHECK_STR(stack(), "205 105");
	CHECK(shadow.stacks.at[shadow.current].entries.at[1].call == number);
	step(FLOW_RETURN, 0x401, 0x205, 0x6ff0, STACK, 0);
	CHECK_STR(stack(), "105");
	end();
}

/* Somebody else's word in that place, or another place: it stays gone. */
TEST(shadow_a_return_address_that_is_not_pushed_again_is_dropped)
{
	begin(&isa_x86_64);
	call(0x105, 0x200, 0x6ff8);
	call(0x205, 0x300, 0x6fe8);
	set_sp(0x307, 0x6ff0);
	set_sp(0x30e, 0x6fe8);
	step(FLOW_JUMP_INDIRECT, 0x310, 0x400, 0x6fe8, STACK, 0x999);
	CHECK_STR(stack(), "105");
	end();
}

TEST(shadow_a_tail_call_adds_nothing)
{
	begin(&isa_aarch64);
	call(0x104, 0x200, 0x7000);
	jump(0x300, 0x7000);
	CHECK_STR(stack(), "104");
	step(FLOW_RETURN, 0x304, 0x104, 0x7000, STACK, 0x104);
	CHECK_STR(stack(), "");
	end();
}

TEST(shadow_a_call_of_the_next_instruction_is_not_a_call)
{
	begin(&isa_x86_64);
	call(0x105, 0x105, 0x6ff8);
	CHECK_STR(stack(), "");
	end();
}

/* main calls setjmp, then f, which calls g, which jumps back to the return of setjmp. */
TEST(shadow_longjmp_drops_the_frames_it_leaves)
{
	begin(&isa_aarch64);
	call(0x44, 0x100, 0x7000); /* main */
	set_sp(0x104, 0x6f00);
	call(0x10c, 0x200, 0x6f00); /* f */
	set_sp(0x204, 0x6e00);
	call(0x20c, 0x300, 0x6e00); /* g */
	CHECK_STR(stack(), "20c 10c 44");
	set_sp(0x308, 0x6f00); /* longjmp sets sp */
	CHECK(!shadow.is_settled);
	jump(0x108, 0x6f00); /* and jumps to where setjmp returned */
	CHECK(shadow.is_settled);
	CHECK_STR(stack(), "44");
	end();
}

TEST(shadow_tracks_where_a_return_address_was_saved)
{
	begin(&isa_aarch64);
	call(0x104, 0x200, 0x7000);
	shadow_saved(&shadow, 0x108, 0x6f00); /* a different return address */
	CHECK_EQ(shadow.stacks.at[0].entries.at[0].slot, 0);
	shadow_saved(&shadow, 0x002a000000000104, 0x6fe8); /* with a pointer authentication code */
	CHECK_EQ(shadow.stacks.at[0].entries.at[0].slot, 0x6fe8);
	jump(0x300, 0x7000); /* after a tail call, it is saved again */
	shadow_saved(&shadow, 0x104, 0x6fd8);
	CHECK_EQ(shadow.stacks.at[0].entries.at[0].slot, 0x6fd8);
	end();
}

TEST(shadow_a_handler_is_above_the_interrupted_frame)
{
	begin(&isa_aarch64);
	call(0x104, 0x200, 0x7000);
	shadow_signal(&shadow, &(struct shadow_signal){ .pc = 0x208,
							.sp = 0x7000,
							.trampoline = 0xf00,
							.handler_sp = 0x6000,
							.region = STACK });
	call(0x404, 0x500, 0x5f00);
	CHECK_STR(stack(), "404 f00 208 104");
	step(FLOW_RETURN, 0x504, 0x404, 0x5f00, STACK, 0x404);
	step(FLOW_RETURN, 0x408, 0xf00, 0x6000, STACK, 0xf00);
	CHECK_STR(stack(), "208 104");
	shadow_signal_return(&shadow, 0x208, 0x7000, STACK);
	CHECK_STR(stack(), "104");
	end();
}

TEST(shadow_a_handler_on_its_own_stack_continues_on_the_interrupted_one)
{
	begin(&isa_aarch64);
	call(0x104, 0x200, 0x7000);
	shadow_signal(&shadow, &(struct shadow_signal){ .pc = 0x208,
							.sp = 0x7000,
							.trampoline = 0xf00,
							.handler_sp = 0x8f00,
							.region = OTHER });
	CHECK_STR(stack(), "f00 208 104");
	step(FLOW_RETURN, 0x408, 0xf00, 0x8f00, OTHER, 0xf00);
	CHECK_STR(stack(), "208 104");
	shadow_signal_return(&shadow, 0x208, 0x7000, STACK);
	CHECK_STR(stack(), "104");
	end();
}

TEST(shadow_coroutines_have_stacks_of_their_own)
{
	begin(&isa_aarch64);
	call(0x104, 0x700, 0x7000); /* swapcontext */
	step(FLOW_NEXT, 0x710, 0x710, 0x8f00, OTHER, 0);
	CHECK(!shadow.is_settled);
	step(FLOW_JUMP_INDIRECT, 0x714, 0x200, 0x8f00, OTHER, 0xe00); /* its function returns to 0xe00 */
	CHECK(shadow.is_settled);
	step(FLOW_CALL, 0x204, 0x700, 0x8e00, OTHER, 0x204); /* swapcontext again */
	CHECK_STR(stack(), "204 e00");
	step(FLOW_NEXT, 0x710, 0x710, 0x7000, STACK, 0);
	jump(0x104, 0x7000);
	CHECK_STR(stack(), "");
	CHECK(shadow.is_settled);
	end();
}

TEST(shadow_of_a_coroutine_that_a_return_begins_has_no_caller)
{
	begin(&isa_aarch64);
	call(0x104, 0x700, 0x7000);
	step(FLOW_NEXT, 0x710, 0x710, 0x8f00, OTHER, 0);
	step(FLOW_RETURN, 0x714, 0x714, 0x8f00, OTHER, 0x714); /* to the next instruction, which calls */
	CHECK(shadow.is_settled);
	step(FLOW_CALL, 0x718, 0x900, 0x8f00, OTHER, 0x718);
	step(FLOW_JUMP_INDIRECT, 0x90c, 0x200, 0x8f00, OTHER, 0x718);
	CHECK_STR(stack(), "718 0");
	end();
}

TEST(shadow_of_an_ended_coroutine_is_undefined)
{
	begin(&isa_aarch64);
	call(0x104, 0x700, 0x7000);
	step(FLOW_NEXT, 0x710, 0x710, 0x8f00, OTHER, 0);
	step(FLOW_JUMP_INDIRECT, 0x714, 0x200, 0x8f00, OTHER, 0xe00);
	step(FLOW_RETURN, 0x208, 0xe00, 0x8f00, OTHER, 0xe00);
	CHECK(!shadow.is_settled);
	step(FLOW_NEXT, 0x810, 0x810, 0x7000, STACK, 0);
	jump(0x104, 0x7000);
	CHECK(shadow.is_settled);
	end();
}

/* A goroutine ends in a call that never returns, and a new one gets its stack, and begins at the same place.
 */
TEST(shadow_the_last_call_of_a_goroutine_is_not_on_the_stack_of_the_next_one)
{
	struct shadow_step last = { FLOW_CALL, 0x106, 0x200, 0x6ff8, OTHER, 0x106, true };
	struct shadow_step away = { FLOW_NEXT, 0x204, 0x204, 0x7ff8, STACK, 0, false };
	struct shadow_step back = { FLOW_NEXT, 0x300, 0x300, 0x6ff8, OTHER, 0x101, true };
	struct shadow_step begin_next = { FLOW_JUMP_INDIRECT, 0x304, 0x400, 0x6ff8, OTHER, 0x101, true };

	begin(&isa_x86_64);
	shadow_step(&shadow, &last);
	CHECK_STR(stack(), "106");
	shadow_step(&shadow, &away);
	shadow_step(&shadow, &back);
	shadow_step(&shadow, &begin_next);
	CHECK_STR(stack(), "101");
	end();
}
