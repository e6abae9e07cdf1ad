/* SPDX-License-Identifier: Apache-2.0 */
/* A recording that is not controlled from a terminal. */
#include "recording/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "tests/test.h"

/* ---- who runs it -------------------------------------------------------------------------------- */

struct runner {
	char folder[32];
	int out, err; /* the original stdout and stderr */
	unsigned n_notes, n_faults, n_asked, n_progress;
	unsigned n_until_over; /* is_over returns true after that many calls; 0 = never */
	struct diag fault;
};

/* In a separate folder, with all output redirected to a file there. */
static void runner_enter(struct runner *runner)
{
	*runner = (struct runner){ .folder = "/tmp/cpprof_test.XXXXXX" };
	CHECK(mkdtemp(runner->folder) != NULL);
	CHECK_EQ(chdir(runner->folder), 0);
	fflush(NULL);
	runner->out = dup(STDOUT_FILENO);
	runner->err = dup(STDERR_FILENO);
	int fd = open("printed", O_WRONLY | O_CREAT | O_APPEND, 0600);
	dup2(fd, STDOUT_FILENO);
	dup2(fd, STDERR_FILENO);
	close(fd);
}

/* How much was printed since. */
static off_t runner_leave(struct runner *runner)
{
	char command[64];
	struct stat st;

	fflush(NULL);
	dup2(runner->out, STDOUT_FILENO);
	dup2(runner->err, STDERR_FILENO);
	close(runner->out);
	close(runner->err);
	CHECK_EQ(stat("printed", &st), 0);
	CHECK_EQ(chdir("/"), 0);
	snprintf(command, sizeof(command), "rm -rf %s", runner->folder);
	CHECK_EQ(system(command), 0);
	return st.st_size;
}

static bool runner_is_over(void *context)
{
	struct runner *runner = context;

	return ++runner->n_asked >= runner->n_until_over && runner->n_until_over;
}

static void runner_progress(void *context, uint64_t elapsed_ns, const struct profile_quality *quality)
{
	struct runner *runner = context;

	(void)elapsed_ns;
	(void)quality;
	runner->n_progress++;
}

static void runner_note(void *context, const char *text)
{
	struct runner *runner = context;

	runner->n_notes += text[0] != '\0';
}

static void runner_fault(void *context, enum recording_part part, const struct diag *diag)
{
	struct runner *runner = context;

	(void)part;
	runner->n_faults++;
	runner->fault = *diag;
}

static struct recording_listener runner_listener(struct runner *runner)
{
	return (struct recording_listener){ .context = runner,
					    .is_over = runner_is_over,
					    .progress = runner_progress,
					    .note = runner_note,
					    .fault = runner_fault };
}

/* ---- of a file ---------------------------------------------------------------------------------- */

static struct recording_options file_options(struct runner *runner, unsigned n_workers)
{
	return (struct recording_options){ .mode = "import",
					   .command_line = "none",
					   .file = RECORDINGS "/jit/jit_x86_64.data",
					   .file_options = { .symfs = RECORDINGS "/jit/root-x86_64" },
					   .n_workers = n_workers,
					   .output = "out",
					   .listener = runner_listener(runner) };
}

TEST(recording_of_a_file_becomes_a_profile_and_prints_nothing)
{
	for (unsigned n_workers = 1; n_workers < 4; n_workers++) {
		struct recording *recording = NULL;
		struct diag diag = { 0 };
		struct runner runner;

		runner_enter(&runner);
		struct recording_options options = file_options(&runner, n_workers);
		int opened = recording_open(&options, &recording, &diag);
		int ran = opened ? opened : recording_run(recording, &diag);
		int finished = opened ? opened : recording_finish(recording, &diag);
		int saved = opened ? opened : recording_save(recording, &diag);
		uint64_t samples = opened ? 0 : recording_profile(recording)->quality.samples;
		uint64_t complete = opened ? 0 : recording_profile(recording)->quality.by_end[STACK_COMPLETE];
		bool is_there = access("out", F_OK) == 0;
		recording_close(recording);
		CHECK_EQ(runner_leave(&runner), 0);
		CHECK_EQ(opened, 0);
		CHECK_EQ(ran, 0);
		CHECK_EQ(finished, 0);
		CHECK_EQ(saved, 0);
		CHECK_EQ(samples, 40);
		CHECK_EQ(complete, 40);
		CHECK(is_there);
		CHECK_EQ(runner.n_notes, 1); /* the recording has no build-ids */
	}
}

TEST(recording_of_a_missing_file_is_an_error_and_prints_nothing)
{
	struct recording *recording = NULL;
	struct diag diag = { 0 };
	struct runner runner;

	runner_enter(&runner);
	struct recording_options options = file_options(&runner, 1);
	options.file = "missing";
	int opened = recording_open(&options, &recording, &diag);
	CHECK_EQ(runner_leave(&runner), 0);
	CHECK_EQ(opened, -ENOENT);
	CHECK_EQ(diag.error, -ENOENT);
	CHECK(recording == NULL);
}

