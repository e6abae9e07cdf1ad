/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"
#include "verify/step_tally.h"

static struct stack stack;
static struct step_truth truth;

static void given(size_t n_true, size_t n_unwound, size_t n_equal, enum stack_end end)
{
	stack_clear(&stack);
	vec_clear(&truth.pcs);
	for (size_t i = 0; i < n_true; i++)
		vec_push(&truth.pcs, 0x1000 + i);
	for (size_t i = 0; i < n_unwound; i++)
		vec_push(&stack.frames,
			 ((struct frame){ .pc = i < n_equal ? 0x1000 + i : 0x2000 + i, .image = 7 }));
	stack.end = end;
}

static void done(void)
{
	stack_done(&stack);
	vec_done(&truth.pcs);
}

static enum step_outcome outcome(void)
{
	size_t right;

	return step_judge(&truth, &stack, &right);
}

TEST(step_judge_only_the_whole_stack_is_exact)
{
	given(4, 4, 4, STACK_COMPLETE);
	CHECK_EQ(outcome(), OUTCOME_EXACT);
	given(4, 4, 4, STACK_NO_RECIPE); /* the whole stack, but reported as incomplete */
	CHECK_EQ(outcome(), OUTCOME_TRUNCATED);
	done();
}

TEST(step_judge_a_part_is_truncated_only_if_reported_as_incomplete)
{
	given(4, 2, 2, STACK_NO_RECIPE);
	CHECK_EQ(outcome(), OUTCOME_TRUNCATED);
	given(4, 2, 2, STACK_COMPLETE);
	CHECK_EQ(outcome(), OUTCOME_WRONG_COMPLETE);
	done();
}

TEST(step_judge_an_extra_frame_is_wrong)
{
	given(4, 4, 3, STACK_BAD_READ);
	CHECK_EQ(outcome(), OUTCOME_WRONG);
	given(4, 5, 4, STACK_COMPLETE);
	CHECK_EQ(outcome(), OUTCOME_WRONG_COMPLETE);
	done();
}

TEST(tally_counts_by_module_and_place)
{
	struct tally tally = { 0 };

	given(4, 4, 4, STACK_COMPLETE);
	tally_add(&tally, &truth, &stack);
	given(4, 2, 2, STACK_NO_RECIPE);
	tally_add(&tally, &truth, &stack);
	tally_add(&tally, &truth, &stack);
	CHECK_EQ(tally.samples, 3);
	CHECK_EQ(tally.by_outcome[OUTCOME_EXACT], 1);
	CHECK_EQ(tally.by_end[STACK_NO_RECIPE], 2);
	CHECK_EQ(tally.modules.n, 1);
	CHECK_EQ(tally.modules.at[0].image, 7);
	CHECK_EQ(tally.modules.at[0].by_outcome[OUTCOME_TRUNCATED], 2);
	CHECK_EQ(tally.places.n, 1);
	CHECK_EQ(tally.places.at[0].count, 2);
	tally_done(&tally);
	done();
}
