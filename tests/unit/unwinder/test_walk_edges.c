/* SPDX-License-Identifier: Apache-2.0 */
/* Special cases of walks: memory of the target, code without a file, signals, threads, stubs, the kernel. */
#include <stdlib.h>

#include "tests/unit/unwinder/walk_scene.h"

static ssize_t read_rest(void *context, pid_t pid, uint64_t addr, void *to, size_t len)
{
	const uint64_t rest[] = { BIAS + START_CALLS, 0 };

	CHECK_EQ(pid, PID);
	CHECK_EQ(addr, SP + 24);
	CHECK(len >= sizeof(rest));
	memcpy(to, rest, sizeof(rest));
	++*(int *)context;
	return sizeof(rest);
}

TEST(walk_continues_in_the_memory_of_a_stopped_target)
{
	int n_reads = 0;
	struct scene s =
		scene_of(&(struct unwinder_options){ .read_memory = read_rest, .read_context = &n_reads });

	s.event.sample.stack_was_full = true;
	WALK(&s, LEAF + 2, 1, BIAS + OUTER_CALLS, 2);
	CHECK_END(&s, STACK_COMPLETE, 3);
	CHECK_EQ(s.stack.frames.at[0].verdict, VERDICT_VALID);
	CHECK_EQ(s.stack.frames.at[1].verdict, VERDICT_VALID);
	CHECK_EQ(n_reads, 1);
	scene_done(&s);
}

TEST(walk_stops_when_sp_does_not_rise)
{
	struct scene s = scene();

	s.event.sample.regs.value[RSP] = SP + 8;
	WALK(&s, STUCK + 5, 1, 2);
	CHECK(s.stack.end != STACK_COMPLETE);
	CHECK_EQ(s.stack.frames.n, 1);
	scene_done(&s);
}

/* After the pop, the unwind entry's rule reads the word above the return address: here an address after some
 * other call. */
TEST(an_unwind_entry_is_not_trusted_in_interrupted_code_unless_a_call_confirms_it)
{
	for (unsigned patience = 0; patience < 200; patience += 100) {
		struct scene s =
			scene_of(&(struct unwinder_options){ .mode = UNWIND_AUTO, .patience = patience });
		WALK(&s, SHORT_ENDS, BIAS + SHORT_CALLER_CALLS, BIAS + BARE_CALLS, 0, 0);
		CHECK(s.stack.frames.n > 1);
		CHECK_EQ(s.stack.frames.at[1].vaddr, SHORT_CALLER_CALLS);
		/* Before the pop, the entry is correct, which is confirmed by a call of leaf. */
		WALK(&s, LEAF + 2, 0xb, BIAS + OUTER_CALLS, 0xb, BIAS + START_CALLS);
		CHECK_END(&s, STACK_COMPLETE, 3);
		CHECK_EQ(s.stack.frames.at[0].witness, patience ? WITNESS_CFI : WITNESS_ANALYSIS);
		scene_done(&s);
	}
}

TEST(code_that_is_sampled_often_is_analysed_eventually)
{
	struct scene s = scene_of(&(struct unwinder_options){ .mode = UNWIND_AUTO, .patience = 3 });

	for (unsigned i = 0; i < 4; i++) {
		WALK(&s, LEAF + 2, i, BIAS + OUTER_CALLS, 0xb, BIAS + START_CALLS); /* each stack differs */
		CHECK_END(&s, STACK_COMPLETE, 3);
		CHECK_EQ(s.stack.frames.at[0].witness, i < 2 ? WITNESS_CFI : WITNESS_ANALYSIS);
	}
	scene_done(&s);
}

TEST(walk_reports_where_it_has_no_image)
{
	struct scene s = scene();

	WALK(&s, 0x9999999, 1, 2);
	CHECK_END(&s, STACK_NO_IMAGE, 1);
	CHECK_EQ(images_get(s.images, s.stack.frames.at[0].image)->kind, IMAGE_UNKNOWN);
	scene_done(&s);
}

TEST(walk_gives_code_without_a_file_an_image_of_its_process)
{
	struct scene s = scene();

	s.event.sample.regs.value[RIP] = 0x10010;
	s.event.sample.regs.known &= ~(1u << RBP);
	unwinder_walk(s.unwinder, &s.event, &s.stack);
	CHECK_END(&s, STACK_NO_IMAGE, 1);
	const struct image *image = images_get(s.images, s.stack.frames.at[0].image);
	CHECK_EQ(image->kind, IMAGE_JIT);
	CHECK_STR(image->path, "[jit 42]");
	CHECK_EQ(image->pid, 42);
	CHECK_EQ(s.stack.frames.at[0].vaddr, 0x10010);
	scene_done(&s);
}

