/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "recording/checkpoint.h"
#include "recording/output.h"

static const struct tm new_year = {
	.tm_year = 126, .tm_mon = 0, .tm_mday = 2, .tm_hour = 3, .tm_min = 4, .tm_sec = 5
};

static void check_expand(const char *template, const char *want)
{
	char *path = output_expand(template, 42, &new_year);

	CHECK_STR(path, want);
	free(path);
}

TEST(output_names_may_contain_pid_and_time)
{
	check_expand(NULL, "cpprof.data");
	check_expand("a-%p-%t.data", "a-42-20260102-030405.data");
	check_expand("100%%", "100%");
	check_expand("%x%", "%x%");
	check_expand("", "");
}

/* A temporary folder that is the current one until leave(). */
static char folder[64];
static void enter(void)
{
	snprintf(folder, sizeof(folder), "/tmp/cpprof_output_XXXXXX");
	CHECK(mkdtemp(folder) != NULL);
	CHECK_EQ(chdir(folder), 0);
}
static void leave(void)
{
	unlink("cpprof.data");
	unlink("cpprof.data.old");
	CHECK_EQ(chdir("/"), 0);
	rmdir(folder);
}

static uint32_t is_checkpoint(const char *path)
{
	struct profile *profile = NULL;
	struct diag diag = { 0 };

	CHECK_EQ(profile_read(path, &profile, &diag), 0);
	uint32_t is = profile->run.is_checkpoint;
	profile_free(profile);
	return is;
}

TEST(output_keeps_the_last_default_file_once)
{
	struct profile *profile = profile_new();
	struct output output;
	struct diag diag = { 0 };

	profile->quality.samples = 1;
	enter();
	for (int run = 0; run < 2; run++) {
		output_init(&output, NULL, 1);
		CHECK_EQ(output_write(&output, profile, &diag), 0);
		CHECK_EQ(access("cpprof.data.old", F_OK), run ? 0 : -1);
		CHECK_EQ(output_write(&output, profile, &diag), 0); /* a recording replaces its own file */
		CHECK_EQ(access("cpprof.data.old", F_OK), run ? 0 : -1);
		output_done(&output);
	}
	leave();
	profile_free(profile);
}

TEST(output_without_samples_leaves_the_last_default_file)
{
	struct profile *profile = profile_new();
	struct output output;
	struct diag diag = { 0 };

	enter();
	for (int run = 0; run < 3; run++) {
		profile->quality.samples = run == 0;
		output_init(&output, run < 2 ? NULL : "cpprof.data", 1);
		CHECK_EQ(output_write(&output, profile, &diag), 0);
		CHECK_EQ(output.is_left, run == 1); /* a given file name is always written */
		CHECK_EQ(access("cpprof.data.old", F_OK), -1);
		output_done(&output);
	}
	leave();
	profile_free(profile);
}

TEST(checkpoint_is_written_in_the_background_and_marked)
{
	struct source_info info = { .isa = &isa_x86_64 };
	struct images *images = images_new();
	struct workers *workers = workers_new(images, &info, &(struct workers_options){ .n_workers = 2 });
	struct profile *profile = workers_profile(workers);
	struct checkpoint checkpoint;
	struct output output;
	struct diag diag = { 0 };

	profile->quality.samples = 1;
	enter();
	output_init(&output, NULL, 1);
	checkpoint_init(&checkpoint, 1000, 5000);
	CHECK(!checkpoint_is_due(&checkpoint, 5999));
	CHECK(checkpoint_is_due(&checkpoint, 6000));
	checkpoint_write(&checkpoint, &output, profile, workers, 6000);
	CHECK(!checkpoint_is_due(&checkpoint, 6001));
	checkpoint_finish(&checkpoint);
	CHECK_EQ(is_checkpoint("cpprof.data"), 1);
	CHECK_EQ(profile->run.is_checkpoint, 0);
	CHECK_EQ(output_write(&output, profile, &diag), 0);
	CHECK_EQ(is_checkpoint("cpprof.data"), 0);
	CHECK_EQ(access("cpprof.data.old", F_OK), -1);
	output_done(&output);
	leave();
	workers_free(workers);
	images_free(images);
}

/* Forked while a worker is running, the child could find data half changed, or locked. */
TEST(checkpoint_is_not_written_while_workers_are_busy)
{
	struct source_info info = { .isa = &isa_x86_64 };
	struct images *images = images_new();
	struct workers *workers = workers_new(images, &info, &(struct workers_options){ .n_workers = 2 });
	struct profile *profile = workers_profile(workers);
	struct checkpoint checkpoint;
	struct output output;

	profile->quality.samples = 1;
	enter();
	output_init(&output, NULL, 1);
	checkpoint_init(&checkpoint, 1000, 5000);
	workers_event(workers, &(struct event){ .kind = EVENT_EXIT, .pid = 1, .tid = 1, .time_ns = 1 });
	CHECK(!workers_are_idle(workers)); /* the event is buffered */
	checkpoint_write(&checkpoint, &output, profile, workers, 6000);
	checkpoint_finish(&checkpoint);
	CHECK_EQ(access("cpprof.data", F_OK), -1);
	CHECK(!output.has_rotated);
	output_done(&output);
	leave();
	workers_free(workers);
	images_free(images);
}

TEST(checkpoint_of_interval_zero_is_never_due)
{
	struct checkpoint checkpoint;

	checkpoint_init(&checkpoint, 0, 5000);
	CHECK(!checkpoint_is_due(&checkpoint, UINT64_MAX));
}
