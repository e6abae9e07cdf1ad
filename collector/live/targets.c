/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/live/targets.h"

#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

void targets_done(struct targets *targets)
{
	for (size_t i = 0; i < targets->at.n; i++)
		if (targets->at.at[i].pidfd >= 0)
			close(targets->at.at[i].pidfd);
	vec_done(&targets->at);
	vec_done(&targets->polls);
}

void targets_add(struct targets *targets, pid_t pid, pid_t tid)
{
	int pidfd = tid && tid != pid ? -1 : (int)syscall(SYS_pidfd_open, pid, 0);

	vec_push(&targets->at, ((struct target){ .pid = pid, .tid = tid, .pidfd = pidfd }));
}

static bool target_is_gone(const struct target *target)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d", target->pid,
		 target->tid ? target->tid : target->pid);
	return access(path, F_OK) < 0;
}

bool targets_are_gone(struct targets *targets)
{
	for (size_t i = 0; i < targets->at.n; i++) {
		struct target *target = &targets->at.at[i];
		if (!target->is_gone && target->pidfd < 0)
			target->is_gone = target_is_gone(target);
		if (!target->is_gone)
			return false;
	}
	return true;
}

struct pollfd *targets_poll(struct targets *targets, int more, size_t *ret_n)
{
	vec_clear(&targets->polls);
	for (size_t i = 0; i < targets->at.n; i++) {
		const struct target *target = &targets->at.at[i];
		vec_push(&targets->polls,
			 ((struct pollfd){ .fd = target->is_gone ? -1 : target->pidfd, .events = POLLIN }));
	}
	vec_push(&targets->polls, ((struct pollfd){ .fd = more, .events = POLLIN }));
	*ret_n = targets->polls.n;
	return targets->polls.at;
}

bool targets_polled(struct targets *targets)
{
	for (size_t i = 0; i < targets->at.n; i++)
		targets->at.at[i].is_gone |= targets->polls.at[i].revents != 0;
	return targets->polls.at[targets->at.n].revents != 0;
}

void targets_wait_first(const struct targets *targets, int timeout_ms)
{
	struct pollfd ended = { .fd = targets->at.at[0].pidfd, .events = POLLIN };

	poll(&ended, 1, timeout_ms);
}