TEST(recording_that_cannot_be_written_is_an_error_and_prints_nothing)
{
	struct recording *recording = NULL;
	struct diag diag = { 0 };
	struct runner runner;

	runner_enter(&runner);
	struct recording_options options = file_options(&runner, 2);
	options.output = "no/such/folder/out";
	int opened = recording_open(&options, &recording, &diag);
	int ran = opened ? opened : recording_run(recording, &diag);
	int finished = opened ? 0 : recording_finish(recording, &diag);
	recording_close(recording);
	CHECK_EQ(runner_leave(&runner), 0);
	CHECK_EQ(opened, 0);
	CHECK_EQ(ran, 0);
	CHECK_EQ(finished, -ENOENT);
	CHECK(strstr(diag.what, "no/such/folder/out") != NULL);
}

/* ---- of live processes -------------------------------------------------------------------------- */

static char *const spinning[] = { "/bin/sh", "-c", "while :; do :; done", NULL };

static struct recording_options live_options(struct runner *runner)
{
	return (struct recording_options){
		.mode = "record",
		.command_line = "none",
		.target = { .argv = spinning, .frequency = 200, .stack_size = 4096, .all_user = true },
		.n_workers = 2,
		.output = "out",
		.checkpoint_ns = 1000000,
		.watch = "watched.json",
		.watch_ns = 1000000,
		.listener = runner_listener(runner)
	};
}

/* Without permission to profile, there is nothing to test. */
static bool live_is_refused(int error)
{
	return error == -EACCES || error == -EPERM || error == -ENOENT || error == -ENOSYS ||
	       error == -ENOTSUP;
}

/* Checkpoints and exports are made continually; the recording ends on request, and no child is left except
 * the command. */
TEST(recording_of_a_command_ends_when_told_and_leaves_no_child)
{
	struct recording *recording = NULL;
	struct diag diag = { 0 };
	struct runner runner;

	runner_enter(&runner);
	runner.n_until_over = 4;
	struct recording_options options = live_options(&runner);
	int opened = recording_open(&options, &recording, &diag);
	if (opened) {
		runner_leave(&runner);
		CHECK(live_is_refused(opened));
		SKIP("perf_event is not available here");
	}
	int ran = recording_run(recording, &diag);
	bool was_stopped = recording_was_stopped(recording);
	int finished = recording_finish(recording, &diag);
	int saved = recording_save(recording, &diag), status = 0;
	pid_t command = recording_command(recording);
	siginfo_t left = { 0 };
	int looked = waitid(P_ALL, 0, &left, WEXITED | WNOHANG | WNOWAIT); /* the command still runs */
	kill(command, SIGKILL);
	while (!recording_command_ended(recording, 100, &status))
		;
	int alone = waitpid(-1, NULL, WNOHANG) < 0 ? errno : 0;
	bool is_there = access("out", F_OK) == 0 && access("watched.json", F_OK) == 0;
	uint64_t duration_ns = recording_profile(recording)->run.duration_ns;
	recording_close(recording);
	CHECK_EQ(runner_leave(&runner), 0);
	CHECK_EQ(ran, 0);
	CHECK(was_stopped);
	CHECK_EQ(finished, 0);
	CHECK_EQ(saved, 0);
	CHECK_EQ(looked, 0);
	CHECK_EQ(left.si_pid, 0);
	CHECK(WIFSIGNALED(status));
	CHECK_EQ(alone, ECHILD);
	CHECK(is_there);
	CHECK(duration_ns > 0);
	CHECK_EQ(runner.n_asked, 4);
	CHECK_EQ(runner.n_faults, 0);
}

/* A failing live export is reported, and has no other effect. */
TEST(recording_reports_exports_that_fail)
{
	struct recording *recording = NULL;
	struct diag diag = { 0 };
	struct runner runner;

	runner_enter(&runner);
	runner.n_until_over = 3;
	struct recording_options options = live_options(&runner);
	options.watch = "gone/watched.json";
	CHECK_EQ(mkdir("gone", 0700), 0);
	int opened = recording_open(&options, &recording, &diag);
	if (opened) {
		runner_leave(&runner);
		CHECK(live_is_refused(opened));
		SKIP("perf_event is not available here");
	}
	int removed = rmdir("gone");
	int ran = recording_run(recording, &diag);
	int finished = recording_finish(recording, &diag), status;
	kill(recording_command(recording), SIGKILL);
	while (!recording_command_ended(recording, 100, &status))
		;
	recording_close(recording);
	CHECK_EQ(runner_leave(&runner), 0);
	CHECK_EQ(removed, 0);
	CHECK_EQ(ran, 0);
	CHECK_EQ(finished, 0);
	CHECK(runner.n_faults > 0);
	CHECK_EQ(runner.fault.error, -ENOENT);
	CHECK(strstr(runner.fault.what, "gone/watched.json") != NULL);
}
