/* SPDX-License-Identifier: Apache-2.0 */
#include "base/own_folder.h"

#include <errno.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/test.h"

#define OTHER 65534

static char top[64];

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	return remove(path);
}

static const char *place(const char *name)
{
	static char path[4][256];
	static int next;

	next = (next + 1) % 4;
	snprintf(path[next], sizeof(path[next]), "%s/%s", top, name);
	return path[next];
}

static void begin(void)
{
	char *real;

	snprintf(top, sizeof(top), "/tmp/cpprof_own.XXXXXX");
	CHECK(mkdtemp(top) != NULL);
	real = realpath(top, NULL);
	snprintf(top, sizeof(top), "%s", real);
	free(real);
}

static void end(void)
{
	nftw(top, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* The result; want: the path if it is used, else a word of the reason. */
static void expect(const char *name, int result, const char *want)
{
	struct diag diag = { 0 };
	char *path = NULL;

	CHECK_EQ(own_folder_make(place(name), &path, &diag), result);
	if (result == 0)
		CHECK(strcmp(path, place(want)) == 0);
	else
		CHECK(!path && strstr(diag.why, want) && diag.hint[0]);
	free(path);
}

static void make(const char *name, mode_t mode)
{
	CHECK_EQ(mkdir(place(name), 0700), 0);
	CHECK_EQ(chmod(place(name), mode), 0);
}

TEST(a_folder_is_created_and_its_path_has_no_links)
{
	struct stat st;

	begin();
	expect("new/", 0, "new");
	CHECK(stat(place("new"), &st) == 0 && (st.st_mode & 07777) == 0700);
	CHECK_EQ(symlink("new", place("link")), 0);
	CHECK_EQ(symlink(place("link"), place("second")), 0);
	expect("new", 0, "new");
	expect("link", 0, "new");
	expect("second/./inner", 0, "new/inner");
	expect("second/inner/../inner", 0, "new/inner");
	CHECK_EQ(symlink("round", place("round")), 0);
	struct diag diag = { 0 };
	char *path = NULL;
	CHECK_EQ(own_folder_make(place("round"), &path, &diag), -ELOOP);
	CHECK_EQ(own_folder_make(place("missing/inner"), &path, &diag), -ENOENT);
	CHECK(access(place("missing"), F_OK) < 0 && !path);
	end();
}

TEST(a_folder_that_others_may_write_to_is_refused)
{
	begin();
	make("group", 0770);
	make("all", 01777);
	make("loose", 0777);
	expect("group", -EPERM, "group");
	expect("all", -EPERM, "everybody");
	expect("all/new", 0, "all/new"); /* sticky: nobody else can rename it */
	expect("loose/new", -EPERM, "everybody");
	CHECK(access(place("loose/new"), F_OK) < 0);
	CHECK_EQ(symlink("loose", place("link")), 0);
	expect("link/new", -EPERM, "everybody");
	end();
}

TEST(folders_and_links_of_other_users_are_refused)
{
	if (geteuid() != 0)
		SKIP("only root can give files to others");
	begin();
	make("theirs", 0700);
	make("ours", 0700);
	make("all", 01777);
	CHECK_EQ(chown(place("theirs"), OTHER, OTHER), 0);
	CHECK_EQ(symlink("../ours", place("all/link")), 0);
	expect("all/link", 0, "ours");
	CHECK_EQ(lchown(place("all/link"), OTHER, OTHER), 0);
	expect("theirs", -EPERM, "belongs to user 65534");
	expect("theirs/new", -EPERM, "belongs to user 65534");
	expect("all/link", -EPERM, "belongs to user 65534");
	CHECK(access(place("theirs/new"), F_OK) < 0);
	end();
}

TEST(links_in_a_folder_are_neither_used_nor_read)
{
	struct diag diag = { 0 };

	begin();
	make("ours", 0700);
	make("target", 0700);
	CHECK_EQ(symlink(place("target"), place("ours/link")), 0);
	CHECK_EQ(own_folder_make_in(place("ours"), "inner", &diag), 0);
	CHECK_EQ(own_folder_make_in(place("ours"), "inner", &diag), 0);
	CHECK_EQ(own_folder_make_in(place("ours"), "link", &diag), -EPERM);
	CHECK_EQ(chmod(place("ours/inner"), 0775), 0);
	CHECK_EQ(own_folder_make_in(place("ours"), "inner", &diag), -EPERM);
	CHECK_EQ(own_folder_check_file(place("ours"), "none", &diag), 0);
	CHECK_EQ(own_folder_check_file(place("ours"), "link", &diag), -EPERM);
	CHECK(own_folder_open_file(place("ours/link")) < 0);
	CHECK(own_folder_open_file(place("ours/inner")) < 0);
	fclose(fopen(place("ours/file"), "w"));
	CHECK_EQ(own_folder_check_file(place("ours"), "file", &diag), 0);
	int fd = own_folder_open_file(place("ours/file"));
	CHECK(fd >= 0);
	close(fd);
	end();
}
