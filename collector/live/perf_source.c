/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_source: rings to events.
 */
#include "collector/live/perf_live.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "collector/process/target.h"

/*
 * How often rings are read, if they do not fill faster. Mappings, new processes and code in no file are
 * looked into soon, before they are gone; other samples can wait, and after a sleep the first hundred take
 * twice as long as the others.
 */
#define BUSY_NS 50000000ull
#define CALM_NS 500000000ull
#define CLOCK_EVERY                                                                                        \
	4 /* events: a look at the clock takes as long as a frame, but a walk through unknown code a tenth \
	     of a second */

static struct perf_live *live_of(struct source *source)
{
	return (struct perf_live *)source;
}

uint64_t perf_live_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void perf_live_note(struct perf_live *live, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	vec_push(&live->source.info.notes, alloc_text(text));
}

/* ---- records to events ---------------------------------------------------------------------- */

/* A mapping or exec that is part of what /proc told when we attached. */
static bool is_known(const struct perf_live *live, const struct event *event)
{
	uint32_t index = map_find(&live->maps_read, (uint32_t)event->pid);

	return index != MAP_NONE && event->time_ns < live->maps_ns.at[index];
}

static void finish_mapping(struct perf_live *live, struct event *event)
{
	const struct perf_record *record = &live->record;
	struct mapping_file file = { .inode = record->mmap.inode,
				     .major = record->mmap.major,
				     .minor = record->mmap.minor,
				     .build_id = record->mmap.build_id,
				     .tid = event->tid };

	mapper_resolve(live->mapper, event->pid, &file, &event->mapping);
}

static void finish_sample(struct perf_live *live, struct event *event)
{
	struct sample *sample = &event->sample;
	const struct isa *isa = live->source.info.isa;
	uint32_t attr = map_find(&live->events.by_id, live->record.id);

	sample->event = attr == MAP_NONE ? 0 : attr;
	outer_stacks_join(live->outer, event->tid, isa, sample);
	if (sample->n_outer || !sample->stack_was_full || !regs_known(&sample->regs, isa->sp))
		return;

	uint64_t len = stack_tops_clip(live->tops, event->tid, event->time_ns, sample->regs.value[isa->sp],
				       sample->stack.len);
	if (len < sample->stack.len) {
		sample->stack.len = len;
		sample->stack_was_full = false;
		sample->stack_was_clipped = true;
	}
}

/*
 * A ring tells of all records it had no room for. How many of them were samples only the events know; before
 * Linux 6.0, nobody does.
 */
static bool count_lost(struct perf_live *live, struct event *event)
{
	bool is_counted = live->events.attrs.at[0].read_format != 0;

	if (live->events.outer.program >= 0 && is_counted) {
		uint64_t total = perf_events_lost(&live->events);
		event->lost = total > live->lost ? total - live->lost : 0;
	}
	live->lost += event->lost;
	return event->lost > 0;
}

static void forget_needs(struct perf_live *live, pid_t tid)
{
	uint64_t thread;

	if (outer_needs_forget(live->needs, tid, &thread))
		perf_outer_limit(&live->events.outer, thread, NULL);
}

/* False: a record that says nothing, or nothing new. */
static bool convert(struct perf_live *live, struct bytes bytes, struct event *ret)
{
	const struct perf_layout *layout = perf_events_layout(&live->events, bytes);

	if (perf_record_parse(bytes, layout, &live->scratch, &live->record) < 0) {
		live->stats.damaged++;
		return false;
	}
	if (layout == &live->events.outer_layout) {
		outer_stacks_take(live->outer, live->record.tid, live->record.sample.raw);
		return false;
	}
	if (!perf_record_event(&live->record, ret))
		return false;
	switch (ret->kind) {
	case EVENT_SAMPLE:
		finish_sample(live, ret);
		ret->sample.next_pid = live->next_pid;
		ret->sample.next_pc = live->next_pc;
		return true;
	case EVENT_MAPPING:
		if (is_known(live, ret))
			return false;
		finish_mapping(live, ret);
		return true;
	case EVENT_EXEC:
		stack_tops_forget(live->tops, ret->tid);
		return !is_known(live, ret);
	case EVENT_FORK:
	case EVENT_EXIT:
		stack_tops_forget(live->tops, ret->tid);
		forget_needs(live, ret->tid);
		return true;
	case EVENT_LOST:
		live->n_losses++;
		return count_lost(live, ret);
	case EVENT_COMM:
	case EVENT_THROTTLE:
	case EVENT_UNTHROTTLE:
	case EVENT_SWITCH:
	case EVENT_CODE:
		return true;
	}
	return false;
}

