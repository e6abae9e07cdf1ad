/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "collector/live/perf_events.h"
#include "collector/live/perf_source.h"
#include "collector/process/target.h"
#include "tests/test.h"

TEST(a_cgroup_contains_its_descendants)
{
	static const char text[] =
		"12:cpu,cpuacct:/\n1:name=systemd:/system.slice/ssh.service\n0::/system.slice/ssh.service\n";

	CHECK(target_cgroups_have(text, "/system.slice"));
	CHECK(target_cgroups_have(text, "/system.slice/"));
	CHECK(target_cgroups_have(text, "/system.slice/ssh.service"));
	CHECK(!target_cgroups_have(text, "/system.slice/ssh"));
	CHECK(!target_cgroups_have(text, "/user.slice"));
	CHECK(target_cgroups_have(text, "/"));
	CHECK(!target_cgroups_have("nonsense\n:\n", "/a"));
}

static void write_list(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

TEST(lists_of_cpus_may_have_any_contents)
{
	char path[] = "/tmp/cpprof_online.XXXXXX";
	struct cpu_list list = { 0 };

	close(mkstemp(path));
	write_list(path, "0-2,8\n");
	cpu_list_read(path, &list);
	CHECK_EQ(list.at.n, 4);
	CHECK_EQ(list.at.at[3], 8);
	write_list(path, "0-999999999\n");
	cpu_list_read(path, &list);
	CHECK(list.at.n <= 65536);
	write_list(path, "what\n");
	cpu_list_read(path, &list);
	CHECK(list.at.n >= 1); /* falls back to the existing CPUs */
	vec_done(&list.at);
	unlink(path);
}

static pid_t spin_on(int cpu)
{
	pid_t parent = getpid(), pid = fork();

	if (pid == 0) {
		cpu_set_t set;
		CPU_ZERO(&set);
		CPU_SET((size_t)cpu, &set);
		sched_setaffinity(0, sizeof(set), &set);
		while (getppid() == parent) /* also if a check fails */
			;
		_exit(0);
	}
	return pid;
}

/* Samples of one CPU, until there is one or the time is up. */
static bool is_sampled(struct source *source, uint32_t cpu, uint64_t ns)
{
	uint64_t end = clock_now_ns() + ns;
	struct diag diag = { 0 };
	struct event event;
	int got;

	while (clock_now_ns() < end &&
	       ((got = source_next(source, &event, 100, &diag)) > 0 || got == -EAGAIN))
		if (got > 0 && event.kind == EVENT_SAMPLE && event.sample.cpu == cpu)
			return true;
	return false;
}

TEST(cpus_that_come_online_later_are_recorded)
{
	char path[] = "/tmp/cpprof_online.XXXXXX";
	struct images *images = images_new();
	struct source *source = NULL;
	struct diag diag = { 0 };
	struct perf_source_options options = {
		.is_machine = true, .online = path, .frequency = 997, .stack_size = 4096
	};

	close(mkstemp(path));
	write_list(path, "0\n");
	int error = sysconf(_SC_NPROCESSORS_ONLN) < 2 ? -ENODEV
						      : perf_source_open(images, &options, &source, &diag);
	if (error) {
		unlink(path);
		images_free(images);
		SKIP(error == -ENODEV ? "there is one CPU" : "the whole machine may not be seen here");
	}
	pid_t pid = spin_on(1);
	bool was_there = is_sampled(source, 1, 300000000);
	write_list(path, "0-1\n");
	bool has_come = is_sampled(source, 1, 20000000000);
	write_list(path, "0\n");
	is_sampled(source, UINT32_MAX, 2500000000); /* until its removal is noticed */
	bool is_there = is_sampled(source, 1, 300000000);
	write_list(path, "0-1\n");
	bool is_back = is_sampled(source, 1, 20000000000);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	size_t n_rings = perf_source_stats(source).n_rings;
	source_close(source);
	images_free(images);
	unlink(path);
	CHECK(!was_there);
	CHECK(has_come);
	CHECK(!is_there);
	CHECK(is_back);
	CHECK_EQ(n_rings, 2);
}
