/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/live/priority.h"

#include <sched.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOWEST_NICE (-10)  /* nine times the weight of others */
#define SLICE_NS 100000    /* the shortest allowed: a short slice is scheduled sooner (Linux 6.12) */
#define FLAG_NOT_FORKED 1u /* SCHED_FLAG_RESET_ON_FORK */

/* As in sched_setattr(2); C libraries before 2.41 do not have it. */
struct sched_request {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

static bool priority_ask(const struct sched_request *request)
{
	return syscall(SYS_sched_setattr, 0, request, 0) == 0;
}

static bool priority_ask_for_share(int nice, uint64_t slice_ns)
{
	return priority_ask(&(struct sched_request){ .size = sizeof(struct sched_request),
						     .policy = SCHED_OTHER,
						     .flags = FLAG_NOT_FORKED,
						     .nice = nice,
						     .runtime = slice_ns });
}

/* What an unprivileged user may have. */
static int priority_lowest_allowed(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NICE, &limit) < 0 || limit.rlim_cur < 20)
		return 0;
	return limit.rlim_cur > 20 - LOWEST_NICE ? LOWEST_NICE : 20 - (int)limit.rlim_cur;
}

void priority_raise(struct priority *ret)
{
	int before = getpriority(PRIO_PROCESS, 0), allowed = priority_lowest_allowed();

	*ret = (struct priority){ .before = before, .nice = before };
	ret->is_ours = (sched_getscheduler(0) & ~SCHED_RESET_ON_FORK) == SCHED_OTHER && before <= 0;
	if (!ret->is_ours || before <= LOWEST_NICE)
		return;
	if (priority_ask_for_share(LOWEST_NICE, 0))
		ret->nice = LOWEST_NICE;
	else if (allowed < before && priority_ask_for_share(allowed, 0))
		ret->nice = allowed;
}

void priority_hurry(const struct priority *priority)
{
	if (priority->is_ours)
		priority_first();
}

void priority_calm(const struct priority *priority)
{
	if (priority->is_ours)
		priority_ask_for_share(priority->nice, 0);
}

void priority_restore(struct priority *priority)
{
	if (priority->is_ours)
		priority_ask_for_share(priority->before, 0);
	priority->is_ours = false;
}

void priority_first(void)
{
	const struct sched_request now = {
		.size = sizeof(now), .policy = SCHED_RR, .flags = FLAG_NOT_FORKED, .priority = 1
	};

	if (priority_ask(&now) || priority_ask_for_share(LOWEST_NICE, SLICE_NS))
		return;
	priority_ask_for_share(getpriority(PRIO_PROCESS, 0), SLICE_NS);
}