static bool next_record(struct perf_live *live, struct bytes *ret)
{
	struct bytes next;
	uint64_t time;

	perf_live_lock(live);
	bool is_due = order_next(live->order, &time, ret);
	live->next_pc = 0;
	if (is_due && order_peek(live->order, &next))
		perf_record_expect(next, &live->events.layout, &live->next_pid, &live->next_pc);
	perf_live_unlock(live);
	return is_due;
}

static bool next_due(struct perf_live *live, struct event *ret)
{
	struct bytes bytes;

	if (live->next_known < live->known.n) {
		*ret = live->known.at[live->next_known++];
		return true;
	}
	while (next_record(live, &bytes)) {
		if (live->raw)
			perf_writer_record(live->raw, bytes);
		if (convert(live, bytes, ret))
			return true;
	}
	return false;
}

/* ---- waiting -------------------------------------------------------------------------------- */

static bool is_gone(const struct perf_target *target)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d", target->pid,
		 target->tid ? target->tid : target->pid);
	return access(path, F_OK) < 0;
}

static bool all_gone(struct perf_live *live)
{
	for (size_t i = 0; i < live->targets.n; i++) {
		struct perf_target *target = &live->targets.at[i];
		if (!target->is_gone && target->pidfd < 0)
			target->is_gone = is_gone(target);
		if (!target->is_gone)
			return false;
	}
	return true;
}

/* Until a ring is half full, a target ends, somebody calls, or the time is over. */
static void wait_for_news(struct perf_live *live, int timeout_ms)
{
	size_t n_rings = live->events.anchors.n;

	vec_clear(&live->polls);
	for (size_t i = 0; i < n_rings; i++)
		vec_push(&live->polls,
			 ((struct pollfd){ .fd = live->events.anchors.at[i], .events = POLLIN }));
	for (size_t i = 0; i < live->targets.n; i++) {
		const struct perf_target *target = &live->targets.at[i];
		vec_push(&live->polls,
			 ((struct pollfd){ .fd = target->is_gone ? -1 : target->pidfd, .events = POLLIN }));
	}
	vec_push(&live->polls, ((struct pollfd){ .fd = live->wake_fd, .events = POLLIN }));
	live->stats.wakeups++;
	if (poll(live->polls.at, live->polls.n, timeout_ms) <= 0)
		return;
	live->is_called = live->polls.at[live->polls.n - 1].revents != 0;
	for (size_t i = 0; i < live->targets.n; i++)
		live->targets.at[i].is_gone |= live->polls.at[n_rings + i].revents != 0;
}

static void start_samples_in_time(struct perf_live *live, uint64_t now)
{
	if (!live->samples_from_ns || now < live->samples_from_ns)
		return;
	perf_events_enable_samples(&live->events);
	live->samples_from_ns = 0;
}

/* How long to wait before the rings are read again. */
static int pause_ms(struct perf_live *live, uint64_t now, uint64_t deadline)
{
	bool is_busy = atomic_exchange_explicit(&live->is_busy, false, memory_order_relaxed);
	uint64_t ms = (is_busy || now < live->hurry_until_ns ? BUSY_NS : CALM_NS) / 1000000u;
	uint64_t left = (deadline - now) / 1000000u + 1;

	if (live->samples_from_ns > now && (live->samples_from_ns - now) / 1000000u < left)
		left = (live->samples_from_ns - now) / 1000000u + 1;
	return (int)(left < ms ? left : ms);
}

/* What follows the recording is in no hurry. */
static void stop_guarding(struct perf_live *live)
{
	perf_guard_stop(live);
	priority_restore(&live->priority);
}

static void finish(struct perf_live *live)
{
	stop_guarding(live);
	perf_live_round(live);
	for (size_t i = 0; i < live->waits.n; i++)
		outer_wait_end(&live->waits.at[i], live->order, -1, 0);
	order_finish(live->order);
	live->is_finished = true;
}

/* A loss is told of by the next record that finds room; at the end there is none, and the kernel must be
 * asked. */
static int last_words(struct perf_live *live, struct event *ret)
{
	uint64_t lost = perf_events_lost(&live->events);

	if (lost <= live->lost)
		return 0;
	*ret = (struct event){ .kind = EVENT_LOST, .time_ns = live->round_ns, .lost = lost - live->lost };
	live->lost = lost;
	return 1;
}

