/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile/epochs.h"
#include "tests/support/database.h"
#include "tests/support/profiles.h"
#include "tests/test.h"

#define SECOND 1000000000ull
#define START (1700000000ull * SECOND)
#define THEIRS (1 + 1000) /* the writer of files of user 1000 */

/* A profile of ten minutes, from that many seconds after START. */
static struct profile *epoch_at(uint64_t second)
{
	struct profile *profile = sample_profile();

	profile->run.start_unix_ns = START + second * SECOND;
	profile->run.duration_ns = 600 * SECOND;
	return profile;
}

/* Of the function there in the image with that build-id and writer. */
static const char *name_at(struct epochs *epochs, uint32_t writer, uint64_t vaddr)
{
	struct epochs_query query = { 0 };
	OWNED struct profile *all = NULL;
	struct diag diag = { 0 };
	static char name[64];
	size_t n_bad;

	CHECK_EQ(epochs_read(epochs, &query, &all, &n_bad, &diag), 0);
	for (size_t i = 0; i < all->functions.n; i++) {
		const struct function_map *map = &all->functions.at[i];
		if (all->images.at[map->image].writer != writer || map->vaddr != vaddr ||
		    !all->images.at[map->image].build_id.len)
			continue;
		snprintf(name, sizeof(name), "%s", intern_text(&all->strings, map->name));
		return name;
	}
	return "";
}

/* The same build-id, but user 1000 can write the file. */
TEST(names_from_a_file_of_another_user_are_only_for_files_of_that_user)
{
	struct epochs *epochs = database_new();
	OWNED struct profile *theirs = epoch_at(0);
	OWNED struct profile *real = epoch_at(600);
	uint32_t image = theirs->functions.at[0].image;
	uint64_t vaddr = theirs->functions.at[0].vaddr, vaddrs[] = { vaddr };
	struct diag diag = { 0 };

	theirs->images.at[image].writer = THEIRS;
	theirs->functions.at[0].name = intern_add(&theirs->strings, "false_name");
	CHECK_EQ(epochs_put(epochs, theirs, &diag), 0);
	CHECK_EQ(epochs_put_names(epochs, theirs, &diag), 0);
	CHECK(strcmp(name_at(epochs, THEIRS, vaddr), "false_name") == 0);

	CHECK_EQ(epochs_lack_names(epochs, real, image, vaddrs, 1), 1);
	CHECK_EQ(epochs_put(epochs, real, &diag), 0);
	CHECK(strcmp(name_at(epochs, 0, vaddr), "false_name") != 0);
	CHECK_EQ(epochs_put_names(epochs, real, &diag), 0);
	CHECK(strcmp(name_at(epochs, 0, vaddr), "main") == 0);
	CHECK(strcmp(name_at(epochs, THEIRS, vaddr), "false_name") == 0);
	theirs->images.at[image].writer = IMAGE_WRITERS;
	CHECK_EQ(epochs_lack_names(epochs, theirs, image, vaddrs, 1), 1);
	database_done(epochs);
}
