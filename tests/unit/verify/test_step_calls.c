/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"
#include "verify/step_calls.h"

static struct stack stack;
static struct step_truth truth;
static struct step_calls calls;

/* Three frames, outermost first, of which the innermost is said to be at a CFA and is of a call. */
static void sample(uint64_t cfa, uint64_t call)
{
	stack_clear(&stack);
	vec_clear(&truth.calls);
	vec_push(&stack.frames, ((struct frame){ .cfa = cfa, .pc = 3 }));
	vec_push(&stack.frames, ((struct frame){ .cfa = 900, .pc = 2, .held = 7 }));
	vec_push(&stack.frames, ((struct frame){ .pc = 1 }));
	vec_push(&truth.calls, call);
	vec_push(&truth.calls, 1);
	vec_push(&truth.calls, 0);
	stack.end = STACK_COMPLETE;
	step_calls_add(&calls, &truth, &stack);
}

TEST(step_calls_counts_found_missed_and_wrong_calls)
{
	sample(800, 2);
	CHECK_EQ(calls.n_new, 0); /* no previous sample to compare with */
	sample(790, 3);
	CHECK_EQ(calls.n_new, 1);
	CHECK_EQ(calls.n_found, 1);
	sample(790, 4);
	CHECK_EQ(calls.n_new, 2);
	CHECK_EQ(calls.n_found, 1);
	CHECK_EQ(calls.n_wrong, 0);
	sample(780, 4);
	CHECK_EQ(calls.n_wrong, 1);
	step_calls_forget(&calls);
	sample(770, 5);
	CHECK_EQ(calls.n_new, 2);
	step_calls_done(&calls);
	stack_done(&stack);
	vec_done(&truth.calls);
}
