/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include "collector/process/stack_top.h"

#define SECOND 1000000000ull

static int lookups;

/* Mappings of 0x1000 bytes at every 0x10000. */
static struct stack_range find(void *context, pid_t tid, uint64_t sp)
{
	uint64_t start = sp & ~0xffffull;

	(void)context, (void)tid;
	lookups++;
	return sp - start < 0x1000 ? (struct stack_range){ start, start + 0x1000 }
				   : (struct stack_range){ 0 };
}

TEST(stack_top_cuts_at_the_end_of_the_mapping)
{
	struct stack_tops *tops = stack_tops_new(find, NULL);

	lookups = 0;
	CHECK_EQ(stack_tops_clip(tops, 1, 5, 0x10f00, 0x400), 0x100);
	CHECK_EQ(stack_tops_clip(tops, 1, 6, 0x10000, 0x400), 0x400);
	CHECK_EQ(stack_tops_clip(tops, 1, 7, 0x10c01, 0x400), 0x3ff);
	CHECK_EQ(lookups, 1);
	CHECK_EQ(stack_tops_clip(tops, 2, 8, 0x20f00, 0x400), 0x100);
	CHECK_EQ(lookups, 2);
	stack_tops_free(tops);
}

TEST(stack_top_does_not_clip_if_the_mapping_is_unknown)
{
	struct stack_tops *tops = stack_tops_new(find, NULL);

	CHECK_EQ(stack_tops_clip(tops, 1, 5, 0x1f000, 0x400), 0x400);
	stack_tops_free(tops);
}

TEST(stack_top_repeats_a_lookup_only_after_a_pause)
{
	struct stack_tops *tops = stack_tops_new(find, NULL);

	lookups = 0;
	CHECK_EQ(stack_tops_clip(tops, 1, SECOND, 0x10f00, 0x400), 0x100);
	for (uint64_t i = 1; i < 50; i++) /* on a coroutine's stack */
		CHECK_EQ(stack_tops_clip(tops, 1, SECOND + i, 0x20f00, 0x400), 0x400);
	CHECK_EQ(lookups, 1);
	CHECK_EQ(stack_tops_clip(tops, 1, 2 * SECOND, 0x20f00, 0x400), 0x100);
	CHECK_EQ(lookups, 2);
	stack_tops_free(tops);
}

TEST(stack_top_forgets_threads_that_ended)
{
	struct stack_tops *tops = stack_tops_new(find, NULL);

	lookups = 0;
	for (int i = 0; i < 10; i++) {
		CHECK_EQ(stack_tops_clip(tops, 77, SECOND, 0x10f00, 0x400), 0x100);
		stack_tops_forget(tops, 77);
	}
	stack_tops_forget(tops, 78);
	CHECK_EQ(lookups, 10);
	stack_tops_free(tops);
}
