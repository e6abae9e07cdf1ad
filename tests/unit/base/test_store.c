/* SPDX-License-Identifier: Apache-2.0 */
#include "base/store.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/test.h"

struct place {
	char path[64];
};

static struct place new_place(void)
{
	struct place place = { "/tmp/cpprof-store-XXXXXX" };

	CHECK(mkdtemp(place.path));
	return place;
}

/* Calls visit with the path of every file in the directory. */
static unsigned each_file(const struct place *place, void (*visit)(const char *path))
{
	DIR *directory = opendir(place->path);
	unsigned n = 0;

	CHECK(directory);
	for (struct dirent *entry; (entry = readdir(directory));) {
		char path[512];
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", place->path, entry->d_name);
		if (visit)
			visit(path);
		n++;
	}
	closedir(directory);
	return n;
}

static void remove_file(const char *path)
{
	unlink(path);
}

static void remove_place(const struct place *place)
{
	each_file(place, remove_file);
	rmdir(place->path);
}

static const struct store_key key = { "lines", 3, { 1, 2 } };

static struct bytes text_bytes(const char *text)
{
	return (struct bytes){ (const uint8_t *)text, strlen(text) };
}

static bool gives(const struct place *place, const struct store_key *wanted, const char *text)
{
	struct store *store = store_open(place->path, 0);
	struct bytes bytes = store_get(store, wanted);
	bool same = bytes_equal(bytes, text_bytes(text));

	store_release(bytes);
	store_close(store);
	return same;
}

static void put(const struct place *place, const struct store_key *at, const char *text)
{
	struct store *store = store_open(place->path, 0);

	CHECK(store);
	store_put(store, at, text_bytes(text));
	store_close(store);
}

TEST(store_returns_what_was_stored)
{
	struct place place = new_place();

	CHECK(gives(&place, &key, ""));
	put(&place, &key, "first");
	put(&place, &key, "second");
	CHECK(gives(&place, &key, "second"));
	remove_place(&place);
}

TEST(store_distinguishes_kinds_versions_and_ids)
{
	struct place place = new_place();
	struct store_key kind = key, version = key, id = key;

	kind.kind = "names";
	version.version = 4;
	id.id[1] = 3;
	put(&place, &key, "text");
	CHECK(gives(&place, &kind, ""));
	CHECK(gives(&place, &version, ""));
	CHECK(gives(&place, &id, ""));
	remove_place(&place);
}

static void flip_last_byte(const char *path)
{
	int fd = open(path, O_RDWR);
	char byte;
	off_t at = lseek(fd, -1, SEEK_END);

	CHECK_EQ(pread(fd, &byte, 1, at), 1);
	byte ^= 1;
	CHECK_EQ(pwrite(fd, &byte, 1, at), 1);
	close(fd);
}

static void cut_short(const char *path)
{
	struct stat st;

	CHECK_EQ(stat(path, &st), 0);
	CHECK_EQ(truncate(path, st.st_size - 1), 0);
}

static void cut_to_nothing(const char *path)
{
	CHECK_EQ(truncate(path, 0), 0);
}

TEST(store_ignores_damaged_entries)
{
	void (*const harms[])(const char *) = { flip_last_byte, cut_short, cut_to_nothing };

	for (size_t i = 0; i < ARRAY_LEN(harms); i++) {
		struct place place = new_place();
		put(&place, &key, "some text");
		CHECK_EQ(each_file(&place, harms[i]), 1);
		CHECK(gives(&place, &key, ""));
		put(&place, &key, "again");
		CHECK(gives(&place, &key, "again"));
		remove_place(&place);
	}
}

static void open_to_all(const char *path)
{
	CHECK_EQ(chmod(path, 0666), 0);
}

TEST(store_does_not_use_what_others_can_write)
{
	struct place place = new_place();

	put(&place, &key, "text");
	each_file(&place, open_to_all);
	CHECK(gives(&place, &key, ""));
	CHECK_EQ(chmod(place.path, 0777), 0);
	CHECK(store_open(place.path, 0) == NULL);
	CHECK_EQ(chmod(place.path, 0700), 0);
	remove_place(&place);
}

