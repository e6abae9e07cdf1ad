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

#define THEIRS (1 + 1000) /* the writer of files of user 1000 */

static void put_at(struct epochs *epochs, uint64_t second)
{
	OWNED struct profile *profile = epoch_at(second);
	struct diag diag = { 0 };

	CHECK_EQ(epochs_put(epochs, profile, &diag), 0);
}

static const char *file_path(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", database_folder(), name);
	return path;
}

static void make_file(const char *name)
{
	FILE *file = fopen(file_path(name), "w");

	CHECK(file != NULL);
	fputs("x", file);
	fclose(file);
}

static size_t count_lines(const char *name)
{
	FILE *file = fopen(file_path(name), "r");
	size_t n = 0;

	CHECK(file != NULL);
	for (int c; (c = fgetc(file)) != EOF;)
		n += c == '\n';
	fclose(file);
	return n;
}

static bool is_there(const char *name)
{
	struct stat st;

	return lstat(file_path(name), &st) == 0;
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

/* It was written just now, so it seems to last from 1970 until today. */
TEST(a_damaged_open_epoch_neither_hides_epochs_nor_keeps_them_from_being_deleted)
{
	struct epochs *epochs = database_new();
	struct epochs_limits limits = { .age_s = 600 };
	struct epochs_recovered recovered;
	size_t n;

	make_file("epochs/1000-open.epoch");
	put_at(epochs, 0);
	put_at(epochs, 600);
	put_at(epochs, 1200);
	epochs_list(epochs, &n);
	CHECK_EQ(n, 4);
	CHECK(epochs_drop_oldest(epochs));
	CHECK_EQ(epochs_keep(epochs, &limits, EPOCHS_START / 1000000 + 1900 * 1000).n_dropped, 1);
	CHECK(is_there("epochs/1000-open.epoch"));
	recovered = epochs_recover(epochs);
	CHECK(recovered.n_damaged == 1 && recovered.n_finished == 0);
	CHECK(!is_there("epochs/1000-open.epoch"));
	const struct epoch *list = epochs_list(epochs, &n);
	CHECK(n == 1 && !list[0].is_open && list[0].start_ms == EPOCHS_START / 1000000 + 1200 * 1000);
	CHECK(epochs_drop_oldest(epochs) && !epochs_drop_oldest(epochs));
	database_done(epochs);
}

TEST(an_open_epoch_that_was_finished_is_removed)
{
	struct epochs *epochs = database_new();
	OWNED struct profile *profile = epoch_at(0);
	CLEANUP(freep) char *open = epochs_open_path(epochs, profile->run.start_unix_ns);
	struct diag diag = { 0 };
	size_t n;

	put_at(epochs, 0);
	profile->run.duration_ns /= 2;
	CHECK_EQ(profile_write(profile, open, &diag), 0);
	epochs_recover(epochs);
	epochs_list(epochs, &n);
	CHECK_EQ(n, 1);
	CHECK(access(open, F_OK) < 0);
	CHECK(!is_there("epochs/1700000000000-1700000300000.epoch"));
	database_done(epochs);
}

TEST(temporary_files_of_a_killed_daemon_are_removed)
{
	static const char *const left[] = { "epochs/1-2.epoch.99-0.new", "images/ab.names.4711-12.new",
					    "index.99-0.new", "images/link" };
	static const char *const kept[] = { "notes.new", "images/ab.names", "99-0.new" };
	struct epochs *epochs = database_new();

	for (size_t i = 0; i < ARRAY_LEN(left) - 1; i++)
		make_file(left[i]);
	for (size_t i = 0; i < ARRAY_LEN(kept); i++)
		make_file(kept[i]);
	CHECK_EQ(symlink("../notes.new", file_path("images/link")), 0);
	CHECK_EQ(epochs_recover(epochs).n_unfinished, ARRAY_LEN(left));
	for (size_t i = 0; i < ARRAY_LEN(left); i++)
		CHECK(!is_there(left[i]));
	for (size_t i = 0; i < ARRAY_LEN(kept); i++)
		CHECK(is_there(kept[i]));
	CHECK_EQ(epochs_bytes(epochs), 1);
	database_done(epochs);
}

TEST(a_database_with_links_in_it_is_not_written_to)
{
	static const char *const links[] = {
		"epochs", "images", "lock", "version", "index", EPOCHS_FUNCTIONS
	};

	for (size_t i = 0; i < ARRAY_LEN(links); i++) {
		struct epochs *epochs = database_new(), *again = NULL;
		struct diag diag = { 0 };
		epochs_close(epochs);
		(void)remove(file_path(links[i]));
		make_file("target");
		CHECK_EQ(symlink("target", file_path(links[i])), 0);
		CHECK_EQ(epochs_open(database_folder(), true, &again, &diag), -EPERM);
		CHECK(!again && strstr(diag.why, "symbolic link") && diag.hint[0]);
		database_done(NULL);
	}
}

TEST(an_epoch_that_is_written_again_is_in_the_index_once)
{
	struct epochs *epochs = database_new();
	size_t n;

	put_at(epochs, 0);
	put_at(epochs, 600);
	size_t n_lines = count_lines("index");
	put_at(epochs, 600);
	put_at(epochs, 0);
	const struct epoch *list = epochs_list(epochs, &n);
	CHECK_EQ(n, 2);
	CHECK(list[0].samples == 100 && list[1].samples == 100);
	CHECK(n_lines > 2);
	CHECK_EQ(count_lines("index"), n_lines);
	database_done(epochs);
}