TEST(walk_uses_the_frame_pointer_last_and_never_reports_that_as_complete)
{
	struct scene s = scene();

	/* bare has a frame pointer but no recipe; its caller is the root of a thread */
	s.event.sample.regs.value[RBP] = SP;
	WALK(&s, BARE + 4, 0, BIAS + THREAD_CALLS, 0, 0);
	CHECK_END(&s, STACK_NO_RECIPE, 2);
	CHECK_EQ(s.stack.frames.at[0].witness, WITNESS_FP);
	CHECK_EQ(s.stack.frames.at[1].vaddr, THREAD_CALLS);
	scene_done(&s);
}

TEST(walk_analyses_code_without_an_unwind_entry)
{
	struct scene s = scene();

	/* a copy of leaf's body without an unwind entry */
	WALK(&s, NOWHERE, 0, BIAS + THREAD_CALLS, 0, 0);
	CHECK_END(&s, STACK_COMPLETE, 2);
	CHECK_EQ(s.stack.frames.at[0].witness, WITNESS_ANALYSIS);
	scene_done(&s);
}

TEST(walk_by_frame_pointer_on_request)
{
	struct scene s = scene_of(&(struct unwinder_options){ .mode = UNWIND_FP });

	s.event.sample.regs.value[RBP] = SP;
	WALK(&s, BARE + 4, SP + 16, BIAS + BARE_CALLS, 0, BIAS + START_CALLS, 4);
	CHECK_END(&s, STACK_INVALID_STEP, 2); /* _start does not call bare */
	CHECK_EQ(s.stack.frames.at[0].witness, WITNESS_FP);
	scene_done(&s);
}

TEST(walk_crosses_a_signal_with_all_registers)
{
	struct scene s = scene();
	uint64_t words[40] = { 1, BIAS + TRAMPOLINE };
	uint64_t *gregs = words + 2 + 5;

	/* the handler is leaf; it interrupted leaf at its entry, called by outer */
	gregs[11] = 777;         /* rbx */
	gregs[15] = SP + 30 * 8; /* rsp */
	gregs[16] = BIAS + LEAF; /* rip: not after a call */
	words[30] = BIAS + OUTER_CALLS;
	words[31] = 5;
	words[32] = BIAS + START_CALLS;
	struct seen seen = { 0 };
	unwinder_observe(s.unwinder, remember_rbx, &seen);
	walk(&s, LEAF + 2, words, ARRAY_LEN(words));
	CHECK_END(&s, STACK_COMPLETE, 5);
	CHECK_EQ(s.stack.frames.at[1].vaddr, TRAMPOLINE);
	CHECK(!s.stack.frames.at[1].is_return);
	CHECK_EQ(s.stack.frames.at[1].witness, WITNESS_TEMPLATE);
	CHECK_EQ(s.stack.frames.at[2].vaddr, LEAF);
	CHECK(!s.stack.frames.at[2].is_return);
	CHECK_EQ(seen.rbx[2], 777);
	scene_done(&s);
}

TEST(walk_recognises_the_start_of_a_thread)
{
	struct scene s = scene();

	/* its unwind entry describes an ordinary frame, but it has no caller */
	WALK(&s, LEAF + 2, 1, BIAS + THREAD_CALLS, 0, 0);
	CHECK_END(&s, STACK_COMPLETE, 2);
	CHECK_EQ(s.stack.frames.at[1].vaddr, THREAD_CALLS);
	scene_done(&s);
}

TEST(walk_does_not_mistake_a_return_address_at_the_entry_point_for_a_root)
{
	struct scene s = scene();

	WALK(&s, LEAF + 2, 1, BIAS + START, BIAS + THREAD_CALLS, 0, 0);
	CHECK_END(&s, STACK_COMPLETE, 3);
	CHECK_EQ(s.stack.frames.at[1].vaddr, START);
	CHECK_EQ(s.stack.frames.at[2].vaddr, THREAD_CALLS);
	scene_done(&s);
}

