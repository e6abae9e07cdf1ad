/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/live/watched.h"
#include "tests/test.h"

static bool watched_sees(struct watched *watched, enum event_kind kind, pid_t pid, pid_t parent)
{
	struct event event = { .kind = kind, .pid = pid, .tid = pid };

	if (kind == EVENT_FORK)
		event.fork.parent_pid = parent;
	return watched_has(watched, &event);
}

TEST(events_of_other_processes_are_ignored)
{
	struct watched watched = { .is_used = true, .inherits = true };

	watched_add(&watched, 10);
	CHECK(watched_sees(&watched, EVENT_MAPPING, 10, 0));
	CHECK(!watched_sees(&watched, EVENT_MAPPING, 11, 0));
	CHECK(!watched_sees(&watched, EVENT_EXIT, 11, 0));
	CHECK(watched_sees(&watched, EVENT_LOST, 0, 0));
	CHECK(watched_sees(&watched, EVENT_FORK, 10, 10)); /* a thread */
	watched_done(&watched);
}

TEST(children_are_followed_and_pids_may_be_reused)
{
	struct watched watched = { .is_used = true, .inherits = true };

	watched_add(&watched, 10);
	CHECK(watched_sees(&watched, EVENT_FORK, 20, 10));
	CHECK(watched_sees(&watched, EVENT_COMM, 20, 0));
	CHECK(watched_sees(&watched, EVENT_FORK, 30, 20));
	CHECK(watched_sees(&watched, EVENT_EXIT, 20, 0));
	CHECK(!watched_sees(&watched, EVENT_FORK, 20, 7)); /* the pid was reused elsewhere */
	CHECK(!watched_sees(&watched, EVENT_EXEC, 20, 0));
	CHECK(watched_sees(&watched, EVENT_EXEC, 30, 0));
	watched.inherits = false;
	CHECK(!watched_sees(&watched, EVENT_FORK, 40, 10));
	CHECK(!watched_sees(&watched, EVENT_EXEC, 40, 0));
	watched_done(&watched);
}
