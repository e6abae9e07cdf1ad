/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_source: turns records into events.
 */
#include "collector/live/perf_source_private.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "collector/process/envoy.h"
#include "collector/process/target.h"

/*
 * How often rings are read, unless they fill faster. Mappings, new processes and code in no file are read
 * soon, before they are gone. Other samples can wait: a few long rounds are cheaper, because with cold caches
 * the first hundred samples of a round take twice as long as the others.
 */
#define BUSY_NS 50000000ull
/* On a whole machine something is always starting, and nearly always from known files. If one could not be
 * read in time, the rings are read sooner for a while. What the BPF program has seen of processes need not be
 * asked before they end. */
#define MACHINE_NS 250000000ull
#define MISSED_NS 5000000000ull
#define CALM_NS 500000000ull
#define PROBED_NS 5000000ull /* new processes and mappings get their probes only then */
/* Events between two readings of the clock. A reading takes as long as unwinding a frame; but unwinding
 * unknown code may take a tenth of a second. */
#define CLOCK_EVERY 4
#define CPUS_NS 1000000000ull /* between two checks for new CPUs */

/* ---- records to events ---------------------------------------------------------------------- */

static void live_finish_mapping(struct perf_live *live, struct event *event)
{
	const struct perf_record *record = &live->record;
	struct mapping_file file = { .inode = record->mmap.inode,
				     .major = record->mmap.major,
				     .minor = record->mmap.minor,
				     .build_id = record->mmap.build_id,
				     .tid = event->tid };

	if (!mapper_resolve(live->mapper, event->pid, &file, &event->mapping))
		live->pace.hurry_until_ns = event->time_ns + MISSED_NS;
}

static uint32_t live_event_of(const void *by_id, uint64_t id)
{
	return map_find(by_id, id);
}

/* Which event's sample it is, and what it represents. */
static void live_weigh(struct perf_live *live, struct event *event)
{
	struct sample *sample = &event->sample;
	uint32_t attr = map_find(&live->events.by_id, live->record.id);

	sample->event = attr == MAP_NONE ? 0 : attr;
	sample->round = periods_round(&live->events.periods, event->time_ns);
	sample->weight =
		periods_weigh(&live->events.periods, &(struct period_sample){ .id = live->record.id,
									      .stream = live->record.stream,
									      .time_ns = event->time_ns,
									      .said = sample->weight });
}

/* It is dropped, but the account of all samples has it. */
static void live_drop_foreign(struct perf_live *live, struct event *event)
{
	if (event->kind != EVENT_SAMPLE)
		return;
	live_weigh(live, event);
	if (event->sample.event == 0)
		*(event->pid ? &live->foreign : &live->idle) += event->sample.weight;
}

static void live_finish_sample(struct perf_live *live, struct event *event)
{
	struct sample *sample = &event->sample;
	const struct isa *isa = live->source.info.isa;

	live_weigh(live, event);
	if (sample->event == live->events.wait_attr && !wakings_join(&live->wakings, event))
		sample_drop_frames(sample, live->events.waits.n_own);
	group_reads_apply(
		&live->group_reads, &live->record,
		&(struct group_members){ live_event_of, &live->events.by_id,
					 source_event_counts_all(&live->source.info, sample->event) },
		sample);
	if (live->events.probe.program && !perf_live_finish_call(live, sample))
		live->n_damaged++;
	deep_stacks_join(live->deep, event->tid, isa, sample);
	if (sample->n_deep || !sample->stack_was_full || !regs_known(&sample->regs, isa->sp))
		return;

	uint64_t len = perf_live_clip(live, event, sample->regs.value[isa->sp], sample->stack.len);
	if (len < sample->stack.len) {
		sample->stack.len = len;
		sample->stack_was_full = false;
		sample->stack_was_clipped = true;
	}
}

/*
 * A ring reports all records it had no room for. Only the events know how many of them were samples; before
 * Linux 6.0, there is no way to know.
 */
