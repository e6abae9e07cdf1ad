/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/resolve_process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file_open.h"

#define START_AFTER_NAME 20            /* the place of the start in /proc/PID/stat */
#define SLACK_NS (CLOCK_NS_PER_S / 10) /* the wall clock is adjusted, and starts of processes are rounded */

static uint64_t unix_ns(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * CLOCK_NS_PER_S + (uint64_t)time->tv_nsec;
}

/* The start of the process that has this pid now, by the wall clock; 0 if there is none. */
static uint64_t started_unix_ns(pid_t pid)
{
	char path[64], stat[1024];
	struct timespec wall, up;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	CLEANUP(close_fd) int fd = file_open(path, 0);
	ssize_t n = fd >= 0 ? read(fd, stat, sizeof(stat) - 1) : 0;
	if (n <= 0 || clock_gettime(CLOCK_REALTIME, &wall) < 0 || clock_gettime(CLOCK_BOOTTIME, &up) < 0)
		return 0;
	stat[n] = 0;
	const char *at = strrchr(stat, ')'); /* the name before it may contain anything */
	for (int i = 0; at && i < START_AFTER_NAME; i++)
		at = strchr(at + 1, ' ');
	if (!at)
		return 0;
	uint64_t ticks = strtoull(at, NULL, 10);
	uint64_t since_boot = ticks * (CLOCK_NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK));
	return unix_ns(&wall) - unix_ns(&up) + since_boot;
}

struct jit_process resolve_process(const struct profile *profile, pid_t pid)
{
	struct jit_process process = { .pid = pid };
	uint64_t end = profile->run.start_unix_ns + profile->run.duration_ns;

	if (!pid)
		return process;
	for (size_t i = 0; i < profile->processes.n; i++) {
		const struct profile_process *row = &profile->processes.at[i];
		if (row->pid != pid)
			continue;
		process.user = row->user; /* of several, the last */
		process.is_gone = row->exit_ns != 0;
	}
	process.is_gone |= profile->run.duration_ns && started_unix_ns(pid) > end + SLACK_NS;
	return process;
}
