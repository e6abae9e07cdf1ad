/* SPDX-License-Identifier: Apache-2.0 */
#include "base/process_start.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file_open.h"
#include "base/real_user.h"
#include "tests/test.h"

TEST(process_start_is_that_of_the_process_and_none_when_it_has_ended)
{
	pid_t pid = fork();

	if (pid == 0) {
		pause();
		_exit(0);
	}
	uint64_t own = process_start(getpid()), child = process_start(pid);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	CHECK(own > 0);
	CHECK(child >= own);
	CHECK_EQ(process_start(getpid()), own);
	CHECK_EQ(process_start(pid), 0);
}

/* Exit code of a child for which this path below its own root can be opened, whatever its pid was before. */
static int opens_below_root(bool is_later)
{
	char path[64];
	pid_t pid = fork();

	if (pid == 0) {
		snprintf(path, sizeof(path), "/proc/%d/root%s", (int)getpid(), "/proc/self/stat");
		if (is_later)
			process_guard_root(getpid(), process_start(getpid()) - 1);
		else
			process_guard_root(getpid(), process_start(getpid()));
		CLEANUP(close_fd) int fd = file_open(path, 0);
		_exit(fd >= 0 ? 0 : 1);
	}
	int status = 0;
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

TEST(paths_below_the_root_of_a_process_are_not_those_of_a_later_one)
{
	CHECK_EQ(opens_below_root(false), 0);
	CHECK_EQ(opens_below_root(true), 1);
}

TEST(whose_files_are_ours_does_not_change_in_a_process_that_becomes_another_user)
{
	const struct user other = { 65533, 65533 };

	CHECK(real_user_is_ours(0) && real_user_is_ours(geteuid()));
	if (geteuid() != 0)
		SKIP("only root can become another user");
	CHECK(!real_user_is_ours(65533));
	pid_t pid = fork();
	if (pid == 0)
		_exit(real_user_become(&other) && geteuid() == 65533 && !real_user_is_ours(65533) &&
				      real_user_is_ours(0)
			      ? 0
			      : 1);
	int status = 0;
	waitpid(pid, &status, 0);
	CHECK_EQ(status, 0);
}