TEST(store_refuses_a_directory_behind_a_link)
{
	struct place place = new_place();
	char link[80];

	snprintf(link, sizeof(link), "%s-link", place.path);
	CHECK_EQ(symlink(place.path, link), 0);
	CHECK(store_open(link, 0) == NULL);
	unlink(link);
	remove_place(&place);
}

TEST(store_drops_the_oldest_when_it_grows_too_large)
{
	struct place place = new_place();
	struct store *store = store_open(place.path, 8 * 1024);
	static uint8_t block[2000];

	for (uint64_t i = 0; i < 6; i++) {
		struct store_key at = { "block", 1, { i, 0 } };
		struct timespec times[2] = { { .tv_sec = 1000 + (time_t)i }, { .tv_sec = 1000 + (time_t)i } };
		char path[256];
		store_put(store, &at, (struct bytes){ block, sizeof(block) });
		snprintf(path, sizeof(path), "%s/block-1-%016" PRIx64 "%016x", place.path, i, 0);
		CHECK_EQ(utimensat(AT_FDCWD, path, times, 0), 0);
	}
	store_close(store);
	CHECK_EQ(each_file(&place, NULL), 3);

	store = store_open(place.path, 0);
	struct bytes oldest = store_get(store, &(struct store_key){ "block", 1, { 0, 0 } });
	struct bytes newest = store_get(store, &(struct store_key){ "block", 1, { 5, 0 } });
	CHECK_EQ(oldest.len, 0);
	CHECK_EQ(newest.len, sizeof(block));
	store_release(newest);
	store_close(store);
	remove_place(&place);
}

/* A complete entry of some process: its first byte identifies the writer and determines its length. */
static bool is_whole(struct bytes bytes)
{
	for (size_t i = 0; i < bytes.len; i++)
		if (bytes.at[i] != bytes.at[0])
			return false;
	return bytes.len == 0 || bytes.len == 1000u * bytes.at[0];
}

static bool use_at_once(const struct place *place, unsigned who)
{
	static uint8_t block[8000];

	memset(block, (int)who, 1000u * who);
	for (uint64_t i = 0; i < 100; i++) {
		struct store *store = store_open(place->path, 16 * 1024); /* entries of others are evicted */
		struct store_key at = { "block", 1, { i % 3, 0 } };
		store_put(store, &at, (struct bytes){ block, 1000u * who });
		struct bytes bytes = store_get(store, &at);
		bool is_good = store && is_whole(bytes);
		store_release(bytes);
		store_close(store);
		if (!is_good)
			return false;
	}
	return true;
}

static void leave_unfinished(const struct place *place, const char *name, time_t when)
{
	struct timespec times[2] = { { .tv_sec = when }, { .tv_sec = when } };
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", place->path, name);
	int fd = open(path, O_WRONLY | O_CREAT, 0600);
	CHECK(fd >= 0);
	CHECK_EQ(futimens(fd, times), 0);
	close(fd);
}

TEST(store_removes_unfinished_files_of_killed_processes)
{
	struct place place = new_place();
	struct store *store = store_open(place.path, 0);

	leave_unfinished(&place, "lines-3-old.1.new", 1000);
	leave_unfinished(&place, "lines-3-young.2.new", time(NULL)); /* recent: may still be being written */
	store_put(store, &key, text_bytes("text"));
	CHECK_EQ(each_file(&place, NULL), 3);
	store_close(store);
	CHECK_EQ(each_file(&place, NULL), 2);
	remove_place(&place);
}

TEST(store_is_used_by_many_processes_at_once)
{
	struct place place = new_place();
	pid_t children[4];

	for (unsigned i = 0; i < ARRAY_LEN(children); i++) {
		children[i] = fork();
		CHECK(children[i] >= 0);
		if (children[i] == 0)
			_exit(use_at_once(&place, i + 1) ? 0 : 1);
	}
	for (unsigned i = 0; i < ARRAY_LEN(children); i++) {
		int status = -1;
		CHECK_EQ(waitpid(children[i], &status, 0), children[i]);
		CHECK_EQ(status, 0);
	}
	CHECK(each_file(&place, NULL) <= 3); /* no partially written files remain */
	remove_place(&place);
}

TEST(store_without_a_directory_keeps_nothing)
{
	store_put(NULL, &key, text_bytes("text"));
	CHECK_EQ(store_get(NULL, &key).len, 0);
	store_close(NULL);
}
