/* SPDX-License-Identifier: Apache-2.0 */
#include "unwinder/activations.h"

#include "tests/test.h"

static struct stack stack;
static struct activations last;

/* Frames as (cfa, pc, held), outermost first. */
static size_t meet(const uint64_t (*frames)[3], size_t n)
{
	stack_clear(&stack);
	for (size_t i = n; i-- > 0;)
		vec_push(&stack.frames, ((struct frame){ .cfa = frames[i][0],
							 .pc = frames[i][1],
							 .held = frames[i][2],
							 .is_return = i + 1 < n }));
	stack.end = STACK_COMPLETE;
	return activations_meet(&last, &stack);
}

#define MEET(...)                                  \
	meet((const uint64_t[][3]){ __VA_ARGS__ }, \
	     sizeof((const uint64_t[][3]){ __VA_ARGS__ }) / (3 * sizeof(uint64_t)))

static void end(void)
{
	stack_done(&stack);
	activations_done(&last);
}

TEST(activations_all_calls_of_a_first_stack_are_new)
{
	CHECK_EQ(MEET({ 0, 1, 0 }, { 900, 2, 7 }, { 800, 3, 8 }), 3);
	CHECK_EQ(MEET({ 0, 1, 0 }, { 900, 2, 7 }, { 800, 4, 8 }), 0); /* only the innermost pc differs */
	end();
}

TEST(activations_a_different_return_address_is_a_new_call)
{
	MEET({ 0, 1, 0 }, { 900, 2, 7 }, { 800, 3, 8 }, { 700, 5, 1 });
	CHECK_EQ(MEET({ 0, 1, 0 }, { 900, 2, 7 }, { 800, 4, 8 }, { 700, 5, 1 }), 1);
	CHECK_EQ(MEET({ 0, 1, 0 }, { 900, 6, 7 }, { 800, 4, 8 }, { 700, 5, 1 }), 2);
	end();
}

TEST(activations_a_different_frame_address_is_a_new_call)
{
	MEET({ 0, 1, 0 }, { 900, 2, 7 }, { 800, 3, 8 });
	CHECK_EQ(MEET({ 0, 1, 0 }, { 900, 2, 7 }, { 790, 3, 8 }), 1);
	CHECK_EQ(MEET({ 0, 1, 0 }, { 900, 2, 7 }, { 790, 3, 8 }, { 700, 4, 1 }), 1); /* one more call */
	CHECK_EQ(MEET({ 0, 1, 0 }, { 900, 2, 7 }), 0);                               /* returned */
	CHECK_EQ(MEET({ 0, 1, 0 }, { 900, 2, 7 }, { 790, 3, 8 }), 1);                /* called again */
	end();
}

TEST(activations_a_register_of_the_caller_distinguishes_calls)
{
	MEET({ 0, 1, 0 }, { 900, 2, 7 }, { 800, 3, 8 });
	CHECK_EQ(MEET({ 0, 1, 0 }, { 900, 2, 9 }, { 800, 3, 8 }), 1);
	CHECK_EQ(MEET({ 0, 1, 0 }, { 900, 2, 0 }, { 800, 3, 8 }), 0); /* unknown: may be the same call */
	end();
}

TEST(activations_a_register_unknown_in_between_is_no_second_new_call)
{
	MEET({ 0, 1, 0 }, { 900, 2, 7 }, { 800, 3, 8 }, { 700, 4, 1 });
	CHECK_EQ(MEET({ 0, 1, 0 }, { 900, 2, 0 }, { 800, 5, 8 }, { 700, 4, 1 }), 1);
	/* The register may have changed before the inner call was made. */
	CHECK_EQ(MEET({ 0, 1, 0 }, { 900, 2, 9 }, { 800, 5, 8 }, { 700, 4, 1 }), 0);
	CHECK_EQ(MEET({ 0, 1, 0 }, { 900, 2, 6 }, { 800, 5, 8 }, { 700, 4, 1 }), 2);
	end();
}

TEST(activations_frames_without_information_count_as_the_same)
{
	MEET({ 0, 1, 0 }, { 900, 2, 7 }, { 0, 3, 0 }, { 700, 5, 1 });
	CHECK_EQ(MEET({ 0, 1, 0 }, { 900, 2, 7 }, { 0, 4, 0 }, { 700, 6, 1 }), 0);
	end();
}

TEST(activations_of_other_stacks_are_not_compared)
{
	MEET({ 0, 1, 0 }, { 900, 2, 7 }, { 800, 3, 8 });
	CHECK_EQ(MEET({ 0, 1, 0 }, { 5900, 2, 7 }, { 5800, 3, 8 }), 0); /* a coroutine's stack */
	CHECK_EQ(MEET({ FRAME_OF_COROUTINE, 1, 0 }, { 900, 9, 9 }), 0);
	stack.end = STACK_NO_RECIPE;
	CHECK_EQ(activations_meet(&last, &stack), 0);
	CHECK_EQ(MEET({ 0, 1, 0 }, { 900, 2, 7 }, { 800, 3, 8 }),
		 0); /* compared with the thread's own last stack */
	end();
}

TEST(activations_of_shared_frames_are_not_compared_again)
{
	MEET({ 0, 1, 0 }, { 900, 2, 7 }, { 800, 3, 8 }, { 700, 4, 1 });
	last.serial = 5;
	stack.shared_serial = 5;
	stack.n_shared = 2;
	stack.serial = 6;
	stack.frames.at[0].cfa = 690;
	CHECK_EQ(activations_meet(&last, &stack), 1);
	CHECK_EQ(last.serial, 6);
	end();
}

TEST(activations_of_a_goroutine_are_compared_by_their_distance_from_its_first_frame)
{
	const uint64_t of = FRAME_OF_COROUTINE, g = 0x4000;

	CHECK_EQ(MEET({ of, 1, g }, { 900, 2, 7 }, { 800, 3, 8 }), 3);
	CHECK_EQ(activations_goroutine(&stack), g);
	/* The stack has moved, and with it the pointers into it. */
	CHECK_EQ(MEET({ of, 1, g }, { 5900, 2, 77 }, { 5800, 3, 88 }), 0);
	CHECK_EQ(MEET({ of, 1, g }, { 5900, 2, 78 }, { 5800, 3, 88 }), 1);
	CHECK_EQ(MEET({ of, 1, g }, { 900, 2, 7 }, { 790, 3, 8 }), 1);
	CHECK_EQ(MEET({ of, 1, g }, { 5900, 4, 77 }, { 5790, 3, 88 }), 1);
	/* Nothing is reported for a coroutine that is not known by a number. */
	CHECK_EQ(MEET({ of, 1, 0 }, { 900, 2, 7 }, { 700, 3, 8 }), 0);
	CHECK_EQ(activations_goroutine(&stack), 0);
	stack_clear(&stack);
	CHECK_EQ(activations_goroutine(&stack), 0);
	end();
}
