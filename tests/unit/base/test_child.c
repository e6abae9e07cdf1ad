/* SPDX-License-Identifier: Apache-2.0 */
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "tests/test.h"

TEST(clock_goes_forward)
{
	uint64_t first = clock_now_ns();

	nanosleep(&(struct timespec){ .tv_nsec = 1000 }, NULL);
	CHECK(clock_now_ns() > first);
}

static int child_returns(void *context, int result)
{
	return result == -1 ? *(int *)context : 99;
}

static int child_sleeps(void *context, int result)
{
	(void)context;
	(void)result;
	while (pause() < 0)
		;
	return 0;
}

TEST(child_ends_with_a_status)
{
	int status = 7;
	struct child child = { 0 };
	struct child_options options = { .run = child_returns, .context = &status };

	CHECK_EQ(child_wait(&child), -ESRCH);
	CHECK(!child_is_busy(&child));
	CHECK_EQ(child_start(&child, &options), 0);
	CHECK_EQ(child_wait(&child), 7);
	CHECK_EQ(child_wait(&child), 7); /* waiting again gives the same status */
	CHECK(!child_is_busy(&child));
	status = 0;
	CHECK_EQ(child_start(&child, &options), 0);
	while (child_is_busy(&child))
		nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
	CHECK_EQ(child_wait(&child), 0);
	child_done(&child);
}

/* ---- the rule ----------------------------------------------------------------------------------- */

static bool told_to_be_at_rest(const void *context)
{
	return *(const bool *)context;
}

TEST(child_is_not_forked_while_other_threads_are_busy)
{
	bool is_at_rest = false;
	int status = 0;
	struct child child = { 0 };
	struct child_options options = { .run = child_returns,
					 .context = &status,
					 .is_at_rest = told_to_be_at_rest,
					 .rest_context = &is_at_rest };

	CHECK_EQ(child_start(&child, &options), -EBUSY);
	CHECK_EQ(child.pid, 0);
	is_at_rest = true;
	CHECK_EQ(child_start(&child, &options), 0);
	CHECK_EQ(child_wait(&child), 0);
	child_done(&child);
}

TEST(child_cannot_be_started_twice)
{
	struct child child = { 0 };
	struct child_options options = { .run = child_sleeps };

	CHECK_EQ(child_start(&child, &options), 0);
	CHECK_EQ(child_start(&child, &options), -EBUSY);
	CHECK(child_is_busy(&child));
	child_kill(&child);
	CHECK(!child_is_busy(&child));
	CHECK_EQ(child_wait(&child), -ECANCELED);
	child_kill(&child); /* no child: no effect */
	child_done(&child);
}

TEST(child_that_is_left_ends)
{
	struct child child = { 0 };
	struct child_options options = { .run = child_sleeps, .is_idle = true };

	CHECK_EQ(child_start(&child, &options), 0);
	child_leave(&child);
	child_leave(&child); /* again: no effect */
	CHECK_EQ(child_wait(&child), -ECANCELED);
	child_leave(&child); /* no child: no effect */
	child_done(&child);
}

TEST(child_at_idle_priority_is_raised_to_end_it)
{
	struct child child = { 0 };
	struct child_options options = { .run = child_sleeps, .is_idle = true };

	if (geteuid() != 0)
		SKIP("raising the priority of a process needs root");
	CHECK_EQ(child_start(&child, &options), 0);
	while (child_is_busy(&child) && sched_getscheduler(child.pid) != SCHED_IDLE)
		nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
	CHECK_EQ(sched_getscheduler(child.pid), SCHED_IDLE);
	child_raise(&child);
	CHECK_EQ(sched_getscheduler(child.pid), SCHED_OTHER);
	child_done(&child);
}

/* ---- results ------------------------------------------------------------------------------------ */

/* More than fits into a pipe: the parent must read while the child writes. */
static int child_writes(void *context, int result)
{
	uint32_t n = *(const uint32_t *)context;

	for (uint32_t i = 0; i < n; i++)
		if (write(result, &i, sizeof(i)) != sizeof(i))
			return 1;
	return 3;
}

TEST(child_result_comes_through_a_pipe)
{
	uint32_t n = 100000;
	struct child child = { 0 };
	struct child_options options = { .run = child_writes, .context = &n, .has_result = true };

	for (int round = 0; round < 2; round++, n = 1) {
		CHECK_EQ(child_start(&child, &options), 0);
		CHECK_EQ(child_wait(&child), 3);
		struct bytes bytes = child_result(&child);
		CHECK_EQ(bytes.len, n * sizeof(uint32_t));
		for (uint32_t i = 0; i < n; i++)
			CHECK_EQ(((const uint32_t *)(const void *)bytes.at)[i], i);
	}
	child_done(&child);
}

