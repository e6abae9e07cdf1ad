/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_values: what events have counted, for how long, and how many records could not be written.
 */
#include <unistd.h>

#include "collector/live/perf_events.h"

struct event_value {
	uint64_t count, enabled, running, lost;
};

/* As in read_format: for a group the first event, which is the only one that samples. */
static struct event_value events_read_value(const struct perf_events *events, int fd)
{
	uint64_t format = events->attrs.at[0].read_format, words[3 + 3 * (SAMPLE_VALUES_MAX + 1)];
	bool is_group = format & PERF_FORMAT_GROUP, has_lost = format & PERF_COUNTS_LOST;
	ssize_t len = read(fd, words, sizeof(words));
	struct event_value value = { 0 };

	if (len < (ssize_t)(8 * (3 + is_group + has_lost)))
		return value;
	if (is_group) /* the number of events, two times, then value, id and losses of each */
		return (struct event_value){ words[3], words[1], words[2], has_lost ? words[5] : 0 };
	return (struct event_value){ words[0], words[1], words[2], has_lost ? words[3] : 0 };
}

/* The sum over the threads of an event, and those that inherited it. */
static struct event_value events_sum(const struct perf_events *events, size_t attr)
{
	struct event_value sum = { 0 };

	for (size_t i = 0; i < events->fds.n; i++) {
		if (events->fds.at[i].attr != attr)
			continue;
		struct event_value value = events_read_value(events, events->fds.at[i].fd);
		sum.count += value.count;
		sum.enabled += value.enabled;
		sum.running += value.running;
		sum.lost += value.lost;
	}
	return sum;
}

uint64_t perf_events_lost(const struct perf_events *events)
{
	uint64_t lost = 0;

	if (!perf_events_count_lost(events))
		return 0;
	for (size_t i = 0; i < events->attrs.n; i++)
		if (!perf_event_is_member(&events->attrs.at[i]))
			lost += events_sum(events, i).lost;
	for (size_t i = 0; i < events->probe.outputs.n; i++)
		lost += events_read_value(events, events->probe.outputs.at[i].fd).lost;
	return lost;
}

bool perf_events_count_lost(const struct perf_events *events)
{
	return events->attrs.at[0].read_format & PERF_COUNTS_LOST;
}

uint64_t perf_events_counted(const struct perf_events *events)
{
	struct event_value sum = events_sum(events, 0);
	bool is_clock = perf_events_mean_period(&events->attrs.at[0]) && !events->is_machine;

	/* A clock does not count while it is throttled, but it runs. */
	return events->counted_gone + (is_clock ? sum.running : sum.count);
}

void perf_events_leave(struct perf_events *events, int fd)
{
	events->counted_gone += events_read_value(events, fd).count;
}

uint64_t perf_events_ran(const struct perf_events *events, int fd)
{
	return fd >= 0 ? events_read_value(events, fd).running : 0;
}

/* An event bound to a CPU is not counted while its thread is on another one, but is enabled all the time: so
 * the sum over all CPUs is compared with what one CPU has. */
double perf_events_running(const struct perf_events *events, size_t attr)
{
	struct event_value value = events_sum(events, attr);
	double enabled = (double)value.enabled / (double)(events->cpus.n ? events->cpus.n : 1);

	return enabled > 0 && (double)value.running < enabled ? (double)value.running / enabled : 1;
}
