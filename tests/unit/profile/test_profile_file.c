/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles in files: how they are written, replaced and read in part. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/profiles.h"
#include "tests/test.h"

TEST(write_replaces_the_file_and_rotate_keeps_the_last_one)
{
	OWNED struct profile *before = sample_profile(), *after = NULL;
	char folder[] = "/tmp/cpprof-test-XXXXXX", path[64], old[80];
	struct diag diag = { 0 };

	CHECK(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/cpprof.data", folder);
	snprintf(old, sizeof(old), "%s.old", path);
	CHECK_EQ(profile_rotate(path, &diag), 0);
	CHECK_EQ(profile_write(before, path, &diag), 0);
	CHECK_EQ(profile_rotate(path, &diag), 0);
	CHECK_EQ(access(path, F_OK), -1);
	CHECK_EQ(profile_write(before, path, &diag), 0);
	CHECK_EQ(profile_read(old, &after, &diag), 0);
	CHECK_STR(profile_difference(before, after), "none");
	CHECK_EQ(unlink(path), 0);
	CHECK_EQ(unlink(old), 0);
	CHECK_EQ(rmdir(folder), 0); /* no other file is left in it */
}

TEST(images_are_read_without_the_call_paths)
{
	OWNED struct profile *before = sample_profile(), *images = NULL, *none = NULL;
	char path[] = "/tmp/cpprof-test-XXXXXX";
	CLEANUP(writer_done) struct writer file = { 0 };
	struct diag diag = { 0 };
	int fd = mkstemp(path);

	profile_pack(before, &file);
	file.at[file.len - 1] ^= 0x55; /* damages the last section */
	CHECK_EQ(write(fd, file.at, file.len), file.len);
	close(fd);
	CHECK_EQ(profile_read(path, &none, &diag), -EBADMSG);
	CHECK_EQ(profile_read_images(path, &images, &diag), 0);
	CHECK_EQ(images->images.n, before->images.n);
	for (size_t i = 0; i < before->images.n; i++)
		CHECK_STR(intern_text(&images->strings, images->images.at[i].path),
			  intern_text(&before->strings, before->images.at[i].path));
	CHECK_EQ(images->processes.n, 0);
	CHECK_EQ(unlink(path), 0);
}

TEST(write_to_a_device_does_not_replace_it)
{
	OWNED struct profile *profile = sample_profile();
	struct diag diag = { 0 };
	struct stat st;

	CHECK_EQ(profile_write(profile, "/dev/null", &diag), 0);
	CHECK_EQ(stat("/dev/null", &st), 0);
	CHECK(S_ISCHR(st.st_mode));
}

TEST(write_reports_the_file_that_failed)
{
	OWNED struct profile *profile = sample_profile();
	struct diag diag = { 0 };

	CHECK_EQ(profile_write(profile, "/nonexistent/p", &diag), -ENOENT);
	CHECK_STR(diag.what, "cannot write profile '/nonexistent/p'");
}
