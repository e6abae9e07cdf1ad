/* SPDX-License-Identifier: Apache-2.0 */
#include "unwinder/cct.h"

#include "tests/test.h"

static struct stack stack_of(const uint64_t *vaddrs, size_t n, enum stack_end end)
{
	struct stack stack = { .end = end };

	for (size_t i = 0; i < n; i++)
		vec_push(&stack.frames,
			 ((struct frame){ .vaddr = vaddrs[i], .image = 1, .is_return = i > 0 }));
	return stack;
}

static uint32_t add(struct cct *cct, enum stack_end end, const uint64_t *vaddrs, size_t n)
{
	struct stack stack = stack_of(vaddrs, n, end);
	uint32_t node = cct_add_stack(cct, &stack);

	stack_done(&stack);
	return node;
}

TEST(cct_shares_common_callers)
{
	struct cct cct;

	cct_init(&cct);
	uint32_t a = add(&cct, STACK_COMPLETE, (uint64_t[]){ 10, 20, 30 }, 3);
	uint32_t b = add(&cct, STACK_COMPLETE, (uint64_t[]){ 11, 20, 30 }, 3);
	CHECK(a != b);
	CHECK_EQ(cct.nodes.at[a].parent, cct.nodes.at[b].parent);
	CHECK_EQ(cct.nodes.n, 2 + 4);
	CHECK_EQ(add(&cct, STACK_COMPLETE, (uint64_t[]){ 10, 20, 30 }, 3), a);
	CHECK_EQ(cct.nodes.n, 2 + 4);
	cct_done(&cct);
}

TEST(cct_keeps_recursion_and_call_sites_apart)
{
	struct cct cct;

	cct_init(&cct);
	uint32_t deep = add(&cct, STACK_COMPLETE, (uint64_t[]){ 10, 20, 20, 20 }, 4);
	uint32_t flat = add(&cct, STACK_COMPLETE, (uint64_t[]){ 10, 20 }, 2);
	CHECK(deep != flat);
	CHECK_EQ(cct.nodes.n, 2 + 4 + 1);
	cct_done(&cct);
}

TEST(cct_keeps_incomplete_stacks_under_their_own_root)
{
	struct cct cct;

	cct_init(&cct);
	uint32_t whole = add(&cct, STACK_COMPLETE, (uint64_t[]){ 10 }, 1);
	uint32_t cut = add(&cct, STACK_SNAPSHOT_ENDED, (uint64_t[]){ 10 }, 1);
	CHECK_EQ(cct.nodes.at[whole].parent, CCT_ROOT);
	CHECK_EQ(cct.nodes.at[cut].parent, CCT_INCOMPLETE);
	CHECK_EQ(cct.nodes.at[CCT_INCOMPLETE].parent, CCT_ROOT);
	CHECK_EQ(add(&cct, STACK_NO_USER_REGS, NULL, 0), CCT_INCOMPLETE);
	cct_done(&cct);
}

TEST(cct_marks_returns_and_the_kernel)
{
	struct cct cct;
	struct stack stack = stack_of((uint64_t[]){ 1, 2, 3 }, 3, STACK_COMPLETE);

	cct_init(&cct);
	stack.n_kernel = 1;
	uint32_t node = cct_add_stack(&cct, &stack);
	CHECK_EQ(cct.nodes.at[node].flags, CCT_IS_KERNEL);
	CHECK_EQ(cct.nodes.at[cct.nodes.at[node].parent].flags, CCT_IS_RETURN);
	stack_done(&stack);
	cct_done(&cct);
}

TEST(cct_parents_precede_children_and_are_found_again_when_there_are_many)
{
	struct cct cct;

	cct_init(&cct);
	for (uint32_t i = 0; i < 20000; i++)
		CHECK_EQ(cct_child(&cct, i / 3, i % 5, i, 0), i + 2);
	for (uint32_t i = 0; i < 20000; i++)
		CHECK_EQ(cct_child(&cct, i / 3, i % 5, i, 0), i + 2);
	for (uint32_t i = 1; i < cct.nodes.n; i++)
		CHECK(cct.nodes.at[i].parent < i);
	cct_done(&cct);
}

TEST(cct_sums_values_per_node_thread_and_metric)
{
	struct cct cct;

	cct_init(&cct);
	for (uint64_t i = CCT_INCOMPLETE + 1; i < 10; i++)
		cct_child(&cct, CCT_ROOT, 0, i, 0);
	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < 3000; i++)
			cct_add_value(&cct, i % 10, i / 1000, i % 2, 1);
	CHECK_EQ(cct.values.n, 30);
	for (size_t i = 0; i < cct.values.n; i++)
		CHECK_EQ(cct.values.at[i].value, 200);
	cct_done(&cct);
}

TEST(cct_follows_a_stack_from_the_frames_it_shares_with_the_last)
{
	struct cct cct, other;
	struct cct_path path = { 0 };
	struct stack first = stack_of((uint64_t[]){ 1, 2, 3, 4 }, 4, STACK_COMPLETE);
	struct stack second = stack_of((uint64_t[]){ 9, 8, 3, 4 }, 4, STACK_COMPLETE);

	cct_init(&cct);
	cct_init(&other);
	first.serial = 1;
	second.serial = 2;
	second.shared_serial = 1;
	second.n_shared = 2;
	CHECK_EQ(cct_follow_stack(&cct, &first, &path), cct_add_stack(&other, &first));
	CHECK_EQ(cct_follow_stack(&cct, &second, &path), cct_add_stack(&other, &second));
	CHECK_EQ(cct.nodes.n, other.nodes.n);
	/* The path is now that of stack 2: what it shares with stack 1 must be searched. */
	second.serial = 3;
	CHECK_EQ(cct_follow_stack(&cct, &second, &path), cct_add_stack(&other, &second));
	/* An incomplete stack shares no node with a complete one. */
	second.shared_serial = 3;
	second.serial = 4;
	second.end = STACK_NO_RECIPE;
	CHECK_EQ(cct_follow_stack(&cct, &second, &path), cct_add_stack(&other, &second));
	CHECK_EQ(cct.nodes.n, other.nodes.n);
	vec_done(&path.steps);
	stack_done(&first);
	stack_done(&second);
	cct_done(&cct);
	cct_done(&other);
}
