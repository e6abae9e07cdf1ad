/* SPDX-License-Identifier: Apache-2.0 */
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/live/priority.h"
#include "tests/test.h"

static int nice_now(void)
{
	return getpriority(PRIO_PROCESS, 0);
}

static int policy_now(void)
{
	return sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
}

/* The priority of a process that we start. */
static int nice_of_child(void)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0)
		_exit(nice_now() + 20);
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status) - 20;
}

TEST(raised_priority_is_not_inherited_and_is_restored)
{
	struct priority priority;
	int before = nice_now();

	if (before != 0 || policy_now() != SCHED_OTHER)
		SKIP("this test does not run at nice 0");
	priority_raise(&priority);
	CHECK(priority.is_ours);
	CHECK_EQ(priority.nice, nice_now());
	CHECK(nice_now() >= -10);
	CHECK_EQ(nice_of_child(), before);
	priority_hurry(&priority);
	CHECK_EQ(nice_of_child(), before);
	priority_calm(&priority);
	CHECK_EQ(policy_now(), SCHED_OTHER);
	CHECK_EQ(priority.nice, nice_now());
	priority_restore(&priority);
	CHECK_EQ(nice_now(), before);
	CHECK_EQ(nice_of_child(), before);
}

TEST(a_process_with_lowered_priority_is_not_raised)
{
	struct priority priority;
	pid_t pid = fork();
	int status = 1;

	if (pid == 0) {
		setpriority(PRIO_PROCESS, 0, 15);
		priority_raise(&priority);
		priority_hurry(&priority);
		_exit(priority.is_ours || policy_now() != SCHED_OTHER || nice_now() != 15);
	}
	waitpid(pid, &status, 0);
	CHECK_EQ(status, 0);
}

TEST(the_highest_priority_is_not_inherited)
{
	pid_t pid = fork();
	int status = 1;

	if (pid == 0) {
		priority_first();
		int inner = 1;
		pid_t child = fork();
		if (child == 0)
			_exit(policy_now() != SCHED_OTHER || nice_now() < 0);
		waitpid(child, &inner, 0);
		_exit(WEXITSTATUS(inner));
	}
	waitpid(pid, &status, 0);
	CHECK_EQ(status, 0);
}
