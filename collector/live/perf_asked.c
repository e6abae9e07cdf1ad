/* SPDX-License-Identifier: Apache-2.0 */
/* The remaining queries and commands of a live source. */
#include "collector/live/perf_source.h"

#include <signal.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "collector/live/perf_source_private.h"

pid_t perf_source_child(const struct source *source)
{
	return ((const struct perf_live *)source)->launch.pid;
}

bool perf_source_wait(struct source *source, int timeout_ms, int *ret_status)
{
	struct perf_live *live = perf_live_of(source);

	if (!live->launch.is_over)
		targets_wait_first(&live->targets, timeout_ms);
	if (!launch_poll(&live->launch))
		return false;
	*ret_status = live->launch.status;
	return true;
}

int perf_source_trace(struct source *source, pid_t pid, const char *path,
		      const struct probe_function *functions, size_t n, size_t *ret_refused)
{
	return probe_links_add(&perf_live_of(source)->events.probe.links, pid, path, functions, n,
			       ret_refused);
}

struct perf_probe *perf_source_probe(struct source *source)
{
	return &perf_live_of(source)->events.probe;
}

struct trace_count perf_source_trace_count(const struct source *source, uint32_t function)
{
	return bpf_trace_count(((const struct perf_live *)source)->events.probe.program, function);
}

size_t perf_source_blocks(const struct source *source, uint64_t **ret)
{
	return bpf_trace_blocks(((const struct perf_live *)source)->events.probe.program, ret);
}

void perf_source_stop(struct source *source)
{
	struct perf_live *live = perf_live_of(source);

	perf_events_disable(&live->events);
	probe_links_clear(&live->events.probe.links);
	live->pace.is_stopped = true;
	live->pace.stopped_ns = clock_now_ns();
}

uint64_t perf_source_counted(const struct source *source)
{
	return perf_events_counted(&((const struct perf_live *)source)->events);
}

/* What the kernel counts in software is always counted. */
static bool live_has_counter(const struct perf_events *events, size_t attr)
{
	uint32_t type = events->attrs.at[attr].type;

	return type != PERF_TYPE_SOFTWARE && type != PERF_TYPE_TRACEPOINT && type != PERF_TYPE_BREAKPOINT;
}

/* The members of a group are counted together with its first event. */
double perf_source_running(const struct source *source, uint32_t event)
{
	const struct perf_events *events = &((const struct perf_live *)source)->events;
	size_t first = event;

	if (event >= events->n_sampling)
		return 1;
	while (first && perf_event_is_member(&events->attrs.at[first]))
		first--;
	bool has_counter = live_has_counter(events, first);
	for (size_t i = first + 1; i < events->n_sampling && perf_event_is_member(&events->attrs.at[i]); i++)
		has_counter |= live_has_counter(events, i);
	return has_counter ? perf_events_running(events, first) : 1;
}

void perf_source_look_again(struct source *source, pid_t pid)
{
	known_look_again(perf_live_of(source)->known, pid);
}

struct perf_source_stats perf_source_stats(struct source *source)
{
	struct perf_live *live = perf_live_of(source);
	struct drain_stats stats = drain_stats(live->drain);

	return (struct perf_source_stats){ .n_rings = stats.n_rings,
					   .ring_bytes = stats.ring_bytes,
					   .n_threads =
						   live->events.fds.n / perf_events_per_thread(&live->events),
					   .wakeups = live->pace.wakeups,
					   .read_bytes = stats.read_bytes,
					   .late = stats.late,
					   .damaged = stats.damaged + live->n_damaged,
					   .idle = live->idle,
					   .foreign = live->foreign,
					   .resting = perf_events_resting(&live->events),
					   .n_silent = envoy_n_refused(live->envoy) };
}