TEST(child_that_writes_too_much_is_ended)
{
	uint32_t n = 100000;
	struct child child = { 0 };
	struct child_options options = {
		.run = child_writes, .context = &n, .has_result = true, .max_result = 1000
	};

	CHECK_EQ(child_start(&child, &options), 0);
	CHECK_EQ(child_wait(&child), -EMSGSIZE);
	CHECK(child_result(&child).len <= 1000);
	child_done(&child);
}

static int child_closes_and_sleeps(void *context, int result)
{
	close(result);
	return child_sleeps(context, -1);
}

/* ---- limits ------------------------------------------------------------------------------------- */

TEST(child_that_takes_too_long_is_ended)
{
	int (*const runs[])(void *, int) = { child_sleeps, child_closes_and_sleeps };

	for (size_t i = 0; i < ARRAY_LEN(runs); i++) {
		struct child child = { 0 };
		struct child_options options = { .run = runs[i], .max_ns = 1000000, .has_result = i > 0 };

		CHECK_EQ(child_start(&child, &options), 0);
		CHECK_EQ(child_wait(&child), -ETIME);
		CHECK_EQ(child_start(&child, &options), 0);
		while (child_is_busy(&child))
			nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
		CHECK_EQ(child_wait(&child), -ETIME);
		child_done(&child);
	}
}

static int child_wants_memory(void *context, int result)
{
	size_t size = *(const size_t *)context;

	(void)result;
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? 5
													  : 6;
}

/* qemu-user accepts a limit on memory, but does not enforce it. */
static int child_limits_itself(void *context, int result)
{
	struct rlimit limit = { .rlim_cur = (rlim_t)1 << 29, .rlim_max = (rlim_t)1 << 29 };

	setrlimit(RLIMIT_AS, &limit);
	return child_wants_memory(context, result);
}

TEST(child_gets_no_more_memory_than_its_limit)
{
	size_t size = (size_t)1 << 30;
	struct child itself = { 0 };

	CHECK_EQ(
		child_start(&itself, &(struct child_options){ .run = child_limits_itself, .context = &size }),
		0);
	int status = child_wait(&itself);
	child_done(&itself);
	if (status != 5)
		SKIP("limits on memory are not kept here");
	struct child child = { 0 };
	struct child_options options = { .run = child_wants_memory, .context = &size };

	CHECK_EQ(child_start(&child, &options), 0);
	CHECK_EQ(child_wait(&child), 6);
	options.max_memory = (size_t)1 << 29;
	CHECK_EQ(child_start(&child, &options), 0);
	CHECK_EQ(child_wait(&child), 5);
	child_done(&child);
}

static int child_spins(void *context, int result)
{
	(void)context;
	(void)result;
	for (volatile unsigned i = 1; i; i |= 1)
		;
	return 0;
}

TEST(child_gets_no_more_cpu_time_than_its_limit)
{
	struct child child = { 0 };
	struct child_options options = { .run = child_spins, .max_cpu_s = 1 };

	CHECK_EQ(child_start(&child, &options), 0);
	CHECK_EQ(child_wait(&child), -ETIME);
	child_done(&child);
}

static int child_tells_its_scheduling(void *context, int result)
{
	(void)context;
	(void)result;
	return sched_getscheduler(0) == SCHED_IDLE ? 0 : 1;
}

TEST(child_runs_with_idle_priority_or_is_refused)
{
	struct child child = { 0 };
	struct child_options options = { .run = child_tells_its_scheduling, .is_idle = true };

	CHECK_EQ(child_start(&child, &options), 0);
	int status = child_wait(&child);
	CHECK(status == 0 || status == CHILD_REFUSED);
	options.is_idle = false;
	CHECK_EQ(child_start(&child, &options), 0);
	CHECK_EQ(child_wait(&child), 1);
	child_done(&child);
}

enum { KEEPS_CAPABILITIES = 1, MAY_GET_MORE = 2, MAY_DUMP = 4, CANNOT_READ = 8, WRITES = 16, REMOVES = 32 };