TEST(walk_unwinds_linker_stubs_by_template)
{
	struct scene s = scene();

	WALK(&s, STUB, BIAS + BARE_CALLS, 0);
	CHECK_EQ(s.stack.frames.at[0].witness, WITNESS_TEMPLATE);
	CHECK_EQ(s.stack.frames.at[1].vaddr, BARE_CALLS);
	WALK(&s, STUB + 11, 0, BIAS + BARE_CALLS, 0);
	CHECK_EQ(s.stack.frames.at[1].vaddr, BARE_CALLS);
	scene_done(&s);
}

TEST(walk_of_endless_recursion_ends)
{
	struct scene s = scene();
	size_t n = 70000;
	uint64_t *words = malloc(n * sizeof(*words));

	for (size_t i = 0; i < n; i++)
		words[i] = BIAS + RECURSE_CALLS;
	walk(&s, 0x1500, words, n);
	CHECK_END(&s, STACK_TOO_DEEP, STACK_MAX_FRAMES);
	free(words);
	scene_done(&s);
}

static void enter_kernel(struct scene *s)
{
	static const uint64_t kernel[] = { 0xffffffff81000010, 0xffffffff81000200 };

	s->event.sample.kernel_pc = kernel;
	s->event.sample.n_kernel_pc = ARRAY_LEN(kernel);
}

TEST(walk_puts_kernel_frames_first)
{
	struct scene s = scene();

	enter_kernel(&s);
	WALK(&s, LEAF + 2, 1, BIAS + OUTER_CALLS, 2, BIAS + START_CALLS, 3);
	CHECK_END(&s, STACK_COMPLETE, 5);
	CHECK_EQ(s.stack.n_kernel, 2);
	CHECK_EQ(images_get(s.images, s.stack.frames.at[0].image)->kind, IMAGE_KERNEL);
	CHECK(!s.stack.frames.at[0].is_return);
	CHECK(s.stack.frames.at[1].is_return);
	CHECK_EQ(s.stack.frames.at[2].vaddr, LEAF + 2);
	s.event.sample.regs.known = 0;
	WALK(&s, LEAF, 1);
	CHECK_END(&s, STACK_NO_USER_REGS, 2);
	scene_done(&s);
}

TEST(walk_during_an_exec_has_only_kernel_frames)
{
	struct scene s = scene();
	struct event exec = { .kind = EVENT_EXEC, .pid = s.event.pid, .tid = s.event.tid, .comm = "next" };

	enter_kernel(&s);
	unwinder_event(s.unwinder, &exec);
	WALK(&s, LEAF + 2, 1, BIAS + OUTER_CALLS, 2, BIAS + START_CALLS, 3); /* of the previous program */
	CHECK_END(&s, STACK_COMPLETE, 2);
	s.event.sample.n_kernel_pc = 0; /* the new program runs; none of its mappings are known */
	WALK(&s, LEAF + 2, 1, BIAS + OUTER_CALLS, 2, BIAS + START_CALLS, 3);
	CHECK_END(&s, STACK_NO_IMAGE, 1);
	enter_kernel(&s);
	WALK(&s, LEAF + 2, 1, BIAS + OUTER_CALLS, 2, BIAS + START_CALLS, 3);
	CHECK_END(&s, STACK_NO_IMAGE, 3);
	scene_done(&s);
}

TEST(walk_during_the_exec_with_which_a_recording_begins_has_only_kernel_frames)
{
	struct scene s = scene();

	s.event.pid = s.event.tid = 4321; /* no event has mentioned it */
	enter_kernel(&s);
	walk(&s, LEAF + 2, NULL, 0);
	CHECK_END(&s, STACK_COMPLETE, 2);
	WALK(&s, LEAF + 2, 1, 2, 3); /* its stack exists, so it is not in exec */
	CHECK_END(&s, STACK_NO_IMAGE, 3);
	s.event.sample.n_kernel_pc = 0;
	walk(&s, LEAF + 2, NULL, 0);
	CHECK_END(&s, STACK_NO_IMAGE, 1);
	scene_done(&s);
}

TEST(walk_unwinds_code_whose_return_address_is_in_a_register)
{
	struct scene s = scene();

	s.event.sample.regs.known |= 1u << RDI;
	s.event.sample.regs.value[RDI] = BIAS + THREAD_CALLS;
	WALK(&s, VFORK + 7, 1, 2);
	CHECK_END(&s, STACK_COMPLETE, 2);
	CHECK_EQ(s.stack.frames.at[1].vaddr, THREAD_CALLS);
	scene_done(&s);
}

