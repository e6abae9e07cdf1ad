/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include "unwinder/memory.h"

#define START 0x7000f00ull /* a snapshot of 0x200 bytes; pages from 0x7001000 on overlap its end */
#define PAGES 0x7001000ull

static uint8_t snapshot[0x200], pages[2][STACK_PAGE];
static const struct stack_page deep[2] = { { pages[0], 1 }, { pages[1], 2 } };

/* Every byte is a function of its address. */
static void begin(struct memory *memory, bool is_cut_off)
{
	struct sample sample = { .stack = { snapshot, sizeof(snapshot) },
				 .stack_was_full = is_cut_off,
				 .deep = deep,
				 .n_deep = 2,
				 .deep_start = PAGES };

	for (size_t i = 0; i < sizeof(snapshot); i++)
		snapshot[i] = (uint8_t)((START + i) * 37 >> 3);
	for (size_t i = 0; i < 2 * STACK_PAGE; i++)
		pages[i / STACK_PAGE][i % STACK_PAGE] = (uint8_t)((PAGES + i) * 37 >> 3);
	*memory = (struct memory){ 0 };
	memory_begin(memory, 1, START, &sample);
}

TEST(memory_joins_snapshot_and_pages)
{
	struct memory memory;
	uint64_t value, want;

	begin(&memory, true);
	for (uint64_t addr = START; addr <= PAGES + 2 * STACK_PAGE - 8; addr++) {
		for (unsigned i = 0; i < 8; i++)
			((uint8_t *)&want)[i] = (uint8_t)((addr + i) * 37 >> 3);
		CHECK_EQ(memory_get(&memory, addr, 8, &value), MEMORY_OK);
		CHECK_EQ(value, want);
	}
}

TEST(memory_has_holes_where_pages_were_not_in_memory)
{
	struct stack_page with_hole[2] = { { NULL, 0 }, deep[1] };
	struct memory memory;
	uint64_t value;

	begin(&memory, true);
	memory.deep = with_hole;
	CHECK_EQ(memory_get(&memory, START + 0x1f8, 8, &value), MEMORY_OK); /* at the end of the snapshot */
	CHECK_EQ(memory_get(&memory, PAGES + 0x800, 8, &value), MEMORY_BEYOND);
	CHECK_EQ(memory_get(&memory, PAGES + STACK_PAGE - 4, 8, &value), MEMORY_BEYOND);
	CHECK_EQ(memory_get(&memory, PAGES + STACK_PAGE, 8, &value), MEMORY_OK);
	CHECK_EQ(memory.reach, PAGES + STACK_PAGE + 8);
}

TEST(memory_after_the_last_page_is_beyond_or_invalid)
{
	struct memory memory;
	uint64_t value;

	begin(&memory, true);
	CHECK_EQ(memory_get(&memory, PAGES + 2 * STACK_PAGE - 4, 8, &value), MEMORY_BEYOND);
	CHECK_EQ(memory_get(&memory, PAGES + 2 * STACK_PAGE, 8, &value), MEMORY_BEYOND);
	CHECK_EQ(memory_get(&memory, START - 8, 8, &value), MEMORY_BAD);
	begin(&memory, false);
	CHECK_EQ(memory_get(&memory, PAGES + 2 * STACK_PAGE, 8, &value), MEMORY_BAD);
}

TEST(memory_below_sp_is_what_was_copied_of_it)
{
	static const uint64_t words[2] = { 5, 6 };
	struct sample sample = { .stack = { snapshot, sizeof(snapshot) },
				 .below = { (const uint8_t *)words, sizeof(words) } };
	struct memory memory = { 0 };
	uint64_t value;

	memory_begin(&memory, 1, START, &sample);
	CHECK_EQ(memory_get(&memory, START - 8, 8, &value), MEMORY_OK);
	CHECK_EQ(value, 6);
	CHECK_EQ(memory_get(&memory, START - 16, 8, &value), MEMORY_OK);
	CHECK_EQ(value, 5);
	CHECK_EQ(memory_get(&memory, START - 24, 8, &value), MEMORY_BAD);
	CHECK_EQ(memory_get(&memory, START - 4, 8, &value), MEMORY_BAD);
}