/* The forbidden operations that it could perform, as a mask. */
static int child_tries_all(void *context, int result)
{
	const char *path = context;
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct sets[2] = { 0 };
	struct rlimit core = { 1, 1 };
	int mask = 0;

	(void)result;
	signal(SIGXFSZ, SIG_IGN);
	if (syscall(SYS_capget, &header, sets) != 0 ||
	    ((sets[0].permitted | sets[0].effective) & ~CAP_TO_MASK(CAP_DAC_READ_SEARCH)) ||
	    sets[0].inheritable || sets[1].permitted || sets[1].effective)
		mask |= KEEPS_CAPABILITIES;
	mask |= prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? 0 : MAY_GET_MORE;
	mask |= getrlimit(RLIMIT_CORE, &core) == 0 && core.rlim_max == 0 ? 0 : MAY_DUMP;
	mask |= access(path, R_OK) == 0 && open(path, O_RDONLY) >= 0 ? 0 : CANNOT_READ;
	int fd = open(path, O_WRONLY);
	mask |= fd >= 0 && write(fd, "x", 1) == 1 ? WRITES : 0;
	return mask | (unlink(path) == 0 ? REMOVES : 0);
}

TEST(child_without_privileges_can_only_read)
{
	char path[] = "/tmp/cpprof-child-XXXXXX";
	struct child child = { 0 };
	struct child_options options = { .run = child_tries_all, .context = path, .is_unprivileged = true };
	bool has_landlock = syscall(444, NULL, 0, 1) > 0; /* landlock_create_ruleset: the ABI version */
	int fd = mkstemp(path);

	CHECK(fd >= 0);
	CHECK_EQ(child_start(&child, &options), 0);
	CHECK_EQ(child_wait(&child), has_landlock ? 0 : REMOVES);
	CHECK(access(path, F_OK) == 0 || !has_landlock);
	close(fd);
	unlink(path);
	child_done(&child);
}

static int child_connects(void *context, int result)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	(void)result;
	return connect(fd, context, sizeof(struct sockaddr_in)) == 0 ? 0 : errno;
}

TEST(child_without_privileges_connects_to_a_server_if_allowed)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t len = sizeof(at);
	int server = socket(AF_INET, SOCK_STREAM, 0);
	bool can_refuse = syscall(444, NULL, 0, 1) >= 4; /* landlock_create_ruleset: the ABI version */

	CHECK_EQ(bind(server, (struct sockaddr *)&at, sizeof(at)), 0);
	CHECK_EQ(listen(server, 2), 0);
	CHECK_EQ(getsockname(server, (struct sockaddr *)&at, &len), 0);
	for (int connects = 0; connects < 2; connects++) {
		struct child child = { 0 };
		struct child_options options = {
			.run = child_connects, .context = &at, .is_unprivileged = true, .connects = connects
		};
		CHECK_EQ(child_start(&child, &options), 0);
		CHECK_EQ(child_wait(&child), connects || !can_refuse ? 0 : EACCES);
		child_done(&child);
	}
	close(server);
}

/* ---- who dies with whom ------------------------------------------------------------------------- */

static int child_tells_and_sleeps(void *context, int result)
{
	(void)result;
	if (write(*(const int *)context, "x", 1) != 1)
		return 1;
	return child_sleeps(NULL, -1);
}

static int child_tells_late(void *context, int result)
{
	const int *ends = context;
	char byte;

	(void)result;
	close(ends[3]); /* our copy of the write end: otherwise read() never sees EOF */
	if (write(ends[1], "x", 1) != 1)
		return 1;
	return read(ends[2], &byte, 1) == 0 && write(ends[1], "y", 1) == 1 ? 0 : 1;
}

/* An intermediate process starts a child and is killed. Ends 0 and 1 are a pipe from the grandchild, 2 and 3
 * one to it. Returns what the grandchild wrote after it had lost its parent; 0: it was gone. */
static char orphan_says(bool outlives)
{
	int ends[4];
	char byte = 0;

	CHECK_EQ(pipe(ends), 0);
	CHECK_EQ(pipe(ends + 2), 0);
	pid_t middle = fork();
	if (middle == 0) {
		struct child child = { 0 };
		struct child_options options = { .run = outlives ? child_tells_late : child_tells_and_sleeps,
						 .context = outlives ? ends : ends + 1,
						 .outlives_us = outlives };
		close(ends[0]);
		child_start(&child, &options);
		close(ends[1]);
		for (;;)
			pause();
	}
	close(ends[1]);
	close(ends[2]);
	CHECK_EQ(read(ends[0], &byte, 1), 1); /* the grandchild is running */
	kill(middle, SIGKILL);
	CHECK_EQ(waitpid(middle, NULL, 0), middle);
	close(ends[3]);
	byte = 0;
	CHECK(read(ends[0], &byte, 1) >= 0); /* returns after the last writer has closed the pipe */
	close(ends[0]);
	return byte;
}

TEST(child_is_killed_with_its_parent_unless_it_may_outlive_it)
{
	CHECK_EQ(orphan_says(false), 0);
	CHECK_EQ(orphan_says(true), 'y');
}
