/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/live/watched.h"

void watched_done(struct watched *watched)
{
	map_done(&watched->pids);
}

void watched_add(struct watched *watched, pid_t pid)
{
	map_put(&watched->pids, (uint32_t)pid, 1);
}

static bool watched_knows(const struct watched *watched, pid_t pid)
{
	return map_find(&watched->pids, (uint32_t)pid) != MAP_NONE;
}

/* Pids are reused: a new process is watched if its parent is. */
static bool watched_fork(struct watched *watched, const struct event *event)
{
	bool is_child = watched->inherits && watched_knows(watched, event->fork.parent_pid);

	if (is_child)
		watched_add(watched, event->pid);
	else
		map_remove(&watched->pids, (uint32_t)event->pid);
	return is_child;
}

bool watched_has(struct watched *watched, const struct event *event)
{
	switch (event->kind) {
	case EVENT_FORK:
		if (event->pid != event->fork.parent_pid)
			return watched_fork(watched, event);
		return watched_knows(watched, event->pid);
	case EVENT_MAPPING:
	case EVENT_EXEC:
	case EVENT_COMM:
	case EVENT_EXIT:
		return watched_knows(watched, event->pid);
	case EVENT_SAMPLE:
	case EVENT_SWITCH:
	case EVENT_LOST:
	case EVENT_THROTTLE:
	case EVENT_UNTHROTTLE:
	case EVENT_CODE:
		return true;
	}
	return true;
}
