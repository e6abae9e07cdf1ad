/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "binary/elf/image.h"
#include "tests/test.h"

static image_id jit_of(struct images *images, pid_t pid)
{
	char name[32];

	snprintf(name, sizeof(name), "[jit %d]", (int)pid);
	return images_add_jit(images, name, pid);
}

static bool *find_unused(struct images *images, image_id used, unsigned n_rounds)
{
	bool *is_used = alloc_zero(images_count(images) + 1, sizeof(*is_used)), *ret = NULL;

	is_used[used] = true;
	for (unsigned i = 0; i < n_rounds; i++) {
		free(ret);
		ret = images_find_unused(images, is_used);
	}
	free(is_used);
	return ret;
}

TEST(images_that_are_not_used_any_more_are_forgotten)
{
	struct images *images = images_new();
	image_id id, again, kernel = images_add_pseudo(images, IMAGE_KERNEL, "[kernel]", NULL);

	CHECK_EQ(images_open(images, "/proc/self/exe", &id, NULL), 0);
	for (pid_t pid = 1; pid <= 1000; pid++)
		jit_of(images, pid);
	CHECK(find_unused(images, id, 3) == NULL); /* they may still be on their way to somebody */
	image_id asked = jit_of(images, 7);
	bool *is_unused = find_unused(images, id, 1);
	CHECK(is_unused != NULL);
	CHECK(!is_unused[id] && !is_unused[kernel] && !is_unused[asked]);
	CHECK(is_unused[asked + 1]);
	images_forget(images, is_unused);
	free(is_unused);
	CHECK_EQ(images_count(images), 1002); /* ids stay, */
	CHECK_EQ(images_peek(images, asked + 1)->path[0], 0);
	CHECK_EQ(jit_of(images, 7), asked);
	uint64_t changes = images_changes(images);
	image_id other = jit_of(images, 2000); /* and are used again */
	CHECK(other < 1002 && other != asked && other != id);
	CHECK(images_changes(images) > changes);
	CHECK_EQ(images_peek(images, other)->pid, 2000);
	CHECK_EQ(jit_of(images, 2000), other);
	CHECK_EQ(images_open(images, "/proc/self/exe", &again, NULL), 0);
	CHECK_EQ(again, id);
	for (pid_t pid = 3000; pid < 4000; pid++)
		CHECK_EQ(images_peek(images, jit_of(images, pid))->pid, pid);
	CHECK_EQ(images_count(images), 1004);
	images_free(images);
}

TEST(images_of_a_forgotten_file_are_opened_again)
{
	struct images *images = images_new();
	image_id id, again;

	CHECK_EQ(images_open(images, "/proc/self/exe", &id, NULL), 0);
	for (pid_t pid = 1; pid <= 1000; pid++)
		jit_of(images, pid);
	bool *is_unused = find_unused(images, id + 1, 4);
	CHECK(is_unused && is_unused[id]);
	images_forget(images, is_unused);
	free(is_unused);
	CHECK_EQ(images_open(images, "/proc/self/exe", &again, NULL), 0);
	CHECK_EQ(images_peek(images, again)->kind, IMAGE_ELF);
	CHECK(images_get(images, again)->n_sections > 0);
	images_free(images);
}