/* The caller has something else to do. */
static int end_wait(struct perf_live *live)
{
	live->is_called = false;
	return -EAGAIN;
}

/* Rings are read in time also when the consumer is busy with what it has. */
static void keep_up(struct perf_live *live)
{
	if (live->is_finished || ++live->n_asked % CLOCK_EVERY)
		return;
	if (perf_live_now() - live->round_ns >= BUSY_NS && !perf_live_is_full(live))
		perf_live_round(live);
}

static int wait_next(struct perf_live *live, struct event *ret, int timeout_ms)
{
	uint64_t now = perf_live_now();
	uint64_t deadline = timeout_ms < 0 ? UINT64_MAX : now + (uint64_t)timeout_ms * 1000000u;

	do {
		if (live->is_finished)
			return last_words(live, ret);
		start_samples_in_time(live, now);
		if (live->is_stopped || all_gone(live)) {
			finish(live);
			continue;
		}
		if (now >= deadline || live->is_called)
			return end_wait(live);
		perf_live_give_back(live);
		wait_for_news(live, pause_ms(live, now, deadline));
		perf_live_round(live);
		now = perf_live_now();
	} while (!next_due(live, ret));
	return 1;
}

static int live_next(struct source *source, struct event *ret, int timeout_ms, struct diag *diag)
{
	struct perf_live *live = live_of(source);

	(void)diag;
	keep_up(live);
	return next_due(live, ret) ? 1 : wait_next(live, ret, timeout_ms);
}

static ssize_t live_read_memory(struct source *source, pid_t pid, uint64_t addr, void *to, size_t len)
{
	(void)source;
	return target_read_memory(pid, addr, to, len);
}

static void live_close(struct source *source)
{
	struct perf_live *live = live_of(source);

	stop_guarding(live);
	for (size_t i = 0; i < live->targets.n; i++)
		if (live->targets.at[i].pidfd >= 0)
			close(live->targets.at[i].pidfd);
	for (size_t i = 0; i < live->known.n; i++) {
		const struct event *event = &live->known.at[i];
		free((char *)(event->kind == EVENT_COMM ? event->comm : event->mapping.path));
	}
	perf_writer_free(live->raw);
	order_free(live->order); /* before the rings, which have lent it records */
	perf_events_done(&live->events);
	launch_done(&live->launch);
	mapper_free(live->mapper);
	stack_tops_free(live->tops);
	outer_stacks_free(live->outer);
	outer_needs_free(live->needs);
	for (size_t i = 0; i < live->waits.n; i++)
		outer_wait_done(&live->waits.at[i]);
	vec_done(&live->waits);
	map_done(&live->maps_read);
	map_done(&live->forked);
	map_done(&live->looked_for);
	vec_done(&live->targets);
	vec_done(&live->known);
	vec_done(&live->maps_ns);
	vec_done(&live->polls);
	source_info_done(&live->source.info);
	free(live);
}

const struct source_ops perf_live_ops = { live_next, live_read_memory, live_close };

/* ---- what only a live source has ------------------------------------------------------------ */

pid_t perf_source_child(const struct source *source)
{
	return ((const struct perf_live *)source)->launch.pid;
}

bool perf_source_wait(struct source *source, int timeout_ms, int *ret_status)
{
	struct perf_live *live = live_of(source);
	struct pollfd poll_exit = { .fd = live->targets.at[0].pidfd, .events = POLLIN };

	if (!live->launch.is_over)
		poll(&poll_exit, 1, timeout_ms);
	if (!launch_poll(&live->launch))
		return false;
	*ret_status = live->launch.status;
	return true;
}

void perf_source_stop(struct source *source)
{
	struct perf_live *live = live_of(source);

	perf_events_disable(&live->events);
	live->is_stopped = true;
}

uint64_t perf_source_counted(const struct source *source)
{
	return perf_events_counted(&((const struct perf_live *)source)->events);
}

struct perf_source_stats perf_source_stats(struct source *source)
{
	struct perf_live *live = live_of(source);
	struct perf_source_stats stats = live->stats;

	stats.n_rings = live->events.rings.n;
	stats.ring_bytes = live->events.rings.n ? live->events.rings.at[0].view.size : 0;
	stats.n_threads = live->events.fds.n / perf_events_per_thread(&live->events);
	perf_live_lock(live);
	stats.late = order_late(live->order);
	stats.damaged += live->n_damaged;
	perf_live_unlock(live);
	return stats;
}
