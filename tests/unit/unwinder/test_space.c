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

/* ---- many mappings ------------------------------------------------------------------------------ */

#define N_PAGES 4096
#define N_SPACES 3

/* What is mapped at each page of each process, without chunks. */
struct model {
	image_id at[N_SPACES][N_PAGES];
};

static void model_map(struct model *model, struct spaces *spaces, unsigned process, uint64_t start,
		      uint64_t end, image_id image)
{
	map(spaces, (pid_t)(process + 1), start << 12, end << 12, image);
	for (uint64_t i = start; i < end; i++)
		model->at[process][i] = image;
}

static size_t model_differs(const struct model *model, struct spaces *spaces)
{
	size_t n = 0;

	for (unsigned process = 0; process < N_SPACES; process++)
		for (uint64_t i = 0; i < N_PAGES; i++)
			n += image_at(spaces, (pid_t)(process + 1), (i << 12) + i % 4096) !=
			     model->at[process][i];
	return n;
}

static void model_fork(struct model *model, struct spaces *spaces, unsigned process)
{
	fork_to(spaces, 1, (pid_t)(process + 1), (pid_t)(process + 1));
	memcpy(model->at[process], model->at[0], sizeof(model->at[0]));
}

/* Mostly single pages, sometimes one that covers hundreds of others; children share with their parent. */
TEST(space_of_many_mappings_is_the_same_as_page_by_page)
{
	struct spaces *spaces = spaces_new();
	struct model *model = alloc_zero(1, sizeof(*model));
	uint64_t random = 1;

	for (unsigned i = 0; i < N_SPACES; i++)
		for (uint64_t k = 0; k < N_PAGES; k++)
			model->at[i][k] = IMAGE_NONE;
	map(spaces, 1, (uint64_t)N_PAGES << 12, (uint64_t)(N_PAGES + 1) << 12, 1);
	for (image_id image = 2; image < 20000; image++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		unsigned process = image < 5000 ? 0 : (unsigned)(random >> 33) % N_SPACES;
		uint64_t start = (random >> 40) % N_PAGES, len = image % 500 ? 1 : 1 + (random >> 20) % 700;
		if (image == 5000 || image == 12000)
			for (unsigned child = 1; child < N_SPACES; child++)
				model_fork(model, spaces, child);
		model_map(model, spaces, process, start, start + len < N_PAGES ? start + len : N_PAGES,
			  image);
		if (image % 1000 == 0)
			CHECK_EQ(model_differs(model, spaces), 0);
	}
	CHECK_EQ(model_differs(model, spaces), 0);
	free(model);
	spaces_free(spaces);
}

/* At ever lower addresses, as the kernel assigns them, and much more than a process can have at a time. */
TEST(space_keeps_the_first_mappings_and_the_newest)
{
	struct spaces *spaces = spaces_new();
	uint64_t page = UINT64_C(1) << 34;

	map(spaces, 1, 0x1000, 0x2000, 7);
	for (image_id image = 10; image < 1000000; image++)
		map(spaces, 1, (page - image * 2) << 12, (page - image * 2 + 1) << 12, image);
	CHECK_EQ(image_at(spaces, 1, 0x1000), 7);
	CHECK_EQ(image_at(spaces, 1, (page - 10 * 2) << 12), 10);
	for (image_id image = 1000000 - 65530; image < 1000000; image++)
		CHECK_EQ(image_at(spaces, 1, (page - image * 2) << 12), image);
	CHECK_EQ(image_at(spaces, 1, (page - 500000 * 2) << 12), IMAGE_NONE);
	CHECK(spaces_find(spaces, 1)->maps.chunks.n < 10000);
	spaces_free(spaces);
}

TEST(space_of_a_mapping_that_is_split_again_and_again_is_bounded)
{
	struct spaces *spaces = spaces_new();
	uint64_t size = UINT64_C(1) << 40;

	map(spaces, 1, 0, size, 7);
	for (image_id image = 10; image < 1000000; image++)
		map(spaces, 1, size - ((uint64_t)image << 13), size - ((uint64_t)image << 13) + 0x1000,
		    image);
	CHECK_EQ(image_at(spaces, 1, 0), 7);
	CHECK_EQ(image_at(spaces, 1, size - (UINT64_C(999999) << 13)), 999999);
	CHECK_EQ(image_at(spaces, 1, size - (UINT64_C(999999) << 13) + 0x1000), 7);
	CHECK(spaces_find(spaces, 1)->maps.chunks.n < 10000);
	spaces_free(spaces);
}

TEST(space_of_many_children_with_many_mappings_is_bounded)
{
	struct spaces *spaces = spaces_new();
	pid_t with_code = 0;

	for (image_id image = 10; image < 40000; image++)
		map(spaces, 1, (uint64_t)image << 13, ((uint64_t)image << 13) + 0x1000, image);
	for (pid_t pid = 2; pid < 3000; pid++) {
		fork_to(spaces, 1, pid, pid);
		map(spaces, pid, 0x1000, 0x2000, (image_id)pid);
		CHECK_EQ(image_at(spaces, pid, 0x1000), (image_id)pid);
		with_code += image_at(spaces, pid, 10 << 13) == 10;
	}
	CHECK_EQ(with_code, 1024);
	happen(spaces, EVENT_EXEC, 2); /* one less */
	fork_to(spaces, 1, 3000, 3000);
	map(spaces, 3000, 0x1000, 0x2000, 1);
	CHECK_EQ(image_at(spaces, 3000, 10 << 13), 10);
	spaces_free(spaces);
}
