/* SPDX-License-Identifier: Apache-2.0 */
#include "unwinder/space.h"

#include "tests/test.h"

static void map(struct spaces *spaces, pid_t pid, uint64_t start, uint64_t end, image_id image)
{
	struct event event = {
		.kind = EVENT_MAPPING,
		.pid = pid,
		.tid = pid,
		.mapping = { .start = start, .len = end - start, .image = image, .is_executable = true }
	};

	spaces_event(spaces, &event);
}

static void fork_to(struct spaces *spaces, pid_t parent, pid_t child, pid_t tid)
{
	struct event event = { .kind = EVENT_FORK, .pid = child, .tid = tid, .fork = { parent, parent } };

	spaces_event(spaces, &event);
}

static void happen(struct spaces *spaces, enum event_kind kind, pid_t pid)
{
	struct event event = { .kind = kind, .pid = pid, .tid = pid };

	spaces_event(spaces, &event);
}

static image_id image_at(struct spaces *spaces, pid_t pid, uint64_t pc)
{
	struct space *space = spaces_find(spaces, pid);
	const struct space_map *found = space ? space_find(space, pc) : NULL;

	return found ? found->image : IMAGE_NONE;
}

TEST(space_finds_the_mapping_that_holds_an_address)
{
	struct spaces *spaces = spaces_new();

	map(spaces, 1, 0x3000, 0x4000, 3);
	map(spaces, 1, 0x1000, 0x2000, 1);
	CHECK_EQ(image_at(spaces, 1, 0x1000), 1);
	CHECK_EQ(image_at(spaces, 1, 0x3fff), 3);
	CHECK_EQ(image_at(spaces, 1, 0x2000), IMAGE_NONE);
	CHECK_EQ(image_at(spaces, 1, 0xfff), IMAGE_NONE);
	CHECK_EQ(image_at(spaces, 2, 0x1000), IMAGE_NONE);
	spaces_free(spaces);
}

TEST(space_mapping_replaces_what_it_covers_and_splits_what_it_does_not)
{
	struct spaces *spaces = spaces_new();

	map(spaces, 1, 0x1000, 0x9000, 1);
	map(spaces, 1, 0x3000, 0x4000, 2);
	CHECK_EQ(image_at(spaces, 1, 0x2fff), 1);
	CHECK_EQ(image_at(spaces, 1, 0x3000), 2);
	CHECK_EQ(image_at(spaces, 1, 0x4000), 1);
	map(spaces, 1, 0x2000, 0x8000, 3);
	CHECK_EQ(image_at(spaces, 1, 0x1fff), 1);
	CHECK_EQ(image_at(spaces, 1, 0x3000), 3);
	CHECK_EQ(image_at(spaces, 1, 0x8000), 1);
	CHECK_EQ(spaces_find(spaces, 1)->maps.n, 3);
	spaces_free(spaces);
}

TEST(space_agrees_with_a_plain_array_after_many_mappings)
{
	enum { PAGES = 64 };
	image_id model[PAGES];
	struct spaces *spaces = spaces_new();
	uint64_t random = 1;

	memset(model, 0xff, sizeof(model));
	for (image_id i = 0; i < 500; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		uint64_t start = random >> 40 & (PAGES - 1), len = 1 + (random >> 50 & 15);
		uint64_t end = start + len < PAGES ? start + len : PAGES;
		map(spaces, 1, start, end, i);
		for (uint64_t p = start; p < end; p++)
			model[p] = i;
		for (uint64_t p = 0; p < PAGES; p++)
			CHECK_EQ(image_at(spaces, 1, p), model[p]);
	}
	spaces_free(spaces);
}

TEST(space_is_shared_by_a_fork_until_one_side_changes)
{
	struct spaces *spaces = spaces_new();

	map(spaces, 1, 0x1000, 0x2000, 1);
	fork_to(spaces, 1, 2, 2);
	CHECK(spaces_find(spaces, 1) == spaces_find(spaces, 2));
	map(spaces, 2, 0x1000, 0x2000, 5);
	CHECK_EQ(image_at(spaces, 1, 0x1000), 1);
	CHECK_EQ(image_at(spaces, 2, 0x1000), 5);
	CHECK(spaces_find(spaces, 1)->generation != spaces_find(spaces, 2)->generation);
	spaces_free(spaces);
}

