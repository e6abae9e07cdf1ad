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

static void hold_close(const struct perf_hold *hold)
{
	if (hold->processes >= 0)
		close(hold->processes);
	if (hold->all >= 0)
		close(hold->all);
}

void perf_holds_done(struct perf_holds *holds)
{
	for (size_t i = 0; i < holds->all.n; i++)
		hold_close(&holds->all.at[i]);
	map_done(&holds->by_tid);
	vec_done(&holds->all);
}

static bool holds_has_room(int fd)
{
	struct rlimit limit = { .rlim_cur = RLIM_INFINITY };

	getrlimit(RLIMIT_NOFILE, &limit);
	return (rlim_t)fd + FDS_RESERVED <= limit.rlim_cur;
}

/* -1 if it is refused. */
static int holds_open(const struct perf_holds *holds, pid_t tid, bool is_for_threads)
{
	struct perf_event_attr attr = holds->attr;

	attr.inherit = attr.inherit_thread = is_for_threads;
	int fd = (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0 || holds_has_room(fd))
		return fd;
	close(fd);
	return -1;
}

/* NULL if there are too many. */
static struct perf_hold *holds_get(struct perf_holds *holds, pid_t tid, bool *ret_is_new)
{
	uint32_t index = map_find(&holds->by_tid, (uint32_t)tid);

	*ret_is_new = index == MAP_NONE;
	if (index != MAP_NONE)
		return &holds->all.at[index];
	if (!holds->attr.size || holds->all.n >= HOLDS_MAX)
		return NULL;
	map_put(&holds->by_tid, (uint32_t)tid, (uint32_t)holds->all.n);
	vec_push(&holds->all, ((struct perf_hold){ .tid = tid, .processes = -1, .all = -1 }));
	return &holds->all.at[holds->all.n - 1];
}

void perf_holds_add(struct perf_holds *holds, pid_t tid)
{
	bool is_new;
	struct perf_hold *hold = holds_get(holds, tid, &is_new);

	if (hold && is_new)
		hold->processes = holds_open(holds, tid, true);
}

void perf_holds_created(struct perf_holds *holds, pid_t tid)
{
	bool is_new;
	struct perf_hold *hold = holds_get(holds, tid, &is_new);

	if (!hold || ++hold->n_created != 2)
		return;
	hold->all = holds_open(holds, tid, false);
}

void perf_holds_remove(struct perf_holds *holds, pid_t tid)
{
	uint32_t index = map_find(&holds->by_tid, (uint32_t)tid);

	if (index == MAP_NONE)
		return;
	hold_close(&holds->all.at[index]);
	map_remove(&holds->by_tid, (uint32_t)tid);
	struct perf_hold last = holds->all.at[--holds->all.n];
	if (last.tid == tid)
		return;
	holds->all.at[index] = last; /* the last one moves into its place */
	map_put(&holds->by_tid, (uint32_t)last.tid, index);
}
