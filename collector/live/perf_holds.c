/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/live/perf_holds.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HOLDS_MAX 4096   /* threads that have created others; when there are more, the rest get no hold */
#define FDS_RESERVED 256 /* for everything else */

void perf_holds_init(struct perf_holds *holds, const struct perf_event_attr *event)
{
	if (!event->inherit)
		return;
	/* Older kernels keep the events of each kind apart: the hold must be of the same kind. */
	holds->attr = (struct perf_event_attr){ .size = sizeof(holds->attr),
						.type = event->type,
						.config = event->config,
						.config1 = event->config1,
						.config2 = event->config2,
						.disabled = 1,
						.exclude_kernel = event->exclude_kernel,
						.exclude_hv = 1 };
}

void perf_holds_done(struct perf_holds *holds)
{
	for (size_t i = 0; i < holds->all.n; i++)
		if (holds->all.at[i].fd >= 0)
			close(holds->all.at[i].fd);
	map_done(&holds->by_tid);
	vec_done(&holds->all);
}

static bool holds_has_room(int fd)
{
	struct rlimit limit = { .rlim_cur = RLIM_INFINITY };

	getrlimit(RLIMIT_NOFILE, &limit);
	return (rlim_t)fd + FDS_RESERVED <= limit.rlim_cur;
}

static void hold_open(const struct perf_holds *holds, struct perf_hold *hold)
{
	hold->is_tried = true;
	hold->fd = (int)syscall(SYS_perf_event_open, &holds->attr, hold->tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (hold->fd >= 0 && !holds_has_room(hold->fd)) {
		close(hold->fd);
		hold->fd = -1;
	}
}

/* NULL if there are too many. */
static struct perf_hold *holds_get(struct perf_holds *holds, pid_t tid, bool *ret_is_new)
{
	uint32_t index = map_find(&holds->by_tid, (uint32_t)tid);

	*ret_is_new = index == MAP_NONE;
	if (index != MAP_NONE)
		return &holds->all.at[index];
	if (holds->all.n >= HOLDS_MAX)
		return NULL;
	map_put(&holds->by_tid, (uint32_t)tid, (uint32_t)holds->all.n);
	vec_push(&holds->all, ((struct perf_hold){ .tid = tid, .fd = -1 }));
	return &holds->all.at[holds->all.n - 1];
}

void perf_holds_add(struct perf_holds *holds, pid_t tid)
{
	bool is_new;
	struct perf_hold *hold = holds->attr.size ? holds_get(holds, tid, &is_new) : NULL;

	if (hold && !hold->is_tried)
		hold_open(holds, hold);
}

void perf_holds_created(struct perf_holds *holds, pid_t tid)
{
	bool is_new;
	struct perf_hold *hold = holds->attr.size ? holds_get(holds, tid, &is_new) : NULL;

	if (hold && !is_new && !hold->is_tried)
		hold_open(holds, hold);
}

void perf_holds_remove(struct perf_holds *holds, pid_t tid)
{
	uint32_t index = map_find(&holds->by_tid, (uint32_t)tid);

	if (index == MAP_NONE)
		return;
	if (holds->all.at[index].fd >= 0)
		close(holds->all.at[index].fd);
	map_remove(&holds->by_tid, (uint32_t)tid);
	struct perf_hold last = holds->all.at[--holds->all.n];
	if (last.tid == tid)
		return;
	holds->all.at[index] = last; /* the last one moves into its place */
	map_put(&holds->by_tid, (uint32_t)last.tid, index);
}