TEST(walk_during_an_exec_that_has_freed_the_stack_has_only_kernel_frames)
{
	struct scene s = scene();

	enter_kernel(&s);
	WALK(&s, EXEC, BIAS + THREAD_CALLS, 3); /* the stack still exists */
	CHECK_END(&s, STACK_COMPLETE, 4);
	walk(&s, EXEC, NULL, 0);
	CHECK_END(&s, STACK_COMPLETE, 2);
	WALK(&s, EXEC, 1, 2, 3); /* replaced by the new stack */
	CHECK_END(&s, STACK_COMPLETE, 2);
	walk(&s, LEAF + 2, NULL, 0); /* outside of exec, a missing stack is an error */
	CHECK_END(&s, STACK_BAD_READ, 3);
	s.event.sample.n_kernel_pc = 0;
	walk(&s, EXEC, NULL, 0);
	CHECK_END(&s, STACK_BAD_READ, 1);
	scene_done(&s);
}

TEST(walk_checks_callchains_from_the_kernel)
{
	struct scene s = scene();
	const uint64_t good[] = { BIAS + LEAF + 2, BIAS + OUTER_CALLS, BIAS + START_CALLS };
	const uint64_t skipping[] = { BIAS + LEAF, BIAS + START_CALLS };

	s.event.sample.user_pc = good;
	s.event.sample.n_user_pc = 3;
	unwinder_walk(s.unwinder, &s.event, &s.stack);
	CHECK_END(&s, STACK_COMPLETE, 3);
	CHECK_EQ(s.stack.frames.at[0].witness, WITNESS_FP);
	s.event.sample.user_pc = skipping;
	s.event.sample.n_user_pc = 2;
	unwinder_walk(s.unwinder, &s.event, &s.stack);
	CHECK_END(&s, STACK_INVALID_STEP, 1);
	scene_done(&s);
}

TEST(walk_of_a_callchain_that_skips_a_caller_is_not_complete)
{
	struct scene s = scene();
	const uint64_t skipping[] = { BIAS + LEAF, BIAS + THREAD_CALLS };

	s.event.sample.user_pc = skipping;
	s.event.sample.n_user_pc = 2;
	unwinder_walk(s.unwinder, &s.event, &s.stack); /* of branches: there is nothing to skip */
	CHECK_END(&s, STACK_COMPLETE, 2);
	s.event.sample.has_frame_chain = true;
	unwinder_walk(s.unwinder, &s.event, &s.stack);
	CHECK_END(&s, STACK_BAD_READ, 2);
	scene_done(&s);
}

TEST(walk_forgets_what_another_mapping_replaced)
{
	struct scene s = scene();

	WALK(&s, LEAF + 2, 1, BIAS + OUTER_CALLS, 2, BIAS + START_CALLS, 3);
	CHECK_END(&s, STACK_COMPLETE, 3);
	scene_map(&s, &(struct mapping){ .start = BIAS + TEXT, .len = 0x1000, .image = IMAGE_NONE });
	WALK(&s, LEAF + 2, 1, BIAS + OUTER_CALLS, 2, BIAS + START_CALLS, 3);
	CHECK_END(&s, STACK_NO_IMAGE, 1);
	scene_done(&s);
}

TEST(walk_ends_where_the_stack_of_a_coroutine_begins_above_a_page)
{
	struct scene s = scene();

	s.event.sample.regs.value[RSP] = (SP | 4095) + 1 - 32;
	WALK(&s, LEAF + 2, 1, BIAS + OUTER_CALLS, 2, 0);
	CHECK_END(&s, STACK_COMPLETE, 2);
	s.event.sample.regs.value[RBP] = (SP | 4095) + 1; /* the end of its stack */
	WALK(&s, LEAF + 2, 1, BIAS + OUTER_CALLS, 2, 0);
	CHECK_END(&s, STACK_COMPLETE, 2);
	s.event.sample.regs.value[RBP] = 1; /* some other frame pointer */
	WALK(&s, LEAF + 2, 1, BIAS + OUTER_CALLS, 2, 0);
	CHECK_END(&s, STACK_INVALID_STEP, 2);
	scene_done(&s);
}