TEST(space_is_empty_after_an_exec_and_the_parent_keeps_its_own)
{
	struct spaces *spaces = spaces_new();

	map(spaces, 1, 0x1000, 0x2000, 1);
	fork_to(spaces, 1, 2, 2);
	happen(spaces, EVENT_EXEC, 2);
	CHECK_EQ(image_at(spaces, 2, 0x1000), IMAGE_NONE);
	CHECK_EQ(image_at(spaces, 1, 0x1000), 1);
	spaces_free(spaces);
}

TEST(space_generation_changes_with_every_change_only)
{
	struct spaces *spaces = spaces_new();

	map(spaces, 1, 0x1000, 0x2000, 1);
	uint64_t before = spaces_find(spaces, 1)->generation;
	map(spaces, 1, 0x1000, 0x2000, 1);
	CHECK_EQ(spaces_find(spaces, 1)->generation, before);
	map(spaces, 1, 0x1000, 0x2000, 2);
	CHECK(spaces_find(spaces, 1)->generation != before);
	spaces_free(spaces);
}

TEST(space_lives_as_long_as_its_last_thread)
{
	struct spaces *spaces = spaces_new();

	map(spaces, 1, 0x1000, 0x2000, 1);
	fork_to(spaces, 1, 2, 2);
	fork_to(spaces, 2, 2, 3);
	happen(spaces, EVENT_EXIT, 2);
	CHECK_EQ(image_at(spaces, 2, 0x1000), 1);
	happen(spaces, EVENT_EXIT, 2);
	CHECK_EQ(image_at(spaces, 2, 0x1000), 1); /* late samples may still arrive */
	for (pid_t pid = 100; pid < 300; pid++) {
		fork_to(spaces, 1, pid, pid);
		happen(spaces, EVENT_EXIT, pid);
	}
	CHECK(spaces_find(spaces, 2) == NULL);
	CHECK(spaces_find(spaces, 299) != NULL);
	CHECK(spaces_find(spaces, 1) != NULL);
	spaces_free(spaces);
}

TEST(space_of_a_reused_pid_is_the_new_process)
{
	struct spaces *spaces = spaces_new();

	map(spaces, 1, 0x1000, 0x2000, 1);
	fork_to(spaces, 1, 2, 2);
	map(spaces, 2, 0x5000, 0x6000, 5);
	happen(spaces, EVENT_EXIT, 2);
	fork_to(spaces, 1, 2, 2);
	CHECK_EQ(image_at(spaces, 2, 0x5000), IMAGE_NONE);
	CHECK_EQ(image_at(spaces, 2, 0x1000), 1);
	for (pid_t pid = 100; pid < 300; pid++) {
		fork_to(spaces, 1, pid, pid);
		happen(spaces, EVENT_EXIT, pid);
	}
	CHECK_EQ(image_at(spaces, 2, 0x1000), 1);
	spaces_free(spaces);
}

TEST(space_of_a_process_from_before_the_recording_stays)
{
	struct spaces *spaces = spaces_new();

	map(spaces, 1, 0x1000, 0x2000, 1);
	happen(spaces, EVENT_EXIT, 1); /* a thread that was not known */
	for (pid_t pid = 100; pid < 300; pid++) {
		fork_to(spaces, 1, pid, pid);
		happen(spaces, EVENT_EXIT, pid);
	}
	CHECK_EQ(image_at(spaces, 1, 0x1000), 1);
	spaces_free(spaces);
}

TEST(space_of_a_new_process_has_nothing_of_those_that_ended)
{
	struct spaces *spaces = spaces_new();
	uint64_t generation = 0;

	for (pid_t pid = 2; pid < 600; pid++) { /* ended ones are freed, and their memory is used again */
		fork_to(spaces, 1, pid, pid);
		happen(spaces, EVENT_EXEC, pid);
		CHECK_EQ(image_at(spaces, pid, 0x1000), IMAGE_NONE);
		CHECK(spaces_find(spaces, pid)->is_in_exec);
		for (uint64_t i = 0; i < (uint64_t)(pid % 7 ? 9 : 99); i++)
			map(spaces, pid, (1 + 2 * i) << 12, (2 + 2 * i) << 12, (image_id)pid);
		CHECK_EQ(image_at(spaces, pid, 0x1000), (image_id)pid);
		CHECK(spaces_find(spaces, pid)->generation > generation);
		generation = spaces_find(spaces, pid)->generation;
		happen(spaces, EVENT_EXIT, pid);
		CHECK_EQ(image_at(spaces, pid, 0x1000), (image_id)pid); /* late samples */
	}
	CHECK_EQ(image_at(spaces, 400, 0x1000), IMAGE_NONE);
	spaces_free(spaces);
}
