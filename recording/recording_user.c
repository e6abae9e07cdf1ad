/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recording_user: whose processes are recorded. Reports show only source that these users can read.
 */
#include <unistd.h>

#include "collector/process/target.h"
#include "recording/recording_private.h"

static void user_read(struct recording *r, const struct event *event)
{
	struct builder *builder = workers_builder(r->workers);
	bool is_sample = event->kind == EVENT_SAMPLE;
	struct user user;

	if (is_sample ? perf_source_user(r->source, event, &user) : target_user(event->pid, &user))
		builder_user(builder, event->pid, &user);
	else if (is_sample && geteuid() == 0) /* others sample only their own processes */
		builder_user_is_unknown(builder, event->pid);
}

/* Another program, or code from another file: who chose it may be another user than before. */
static bool user_may_differ(const struct event *event)
{
	return event->kind == EVENT_EXEC || (event->kind == EVENT_COMM && event->pid == event->tid) ||
	       (event->kind == EVENT_MAPPING && event->mapping.is_executable && event->time_ns);
}

/*
 * A process has its parent's user until its next sample: most processes end before they are sampled, and
 * asking /proc about each is a fifth of the cost of recording a whole machine.
 */
void recording_ask_user(struct recording *r, const struct event *event)
{
	uint64_t pid = (uint32_t)event->pid;

	if (event->kind == EVENT_SAMPLE && map_find(&r->unasked, pid) != UINT32_MAX) {
		map_remove(&r->unasked, pid);
		user_read(r, event);
	} else if (event->kind == EVENT_EXIT && event->pid == event->tid) {
		map_remove(&r->unasked, pid);
	} else if (user_may_differ(event)) {
		map_put(&r->unasked, pid, 1);
		if (!r->options.target.is_machine && event->kind != EVENT_MAPPING)
			user_read(r, event);
	}
}
