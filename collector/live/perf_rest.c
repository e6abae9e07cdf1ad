/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_rest: how long CPUs were idle. The clock of an idle CPU should sample its idle task, but on some
 * virtual machines its timer does not fire until the CPU has something to do, and then only once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "collector/live/perf_events.h"
#include "collector/process/target.h"

/* Of all CPUs since the machine was started, at least 1; 0 = unknown. A CPU that waits for a disk is idle. */
static uint64_t rest_read(void)
{
	CLEANUP(freep) char *text = target_read_file("/proc/stat", NULL);
	unsigned long long idle, disk;
	long ticks = sysconf(_SC_CLK_TCK);

	if (!text || ticks <= 0 || sscanf(text, "cpu %*u %*u %*u %llu %llu", &idle, &disk) != 2)
		return 0;
	return (idle + disk) * (CLOCK_NS_PER_S / (uint64_t)ticks) + 1;
}

static bool rest_is_counted(const struct perf_events *events)
{
	return events->is_machine && events->cgroup <= 0 && perf_events_mean_period(&events->attrs.at[0]);
}

void perf_events_begin_rest(struct perf_events *events)
{
	if (rest_is_counted(events))
		events->rest_from_ns = rest_read();
}

uint64_t perf_events_resting(const struct perf_events *events)
{
	uint64_t now = events->rest_from_ns ? rest_read() : 0;

	return now > events->rest_from_ns ? now - events->rest_from_ns : events->rest_ns;
}

void perf_events_end_rest(struct perf_events *events)
{
	events->rest_ns = perf_events_resting(events);
	events->rest_from_ns = 0;
}
