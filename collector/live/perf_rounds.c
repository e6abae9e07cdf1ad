/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_rounds: the periods of clocks, and changing them while they run.
 */
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "collector/live/perf_events.h"
#include "collector/process/target.h"

/* Never 0. It need not be secret, only different each time. */
static uint64_t rounds_seed(void)
{
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
		seed = clock_now_ns() ^ (uint64_t)getpid() << 32;
	return seed | 1;
}

void perf_events_start_periods(struct perf_events *events, const struct perf_want *want)
{
	periods_init(&events->periods, want->has_fixed_periods ? 0 : rounds_seed(), clock_now_ns());
	events->periods.are_of_cpus = want->is_machine;
	if (want->has_few_periods)
		periods_make_few(&events->periods);
}

uint64_t perf_events_max_frequency(void)
{
	char *text = target_read_file("/proc/sys/kernel/perf_event_max_sample_rate", NULL);
	uint64_t rate = text ? strtoull(text, NULL, 10) : 0;

	free(text);
	return rate;
}

/* The kernel always runs clocks by period. */
uint64_t perf_events_mean_period(const struct perf_event_attr *attr)
{
	bool is_clock = attr->type == PERF_TYPE_SOFTWARE &&
			(attr->config == PERF_COUNT_SW_CPU_CLOCK || attr->config == PERF_COUNT_SW_TASK_CLOCK);

	if (!is_clock)
		return 0;
	return !attr->freq ? attr->sample_period : attr->sample_freq ? 1000000000u / attr->sample_freq : 0;
}

static bool rounds_set_period(void *context, int fd, uint64_t period, uint64_t *ret_ns)
{
	(void)context;
	if (ioctl(fd, PERF_EVENT_IOC_PERIOD, &period) < 0)
		return false;
	*ret_ns = clock_now_ns();
	return true;
}

static uint64_t rounds_read(void *context, int fd)
{
	return perf_events_ran(context, fd);
}

uint64_t perf_events_round_due(const struct perf_events *events)
{
	return periods_due(&events->periods);
}

void perf_events_begin_round(struct perf_events *events, uint64_t now_ns)
{
	periods_begin_round(&events->periods, now_ns,
			    &(struct periods_ops){ rounds_set_period, rounds_read, events });
}

void perf_events_throttle(struct perf_events *events, const struct throttle_change *change)
{
	periods_throttle(&events->periods, change, clock_now_ns(),
			 &(struct periods_ops){ rounds_set_period, rounds_read, events });
}