static bool live_count_lost(struct perf_live *live, struct event *event)
{
	if (live->events.deep.program && perf_events_count_lost(&live->events)) {
		uint64_t total = perf_events_lost(&live->events);
		event->lost = total > live->lost ? total - live->lost : 0;
	}
	live->lost += event->lost;
	return event->lost > 0;
}

static void live_forget_needs(struct perf_live *live, pid_t tid)
{
	uint64_t thread;

	if (deep_needs_forget(live->needs, tid, &thread))
		perf_deep_limit(&live->events.deep, thread, NULL);
}

static void live_follow_fork(struct perf_live *live, const struct event *event)
{
	if (live->source.info.has_run_delays)
		run_delays_add(&live->run_delays, event->pid, event->tid, true);
	perf_holds_created(&live->events.holds, event->fork.parent_tid);
	stack_tops_forget(live->tops, event->tid);
	live_forget_needs(live, event->tid);
}

static void live_follow_exit(struct perf_live *live, pid_t tid)
{
	perf_holds_remove(&live->events.holds, tid);
	deep_stacks_forget(live->deep, tid);
	stack_tops_forget(live->tops, tid);
	live_forget_needs(live, tid);
}

/* False: a record with no information, or nothing new. */
static bool live_convert(struct perf_live *live, const struct drain_record *from, struct event *ret)
{
	bool is_own = !from->is_wait && !from->is_deep && perf_record_is_sample(from->bytes);
	const struct perf_layout *layout =
		is_own ? perf_events_layout(&live->events, from->bytes) : from->layout;

	live->is_foreign = false;
	if (perf_record_parse(from->bytes, layout, &live->scratch, &live->record) < 0) {
		live->n_damaged++;
		return false;
	}
	if (from->is_wait)
		return !wakings_take(&live->wakings, live->record.sample.raw) &&
		       perf_waits_read(live->record.sample.raw, ret);
	if (from->is_deep) {
		deep_stacks_take(live->deep, live->record.tid, live->record.sample.raw);
		return false;
	}
	if (!perf_record_event(&live->record, ret))
		return false;
	live->is_foreign = live->events.watched.is_used && !watched_has(&live->events.watched, ret);
	if (live->is_foreign) {
		live_drop_foreign(live, ret);
		return false;
	}
	switch (ret->kind) {
	case EVENT_SAMPLE:
		live_finish_sample(live, ret);
		live->source.next = from->next;
		return true;
	case EVENT_MAPPING:
		if (known_covers(live->known, ret))
			return false;
		live_finish_mapping(live, ret);
		return true;
	case EVENT_EXEC:
		stack_tops_forget(live->tops, ret->tid);
		return !known_covers(live->known, ret);
	case EVENT_FORK:
		live_follow_fork(live, ret);
		return true;
	case EVENT_EXIT:
		live_follow_exit(live, ret->tid);
		return true;
	case EVENT_LOST:
		known_lost(live->known);
		return live_count_lost(live, ret);
	case EVENT_THROTTLE:
	case EVENT_UNTHROTTLE:
		perf_events_throttle(&live->events,
				     &(struct throttle_change){ live->record.id, live->record.stream,
								ret->time_ns, ret->kind == EVENT_THROTTLE });
		return true;
	case EVENT_COMM:
	case EVENT_SWITCH:
	case EVENT_CODE:
		return true;
	}
	return false;
}

/* Only we know what a sample represents: the file gets that, not what the kernel wrote. */
static void live_write_raw(struct perf_live *live, const struct drain_record *record,
			   const struct event *event)
{
	if (event && event->kind == EVENT_SAMPLE)
		perf_writer_sample(live->raw, perf_events_layout(&live->events, record->bytes), record->bytes,
				   event->sample.weight);
	else
		perf_writer_record(live->raw, record->bytes);
}

static bool live_next_due(struct perf_live *live, struct event *ret)
{
	struct drain_record record;

	if (known_next(live->known, ret))
		return true;
	if (live->before.n) {
		*ret = live->before.at[--live->before.n];
		return true;
	}
	while (drain_next(live->drain, &record)) {
		bool is_event = live_convert(live, &record, ret);
		if (live->raw && !live->is_foreign)
			live_write_raw(live, &record, is_event ? ret : NULL);
		if (is_event)
			return true;
	}
	return false;
}

