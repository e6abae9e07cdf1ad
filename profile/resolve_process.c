/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/resolve_process.h"

#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/process_start.h"
#include "base/real_user.h"

#define SLACK_NS (CLOCK_NS_PER_S / 10) /* the wall clock is adjusted, and starts of processes are rounded */

static uint64_t unix_ns(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * CLOCK_NS_PER_S + (uint64_t)time->tv_nsec;
}

/* Ticks since the machine started, by the wall clock. */
static uint64_t unix_ns_of_ticks(uint64_t ticks)
{
	struct timespec wall = { 0 }, up = { 0 };

	clock_gettime(CLOCK_REALTIME, &wall);
	clock_gettime(CLOCK_BOOTTIME, &up);
	return unix_ns(&wall) - unix_ns(&up) + ticks * (CLOCK_NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK));
}

/* Did what has this pid now start after the recording? Recordings of others may not say when they were made.
 */
static bool resolve_is_later(const struct profile *profile, uint64_t start)
{
	const struct profile_run *run = &profile->run;
	uint64_t end = run->start_unix_ns + run->duration_ns;

	return run->start_unix_ns && run->duration_ns && unix_ns_of_ticks(start) > end + SLACK_NS;
}

struct jit_process resolve_process(const struct profile *profile, pid_t pid)
{
	const struct profile_process *found = NULL;
	struct jit_process process = { .pid = pid };

	if (!pid)
		return process;
	for (size_t i = 0; i < profile->processes.n; i++) {
		const struct profile_process *row = &profile->processes.at[i];
		if (row->pid != pid)
			continue;
		if (found && (found->exit_ns || found->user != row->user))
			return (struct jit_process){ 0 }; /* one of them would name the code of the other */
		found = row;
	}
	/* USER_NOBODY stands for several users, too. */
	if (found && found->user != USER_NOBODY + 1)
		process.user = found->user;
	process.start = found && found->exit_ns ? 0 : process_start(pid);
	if (process.start && resolve_is_later(profile, process.start))
		process.start = 0;
	return process;
}
