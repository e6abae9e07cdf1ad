/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/hash.h"
#include "base/intern.h"
#include "base/search.h"
#include "base/slots.h"
#include "base/text.h"
#include "base/vec.h"
#include "tests/test.h"

TEST(vec_keeps_what_was_pushed)
{
	VEC(int) v = { 0 };

	for (int i = 0; i < 1000; i++)
		vec_push(&v, i);
	CHECK_EQ(v.n, 1000);
	CHECK_EQ(v.at[999], 999);
	vec_done(&v);
}

TEST(map_finds_replaces_and_removes)
{
	struct map map = { 0 };

	CHECK_EQ(map_find(&map, 1), MAP_NONE);
	for (uint32_t i = 0; i < 10000; i++)
		map_put(&map, (uint64_t)i << 32, i);
	map_put(&map, 5ull << 32, 77);
	CHECK_EQ(map.n, 10000);
	CHECK_EQ(map_find(&map, 5ull << 32), 77);
	for (uint32_t i = 0; i < 10000; i += 2)
		map_remove(&map, (uint64_t)i << 32);
	for (uint32_t i = 0; i < 10000; i++)
		CHECK_EQ(map_find(&map, (uint64_t)i << 32), i % 2 ? (i == 5 ? 77 : i) : MAP_NONE);
	map_done(&map);
}

/* All hashes are one of four values, so that slots are found by probing. */
typedef VEC(uint32_t) numbers;

static bool number_same(const void *owner, uint32_t index, const void *key)
{
	return ((const numbers *)owner)->at[index] == *(const uint32_t *)key;
}

static uint64_t number_hash(const void *owner, uint32_t index)
{
	return ((const numbers *)owner)->at[index] % 4 * UINT64_C(0xfffffffffffffffe);
}

TEST(slots_find_every_entry_even_if_hashes_collide)
{
	numbers owner = { 0 };
	struct slots slots;

	slots_init(&slots);
	for (uint32_t i = 0; i < 2000; i++) {
		uint32_t key = i * 7, index = (uint32_t)owner.n;
		uint64_t hash = key % 4 * UINT64_C(0xfffffffffffffffe);
		size_t slot = slots_find(&slots, hash, number_same, &owner, &key);
		CHECK_EQ(slots.at[slot], SLOT_FREE);
		vec_push(&owner, key);
		slots_put(&slots, slot, index, number_hash, &owner);
		CHECK(slots.n >= owner.n * 2);
	}
	for (uint32_t i = 0; i < 2000; i++) {
		size_t slot = slots_find(&slots, number_hash(&owner, i), number_same, &owner, &owner.at[i]);
		CHECK_EQ(slots.at[slot], i);
	}
	slots_done(&slots);
	vec_done(&owner);
}

TEST(intern_gives_equal_strings_one_id)
{
	struct intern intern;
	char name[32];

	intern_init(&intern);
	CHECK_EQ(intern_add(&intern, ""), 0);
	uint32_t main_id = intern_add(&intern, "main");
	for (int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "function_%d", i);
		intern_add(&intern, name);
	}
	CHECK_EQ(intern_add(&intern, "main"), main_id);
	CHECK_STR(intern_text(&intern, main_id), "main");
	CHECK_STR(intern_text(&intern, 999999), "");
	intern_done(&intern);
}

TEST(arena_reset_keeps_nothing_and_zeroes)
{
	struct arena arena = { 0 };

	char *a = arena_alloc(&arena, 100);
	memset(a, 1, 100);
	arena_alloc(&arena, 1 << 20);
	arena_reset(&arena);
	char *b = arena_alloc(&arena, 100);
	CHECK_EQ(b[99], 0);
	arena_done(&arena);
}

TEST(text_copies_what_fits)
{
	char to[4] = "xyz";

	text_copy(to, sizeof(to), "ab");
	CHECK_STR(to, "ab");
	text_copy(to, sizeof(to), "abc");
	CHECK_STR(to, "abc");
	text_copy(to, sizeof(to), "abcd");
	CHECK_STR(to, "abc");
	text_copy(to, 1, "abcd");
	CHECK_STR(to, "");
}

TEST(text_grows)
{
	struct text text = { 0 };

	for (int i = 0; i < 100; i++)
		text_printf(&text, "%d,", i);
	CHECK_EQ(text.len, strlen(text.at));
	CHECK(strncmp(text.at, "0,1,2,", 6) == 0);
	text_done(&text);
}

TEST(search_finds_the_first_for_which_it_holds)
{
	const int odd[] = { 1, 3, 5, 7, 9 };

	for (size_t n = 0; n <= 5; n++)
		for (int key = 0; key <= 11; key++) {
			size_t behind = 0;
			while (behind < n && odd[behind] <= key)
				behind++;
			CHECK_EQ(search_first(i, n, odd[i] > key), behind);
		}
	CHECK_EQ(search_first_in(i, 2, 4, odd[i] > 0), 2);
	CHECK_EQ(search_first_in(i, 2, 4, odd[i] > 5), 3);
	CHECK_EQ(search_first_in(i, 2, 4, odd[i] > 9), 4);
}
