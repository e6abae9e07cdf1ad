/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_cpus: the CPUs of the machine, which go offline and online.
 *
 * When a CPU is taken offline, the kernel drops the events on it for good. Its anchor is an event of our own
 * thread, which stays: so the ring stays too, and gets new events when the CPU is back.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "collector/live/perf_events.h"
#include "collector/process/target.h"

#define ONLINE "/sys/devices/system/cpu/online"
#define CPUS_MAX 65536 /* a list with more is invalid */

void cpu_list_read(const char *path, struct cpu_list *ret)
{
	char *text = target_read_file(path ? path : ONLINE, NULL);

	vec_clear(&ret->at);
	for (char *at = text; at && *at >= '0' && *at <= '9';) {
		long first = strtol(at, &at, 10), last = first;
		if (*at == '-')
			last = strtol(at + 1, &at, 10);
		for (; first <= last && ret->at.n < CPUS_MAX; first++)
			vec_push(&ret->at, (int)first);
		at += *at == ',';
	}
	free(text);
	if (!ret->at.n)
		for (long cpu = 0; cpu < sysconf(_SC_NPROCESSORS_ONLN); cpu++)
			vec_push(&ret->at, (int)cpu);
}

bool perf_events_may_watch_cpus(void)
{
	struct perf_event_attr attr = perf_event_attr_of(
		&(struct event_spec){ .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK }, true);
	CLEANUP(close_fd)
	int fd = (int)syscall(SYS_perf_event_open, &attr, PERF_EVERYTHING, 0, -1, PERF_FLAG_FD_CLOEXEC);

	return fd >= 0;
}

void perf_events_list_cpus(struct perf_events *events)
{
	struct cpu_list list = { 0 };

	cpu_list_read(events->online, &list);
	for (size_t i = 0; i < list.at.n; i++)
		vec_push(&events->cpus, list.at.at[i]);
	vec_done(&list.at);
}

static bool cpus_have(const struct cpu_list *list, int cpu)
{
	for (size_t i = 0; i < list->at.n; i++)
		if (list->at.at[i] == cpu)
			return true;
	return false;
}

static size_t cpus_index(const struct perf_events *events, int cpu)
{
	size_t i = 0;

	while (i < events->cpus.n && events->cpus.at[i] != cpu)
		i++;
	return i;
}

/* Closes what the kernel has dropped. */
static void cpus_close_events(struct perf_events *events, size_t cpu)
{
	size_t n = 0;

	for (size_t i = 0; i < events->fds.n; i++) {
		const struct perf_fd it = events->fds.at[i];
		if (it.cpu != cpu) {
			events->fds.at[n++] = it;
			continue;
		}
		if (it.attr == 0)
			perf_events_leave(events, it.fd);
		periods_close(&events->periods, it.id);
		close(it.fd);
	}
	events->fds.n = n;
}

/* Adds a CPU that was not there before. False: it has gone again, or there is no memory for a ring. */
static bool cpus_add(struct perf_events *events, int cpu)
{
	vec_push(&events->cpus, cpu);
	if (perf_events_add_ring(events, events->cpus.n - 1) < 0) {
		events->cpus.n--;
		return false;
	}
	vec_push(&events->is_gone, false);
	return true;
}

static bool cpus_start(struct perf_events *events, size_t cpu)
{
	size_t first = events->fds.n;

	perf_events_open_deep(events, cpu);
	if (perf_events_add_on(events, cpu, PERF_EVERYTHING) < 0) {
		cpus_close_events(events, cpu);
		events->is_gone.at[cpu] = true; /* perhaps next time */
		return false;
	}
	events->is_gone.at[cpu] = false;
	perf_events_enable(events, first);
	return true;
}

/* True if the list is the same as the last time; then all its CPUs have events. */
static bool cpus_are_as_before(struct perf_events *events)
{
	char text[sizeof(events->online_text)];

	if (events->online)
		return false;
	if (!events->online_fd)
		events->online_fd = open(ONLINE, O_RDONLY | O_CLOEXEC);
	ssize_t n = pread(events->online_fd, text, sizeof(text), 0);
	if (n <= 0 || n == sizeof(text)) /* too long to be compared */
		return false;
	text[n] = 0;
	if (strcmp(text, events->online_text) == 0)
		return true;
	memcpy(events->online_text, text, sizeof(text));
	return false;
}

size_t perf_events_follow_cpus(struct perf_events *events)
{
	struct cpu_list list = { 0 };
	size_t n_started = 0;
	bool has_failed = false;

	if (cpus_are_as_before(events))
		return 0;
	cpu_list_read(events->online, &list);
	for (size_t i = 0; i < events->cpus.n; i++)
		if (!cpus_have(&list, events->cpus.at[i]) && !events->is_gone.at[i]) {
			events->is_gone.at[i] = true;
			cpus_close_events(events, i);
		}
	for (size_t i = 0; i < list.at.n; i++) {
		size_t cpu = cpus_index(events, list.at.at[i]);
		bool is_new = cpu == events->cpus.n;
		if (!is_new && !events->is_gone.at[cpu])
			continue;
		bool is_started = (!is_new || cpus_add(events, list.at.at[i])) && cpus_start(events, cpu);
		n_started += is_started;
		has_failed |= !is_started;
	}
	if (has_failed) /* to be tried again */
		events->online_text[0] = 0;
	vec_done(&list.at);
	return n_started;
}
