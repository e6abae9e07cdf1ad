/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_seen: what the BPF program saw of a thread when it was sampled. Asking later takes several system
 * calls, and the thread may have ended.
 */
#include "collector/live/perf_source_private.h"
#include "collector/process/target.h"

bool perf_source_user(struct source *source, const struct event *event, struct user *ret)
{
	struct deep_seen seen;

	if (!perf_deep_seen(&perf_live_of(source)->events.deep, event->pid, event->tid, &seen))
		return target_user(event->pid, ret);
	*ret = (struct user){ .uid = (uint32_t)seen.user, .gid = (uint32_t)(seen.user >> 32) };
	return true;
}

uint64_t perf_live_clip(struct perf_live *live, const struct event *event, uint64_t sp, uint64_t len)
{
	struct deep_seen seen;

	if (!perf_deep_seen(&live->events.deep, event->pid, event->tid, &seen) || sp < seen.start ||
	    sp >= seen.end)
		return stack_tops_clip(live->tops, event->tid, event->time_ns, sp, len);
	return seen.end - sp < len ? seen.end - sp : len;
}
