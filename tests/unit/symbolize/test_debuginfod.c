/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests how debuginfod-find is run: a script in its place prints what the real one would.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbolize/files/debuginfod_ways.h"
#include "tests/test.h"

static const struct build_id build_id = { 3, { 0x0a, 0xbc, 0x01 } };

struct seen {
	uint64_t done, total;
	int n;
};

static void see(void *context, uint64_t done, uint64_t total)
{
	struct seen *seen = context;

	*seen = (struct seen){ done, total, seen->n + 1 };
}

/* Sets PATH to a folder with this script as debuginfod-find, or to an empty one if it is NULL. */
static int ask(const char *script, struct seen *seen, char **ret)
{
	char folder[] = "/tmp/cpprof_debuginfod.XXXXXX", file[64], path[4096];
	const char *old = getenv("PATH");

	CHECK(mkdtemp(folder));
	snprintf(file, sizeof(file), "%s/debuginfod-find", folder);
	snprintf(path, sizeof(path), "%s", old ? old : "");
	FILE *out = script ? fopen(file, "we") : NULL;
	if (out) {
		fprintf(out, "#!/bin/sh\n%s\n", script);
		fclose(out);
		CHECK(chmod(file, 0755) == 0);
	}
	setenv("PATH", folder, 1);
	const struct debuginfod_watch watch = { seen ? see : NULL, seen };
	int error = debuginfod_command_find(&build_id, &watch, ret);
	setenv("PATH", path, 1);
	unlink(file);
	rmdir(folder);
	return error;
}

TEST(debuginfod_command_returns_the_printed_path)
{
	char *path = NULL;

	CHECK_EQ(ask("echo /cache/$1/$2/debuginfo", NULL, &path), 0);
	CHECK_STR(path, "/cache/debuginfo/0abc01/debuginfo");
	free(path);
}

TEST(debuginfod_command_reports_progress_only_on_request)
{
	struct seen seen = { 0 };
	char *path = NULL;

	CHECK_EQ(ask("[ $1 = -v ] || exit 1; echo server urls >&2; echo Progress 5 / 0 >&2\n"
		     "echo Progress 70 / 100 >&2; echo /x",
		     &seen, &path),
		 0);
	CHECK_STR(path, "/x");
	CHECK_EQ(seen.n, 2);
	CHECK_EQ(seen.done, 70);
	CHECK_EQ(seen.total, 100);
	free(path);
}

TEST(debuginfod_command_reports_why_there_is_no_file)
{
	char *path = NULL;

	CHECK_EQ(ask("echo Server query failed: No such file or directory >&2; exit 1", NULL, &path),
		 -ENOENT);
	CHECK_EQ(ask("echo Server query failed: Timer expired >&2; exit 1", NULL, &path), -ETIME);
	CHECK_EQ(ask("echo Server query failed: a word of its own >&2; exit 1", NULL, &path), -EIO);
	CHECK_EQ(ask("exit 1", NULL, &path), -EIO);
	CHECK(!path);
}

TEST(debuginfod_command_without_a_path_has_failed)
{
	char *path = NULL;

	CHECK_EQ(ask("exit 0", NULL, &path), -EIO);
	CHECK_EQ(ask("echo relative/path", NULL, &path), -EIO);
	CHECK_EQ(ask("echo /there; exit 1", NULL, &path), -EIO);
	CHECK_EQ(ask("echo /there; kill -9 $$", NULL, &path), -EIO);
	CHECK(!path);
}

TEST(debuginfod_command_may_not_be_installed)
{
	char *path = NULL;

	CHECK_EQ(ask(NULL, NULL, &path), -ENOPKG);
	CHECK(!path);
}
