/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks of functions with return probes: the kernel has replaced their return addresses. x86-64. */
#include "tests/unit/unwinder/walk_scene.h"

#define PROBES 0x7ffffffff000ull

static struct scene scene_with(const char *page)
{
	struct scene s = scene();
	image_id id = images_add_pseudo(s.images, IMAGE_UNKNOWN, page, NULL);

	scene_map(
		&s,
		&(struct mapping){
			.start = PROBES, .len = 0x1000, .image = id, .bias = PROBES, .is_executable = true });
	return s;
}

static struct scene scene_probed(void)
{
	return scene_with("[uprobes]");
}

TEST(walk_restores_a_hidden_return_address)
{
	/* leaf has pushed rbx; its return address is at SP + 8, outer's at SP + 24. */
	const struct hidden_return hidden[] = { { SP + 8, BIAS + OUTER_CALLS, false },
						{ SP + 24, BIAS + START_CALLS, false } };
	struct scene s = scene_probed();

	s.event.sample.hidden = hidden;
	s.event.sample.n_hidden = 2;
	WALK(&s, LEAF + 2, 1, PROBES, 2, PROBES, 0);
	CHECK_END(&s, STACK_COMPLETE, 3);
	CHECK_EQ(s.stack.frames.at[1].vaddr, OUTER_CALLS);
	CHECK_EQ(s.stack.frames.at[2].vaddr, START_CALLS);
	/* Only those of the same frame are used. */
	s.event.sample.n_hidden = 1;
	WALK(&s, LEAF + 2, 1, PROBES, 2, PROBES, 0);
	CHECK_END(&s, STACK_NO_IMAGE, 3);
	scene_done(&s);
}

/* The kernel has replaced the return address, but not recorded it yet: one of the candidates may be it. */
TEST(walk_uses_the_only_candidate_that_follows_a_call_of_this_function)
{
	const struct hidden_return hidden[] = { { SP + 16, BIAS + START_CALLS, false },
						{ SP, SP, true },
						{ SP, PROBES, true },
						{ SP, BIAS + LEAF, true },
						{ SP, BIAS + OUTER_CALLS, true },
						{ SP, BIAS + START_CALLS, true },
						{ SP, BIAS + TAIL_CALLER_CALLS, true } };
	struct scene s = scene_probed();

	s.event.sample.hidden = hidden;
	s.event.sample.n_hidden = 6;
	WALK(&s, LEAF, PROBES, 2, PROBES, 0);
	CHECK_END(&s, STACK_COMPLETE, 3);
	CHECK_EQ(s.stack.frames.at[1].vaddr, OUTER_CALLS);
	/* Only at the entry of a function. */
	WALK(&s, LEAF + 2, 1, PROBES, 2, PROBES, 0);
	CHECK_END(&s, STACK_NO_IMAGE, 2);
	/* A second candidate, through a tail call: ambiguous if the frames of both lead to calls. */
	s.event.sample.n_hidden = 7;
	WALK(&s, LEAF, PROBES, BIAS + THREAD_CALLS, PROBES, 0);
	CHECK_END(&s, STACK_NO_IMAGE, 2);
	WALK(&s, LEAF, PROBES, 2, PROBES, 0);
	CHECK_END(&s, STACK_COMPLETE, 3);
	CHECK_EQ(s.stack.frames.at[1].vaddr, OUTER_CALLS);
	/* No candidate. */
	s.event.sample.n_hidden = 4;
	WALK(&s, LEAF, PROBES, 2, PROBES, 0);
	CHECK_END(&s, STACK_NO_IMAGE, 2);
	scene_done(&s);
}

/* On AArch64, the first segment of a program has its code: the kernel reports one mapping, with the data. */
TEST(walk_takes_no_address_of_data_for_a_return_address)
{
	const struct hidden_return hidden[] = { { SP + 16, BIAS + START_CALLS, false },
						{ SP, BIAS + OUTER_CALLS, true },
						{ SP, BIAS + TEXT + TEXT_SIZE + 64, true } };
	struct scene s = scene_probed();

	WALK(&s, LEAF, BIAS + OUTER_CALLS, 2, BIAS + START_CALLS, 0);
	scene_map(&s, &(struct mapping){ .start = BIAS + TEXT + TEXT_SIZE,
					 .len = 0x1000,
					 .image = s.stack.frames.at[0].image,
					 .bias = BIAS,
					 .is_executable = true });
	s.event.sample.hidden = hidden;
	s.event.sample.n_hidden = 3;
	WALK(&s, LEAF, PROBES, 2, PROBES, 0);
	CHECK_END(&s, STACK_COMPLETE, 3);
	CHECK_EQ(s.stack.frames.at[1].vaddr, OUTER_CALLS);
	scene_done(&s);
}