/* ---- waiting -------------------------------------------------------------------------------- */

static void live_begin_round_in_time(struct perf_live *live, uint64_t now)
{
	if (now >= perf_events_round_due(&live->events) && !live->pace.is_stopped)
		perf_events_begin_round(&live->events, now);
}

/*
 * Waits until a ring is half full, a target ends, wake_fd is readable, or the time is up. Rounds of samples
 * begin meanwhile; the rings are not read for that.
 */
static void live_wait_for_news(struct perf_live *live, uint64_t now, int timeout_ms)
{
	uint64_t end = now + (uint64_t)timeout_ms * 1000000u;
	bool has_news = false;

	live->pace.wakeups++;
	while (!has_news && now < end) {
		uint64_t due = perf_events_round_due(&live->events), until = due < end ? due : end;
		size_t n;
		struct pollfd *polls = targets_poll(&live->targets, live->pace.wake_fd, &n);

		has_news = drain_wait(live->drain, polls, n,
				      until > now ? (int)((until - now) / 1000000u + 1) : 0);
		live->pace.is_called = targets_polled(&live->targets);
		now = clock_now_ns();
		live_begin_round_in_time(live, now);
		run_delays_look(&live->run_delays, now);
	}
}

static void live_start_samples_in_time(struct perf_live *live, uint64_t now)
{
	if (!live->pace.samples_from_ns || now < live->pace.samples_from_ns)
		return;
	perf_events_enable_samples(&live->events);
	if (live->with_waits)
		perf_live_find_waiting_now(live, now);
	live->pace.samples_from_ns = 0;
}

/* Takes up CPUs that have come online. */
static void live_follow_cpus(struct perf_live *live, uint64_t now)
{
	if (!live->events.is_machine || now < live->pace.cpus_ns + CPUS_NS || live->pace.is_stopped)
		return;
	live->pace.cpus_ns = now;
	size_t n_new = perf_events_follow_cpus(&live->events) * live->events.attrs.n;
	for (size_t i = live->events.fds.n - n_new; live->raw && i < live->events.fds.n; i++)
		perf_writer_add_id(live->raw, live->events.fds.at[i].attr, live->events.fds.at[i].id);
}

static bool live_is_over(struct perf_live *live)
{
	bool has_targets = live->targets.at.n || !live->events.is_machine;

	return live->pace.is_stopped || (has_targets && targets_are_gone(&live->targets));
}

/* How long to wait before the rings are read again. */
static int live_pause_ms(struct perf_live *live, uint64_t now, uint64_t deadline)
{
	bool is_busy = drain_saw_tasks(live->drain), hurries = now < live->pace.hurry_until_ns;
	bool asks = live->asks_soon || !perf_deep_sees(&live->events.deep);
	uint64_t busy_ns = !live->source.info.is_machine || hurries ? BUSY_NS : asks ? MACHINE_NS : CALM_NS;
	uint64_t ns = is_busy || hurries ? busy_ns : CALM_NS, due = perf_events_round_due(&live->events);
	uint64_t left = (deadline - now) / 1000000u + 1;

	if (live->events.probe.program)
		ns = PROBED_NS;
	if (due > now + ns / 2 && due < now + ns * 3 / 2) /* we have to wake up then anyway */
		ns = due - now;
	uint64_t ms = (ns + 999999u) / 1000000u;
	if (live->pace.samples_from_ns > now && (live->pace.samples_from_ns - now) / 1000000u < left)
		left = (live->pace.samples_from_ns - now) / 1000000u + 1;
	return (int)(left < ms ? left : ms);
}

/* What follows the recording runs at normal priority. */
static void live_stop_guarding(struct perf_live *live)
{
	drain_stop_guard(live->drain);
	priority_restore(&live->priority);
}

