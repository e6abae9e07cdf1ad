/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_turn: turns events on and off.
 */
#include <sys/ioctl.h>

#include "collector/live/perf_events.h"

static bool events_is_sampling(const struct perf_events *events, const struct perf_fd *fd)
{
	return fd->attr < events->n_sampling;
}

void perf_events_enable(struct perf_events *events, size_t first)
{
	if (first == 0 && !events->starts_later)
		perf_events_begin_rest(events);
	for (size_t i = first; i < events->fds.n; i++)
		if (!events->starts_later || !events_is_sampling(events, &events->fds.at[i]))
			ioctl(events->fds.at[i].fd, PERF_EVENT_IOC_ENABLE, 0);
}

void perf_events_enable_samples(struct perf_events *events)
{
	perf_events_begin_rest(events);
	perf_waits_turn(&events->waits, true);
	for (size_t i = 0; i < events->fds.n; i++)
		if (events_is_sampling(events, &events->fds.at[i]))
			ioctl(events->fds.at[i].fd, PERF_EVENT_IOC_ENABLE, 0);
}

void perf_events_disable(struct perf_events *events)
{
	perf_waits_turn(&events->waits, false);
	for (size_t i = 0; i < events->fds.n; i++)
		ioctl(events->fds.at[i].fd, PERF_EVENT_IOC_DISABLE, 0);
	perf_events_end_rest(events);
}
