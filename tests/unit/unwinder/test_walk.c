/* SPDX-License-Identifier: Apache-2.0 */
/* Steps from frame to frame: what is restored, checked and refused. */
#include <stdlib.h>

#include "tests/unit/unwinder/walk_scene.h"

TEST(walk_reaches_the_root)
{
	struct scene s = scene();

	WALK(&s, LEAF + 2, 1, BIAS + OUTER_CALLS, 2, BIAS + START_CALLS, 3);
	CHECK_END(&s, STACK_COMPLETE, 3);
	CHECK_EQ(s.stack.frames.at[0].vaddr, LEAF + 2);
	CHECK_EQ(s.stack.frames.at[1].pc, BIAS + OUTER_CALLS);
	CHECK_EQ(s.stack.frames.at[2].vaddr, START_CALLS);
	CHECK(!s.stack.frames.at[0].is_return);
	CHECK(s.stack.frames.at[1].is_return);
	CHECK_EQ(s.stack.frames.at[0].verdict, VERDICT_VALID);
	CHECK_EQ(s.stack.frames.at[0].witness, WITNESS_ANALYSIS); /* the function passes its self-check */
	CHECK_EQ(s.stack.frames.at[2].witness, WITNESS_NONE);
	CHECK_EQ(unwinder_stats(s.unwinder)->frames, 3);
	scene_done(&s);
}

TEST(walk_gives_the_same_stack_from_its_cache)
{
	struct scene s = scene();

	for (int i = 0; i < 3; i++) {
		WALK(&s, LEAF + 2, 1, BIAS + OUTER_CALLS, 2, BIAS + START_CALLS, 3);
		CHECK_END(&s, STACK_COMPLETE, 3);
	}
	CHECK_EQ(unwinder_stats(s.unwinder)->cache_misses, 3);
	CHECK_EQ(unwinder_stats(s.unwinder)->cache_hits, 6);
	scene_done(&s);
}

TEST(walk_restores_saved_registers)
{
	struct scene s = scene();
	struct seen seen = { 0 };

	unwinder_observe(s.unwinder, remember_rbx, &seen);
	WALK(&s, LEAF + 2, 111, BIAS + OUTER_CALLS, 222, BIAS + START_CALLS, 3);
	CHECK_EQ(seen.n, 2); /* _start is recognised as the root: no step */
	CHECK_EQ(seen.rbx[0], 0xb);
	CHECK_EQ(seen.rbx[1], 111);
	scene_done(&s);
}

TEST(walk_takes_a_popped_register_as_it_is)
{
	struct scene s = scene();
	struct seen seen = { 0 };

	/* after `pop %rbx`, the unwind entry still has rbx at c-16, which is now below sp */
	unwinder_observe(s.unwinder, remember_rbx, &seen);
	WALK(&s, LEAF_ENDS, BIAS + OUTER_CALLS, 222, BIAS + START_CALLS, 3);
	CHECK_END(&s, STACK_COMPLETE, 3);
	CHECK(seen.is_known[1]);
	CHECK_EQ(seen.rbx[1], 0xb);
	scene_done(&s);
}

TEST(walk_refuses_a_return_address_that_follows_no_call)
{
	struct scene s = scene();

	WALK(&s, LEAF + 2, 1, BIAS + OUTER_CALLS + 1, 2, BIAS + START_CALLS, 3);
	CHECK_END(&s, STACK_INVALID_STEP, 1);
	scene_done(&s);
}

TEST(walk_refuses_a_call_that_cannot_lead_to_the_callee)
{
	struct scene s = scene();

	/* _start calls outer, which never jumps away: leaf cannot have been reached from there */
	WALK(&s, LEAF + 2, 1, BIAS + START_CALLS, 3);
	CHECK_END(&s, STACK_INVALID_STEP, 1);
	scene_done(&s);
}

TEST(walk_accepts_a_tail_call_as_likely)
{
	struct scene s = scene();

	WALK(&s, LEAF + 2, 1, BIAS + TAIL_CALLER_CALLS, BIAS + BARE_CALLS);
	CHECK(s.stack.frames.n >= 2);
	CHECK_EQ(s.stack.frames.at[0].verdict, VERDICT_LIKELY);
	CHECK_EQ(s.stack.frames.at[1].vaddr, TAIL_CALLER_CALLS);
	scene_done(&s);
}

TEST(walk_refuses_a_return_address_outside_executable_memory)
{
	struct scene s = scene();

	WALK(&s, LEAF + 2, 1, 0x123456, 2);
	CHECK_END(&s, STACK_INVALID_STEP, 1);
	scene_done(&s);
}

TEST(walk_does_not_report_a_zero_return_address_as_complete)
{
	struct scene s = scene();

	WALK(&s, LEAF + 2, 1, 0, 0, 0);
	CHECK_END(&s, STACK_INVALID_STEP, 1);
	scene_done(&s);
}

TEST(walk_reports_the_end_of_a_snapshot)
{
	struct scene s = scene();

	s.event.sample.stack_was_full = true;
	WALK(&s, LEAF + 2, 1, BIAS + OUTER_CALLS, 2);
	CHECK_END(&s, STACK_SNAPSHOT_ENDED, 2);
	s.event.sample.stack_was_full = false;
	WALK(&s, LEAF + 2, 1, BIAS + OUTER_CALLS, 2);
	CHECK_END(&s, STACK_BAD_READ, 2);
	scene_done(&s);
}