static void live_finish(struct perf_live *live)
{
	live_stop_guarding(live);
	live->pace.round_ns = drain_finish(live->drain);
	live->pace.is_finished = true;
}

/* A loss is reported with the next record for which there is room. At the end there is none, and the kernel
 * must be asked. */
static int live_final_loss(struct perf_live *live, struct event *ret)
{
	uint64_t lost = perf_events_lost(&live->events);

	if (lost <= live->lost)
		return 0;
	*ret = (struct event){ .kind = EVENT_LOST,
			       .time_ns = live->pace.round_ns,
			       .lost = lost - live->lost };
	live->lost = lost;
	return 1;
}

/* The waits of threads that no sample represents yet, including those that have not ended. */
static bool live_final_wait(struct perf_live *live, struct event *ret)
{
	uint64_t end = live->pace.stopped_ns ? live->pace.stopped_ns : live->pace.round_ns;

	return perf_waits_rest(&live->events.waits, end, ret) || run_delays_take(&live->run_delays, end, ret);
}

/* The caller has something else to do. */
static int live_end_wait(struct perf_live *live)
{
	live->pace.is_called = false;
	return -EAGAIN;
}

/* Rings are also read in time when the consumer never waits. */
static void live_keep_up(struct perf_live *live)
{
	if (live->pace.is_finished || ++live->pace.n_asked % CLOCK_EVERY)
		return;

	uint64_t now = clock_now_ns();
	envoy_tend(live->envoy);
	live_begin_round_in_time(live, now);
	if (now - live->pace.round_ns >= BUSY_NS && !drain_is_full(live->drain))
		live->pace.round_ns = drain_round(live->drain);
}

static int live_wait_next(struct perf_live *live, struct event *ret, int timeout_ms)
{
	uint64_t now = clock_now_ns();
	uint64_t deadline = timeout_ms < 0 ? UINT64_MAX : now + (uint64_t)timeout_ms * 1000000u;

	do {
		if (live->pace.is_finished)
			return live_final_wait(live, ret) ? 1 : live_final_loss(live, ret);
		live_start_samples_in_time(live, now);
		live_follow_cpus(live, now);
		if (live_is_over(live)) {
			live_finish(live);
			continue;
		}
		if (now >= deadline || live->pace.is_called)
			return live_end_wait(live);
		live_wait_for_news(live, now, live_pause_ms(live, now, deadline));
		live->pace.round_ns = drain_round(live->drain);
		now = clock_now_ns();
	} while (!live_next_due(live, ret));
	return 1;
}

static int live_next(struct source *source, struct event *ret, int timeout_ms, struct diag *diag)
{
	struct perf_live *live = perf_live_of(source);

	(void)diag;
	live_keep_up(live);
	return live_next_due(live, ret) ? 1 : live_wait_next(live, ret, timeout_ms);
}

static ssize_t live_read_memory(struct source *source, pid_t pid, uint64_t addr, void *to, size_t len)
{
	(void)source;
	return envoy_read_memory(pid, addr, to, len);
}

static void live_close(struct source *source)
{
	struct perf_live *live = perf_live_of(source);

	live_stop_guarding(live);
	targets_done(&live->targets);
	perf_writer_free(live->raw);
	perf_events_done(&live->events);
	if (live->cgroup)
		close(live->cgroup);
	drain_free(live->drain);
	launch_done(&live->launch);
	known_free(live->known);
	mapper_free(live->mapper);
	envoy_free(live->envoy);
	stack_tops_free(live->tops);
	deep_stacks_free(live->deep);
	deep_needs_free(live->needs);
	group_reads_done(&live->group_reads);
	vec_done(&live->before);
	blocked_places_free(live->places);
	run_delays_done(&live->run_delays);
	wakings_done(&live->wakings);
	source_info_done(&live->source.info);
	free(live);
}

static void live_forget_files(struct source *source)
{
	mapper_forget(perf_live_of(source)->mapper);
}

const struct source_ops perf_live_ops = { live_next, live_read_memory, live_close, live_forget_files };