/* leaf has returned to the kernel's trampoline, which has pushed n_saved registers so far. */
static void check_left(uint64_t offset, uint64_t n_saved)
{
	const uint64_t words[] = { 0, 0, 0, 2, BIAS + START_CALLS, 0 };
	const struct hidden_return hidden[] = { { SP + 8 * n_saved - 8, BIAS + OUTER_CALLS, false } };
	struct scene s = scene_probed();

	s.event.sample.hidden = hidden;
	s.event.sample.n_hidden = 1;
	walk(&s, PROBES + offset - BIAS, words + 3 - n_saved, 3 + n_saved);
	CHECK_END(&s, STACK_COMPLETE, 2);
	CHECK_EQ(s.stack.frames.at[0].vaddr, OUTER_CALLS);
	CHECK_EQ(s.stack.frames.at[1].vaddr, START_CALLS);
	scene_done(&s);
}

TEST(walk_unwinds_the_trampoline_of_return_probes)
{
	check_left(0, 0);
	check_left(1, 0); /* after a breakpoint: kernels before 6.11 */
	check_left(1, 1);
	check_left(2, 2);
	check_left(4, 3);
	check_left(13, 3); /* in the trampoline's system call */
}

/* The kernel has removed the return address from its list and written it to the stack. */
TEST(walk_unwinds_the_trampoline_after_its_system_call)
{
	static const struct {
		uint64_t offset, n_saved;
	} at[] = { { 13, 2 }, { 15, 1 }, { 16, 0 } };
	const uint64_t words[] = { 7, 7, BIAS + OUTER_CALLS, 2, BIAS + START_CALLS, 0 };

	for (size_t i = 0; i < sizeof(at) / sizeof(*at); i++) {
		struct scene s = scene_probed();
		walk(&s, PROBES + at[i].offset - BIAS, words + 2 - at[i].n_saved, 4 + at[i].n_saved);
		CHECK_END(&s, STACK_COMPLETE, 2);
		CHECK_EQ(s.stack.frames.at[0].vaddr, OUTER_CALLS);
		scene_done(&s);
	}
}

/* leaf calls the kernel's code, which has pushed n_saved registers, in place of its first instruction. */
TEST(walk_unwinds_the_code_that_a_probed_nop_calls)
{
	static const struct {
		uint64_t offset, n_saved;
	} at[] = { { 0, 0 }, { 1, 1 }, { 3, 2 }, { 4, 3 }, { 13, 3 }, { 14, 2 }, { 16, 1 }, { 17, 0 } };
	const uint64_t words[] = { 7, 7, 7, BIAS + LEAF + 1, BIAS + OUTER_CALLS, 2, BIAS + START_CALLS, 0 };

	for (size_t i = 0; i < sizeof(at) / sizeof(*at); i++) {
		/* A hidden return address is not that of the call. */
		const struct hidden_return hidden[] = { { SP + 8 * at[i].n_saved + 8, BIAS + START_CALLS,
							  false } };
		struct scene s = scene_with("[uprobes-trampoline]");
		s.event.sample.hidden = hidden;
		s.event.sample.n_hidden = 1;
		walk(&s, PROBES + at[i].offset - BIAS, words + 3 - at[i].n_saved, 5 + at[i].n_saved);
		CHECK_END(&s, STACK_COMPLETE, 3);
		CHECK_EQ(s.stack.frames.at[0].vaddr, LEAF + 1);
		CHECK_EQ(s.stack.frames.at[1].vaddr, OUTER_CALLS);
		scene_done(&s);
	}
}

TEST(walk_ends_in_the_trampoline_without_the_return_address)
{
	struct scene s = scene_probed();

	WALK(&s, PROBES - BIAS, 2, BIAS + START_CALLS, 0);
	CHECK_END(&s, STACK_NO_IMAGE, 1);
	scene_done(&s);
}

/* The innermost frame of a sample that was taken behind a breakpoint. */
static uint64_t after_break(uint64_t vaddr, bool is_at_break)
{
	struct scene s = scene();

	s.event.sample.is_after_break = true;
	s.event.sample.is_at_break = is_at_break;
	WALK(&s, vaddr, BIAS + OUTER_CALLS, 2, BIAS + START_CALLS, 0);
	vaddr = s.stack.frames.at[0].vaddr;
	scene_done(&s);
	return vaddr;
}

/* The kernel has not set pc back yet. */
TEST(walk_starts_at_the_instruction_whose_probe_has_trapped)
{
	struct scene s = scene();

	WALK(&s, LEAF_ENDS + 1, BIAS + OUTER_CALLS, 2, BIAS + START_CALLS, 0);
	CHECK(s.stack.end != STACK_COMPLETE); /* behind the function */
	s.event.sample.is_after_break = true;
	WALK(&s, LEAF_ENDS + 1, BIAS + OUTER_CALLS, 2, BIAS + START_CALLS, 0);
	CHECK_END(&s, STACK_COMPLETE, 3);
	CHECK_EQ(s.stack.frames.at[0].vaddr, LEAF_ENDS);
	scene_done(&s);
}

TEST(walk_distinguishes_breakpoints_of_probes_from_those_in_the_file)
{
	CHECK_EQ(after_break(PADDED, true), PADDED); /* probed; the kernel has set pc back */
	CHECK_EQ(after_break(PADDED, false), PADDED);
	CHECK_EQ(after_break(PADDED_ENDS, true), PADDED_ENDS - 1);
	CHECK_EQ(after_break(LEAF + 1, false), LEAF);
	CHECK_EQ(after_break(LEAF + 1, true), LEAF + 1); /* either of two probes: pc is not changed */
}
