/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_round: one round of reading: what the rings hold goes into the order, where it lies if it can.
 */
#include "collector/perf_live.h"

/* Most of a record is a copy of a stack of which a few words are looked at: it stays in the ring if it can. */
static void keep(struct perf_live *live, struct perf_ring *ring, uint64_t time_ns, struct bytes bytes)
{
	size_t *loan = perf_ring_loan(ring, bytes);

	if (loan)
		order_lend(live->order, time_ns, bytes, loan);
	else
		order_add(live->order, time_ns, bytes);
}

/* Parts of a stack wait for their sample; false: no part of one. */
static bool take_outer(struct perf_live *live, struct outer_wait *wait, const struct perf_layout *layout, struct bytes bytes)
{
	const struct perf_record *record = &live->record;

	if (layout != &live->events.outer_layout)
		return false;
	struct outer_waiting it = { .time_ns = record->time_ns,
				    .time_at = perf_layout_time_offset(layout),
				    .tid = record->tid };
	outer_wait_add(wait, live->order, &it, bytes, record->sample.raw);
	return true;
}

static void take_record(struct perf_live *live, struct perf_ring *ring, struct outer_wait *wait, struct bytes bytes)
{
	const struct perf_layout *layout = perf_events_layout(&live->events, bytes);
	struct perf_record *record = &live->record;
	uint64_t time;
	pid_t tid;

	if (layout == &live->events.layout && perf_record_stamp(bytes, layout, &time, &tid)) {
		outer_wait_end(wait, live->order, tid, time);
		keep(live, ring, time, bytes);
		return;
	}
	if (perf_record_parse(bytes, layout, &live->scratch, record) < 0 || !record->has_time) {
		live->stats.damaged++;
		return;
	}
	if (take_outer(live, wait, layout, bytes))
		return;
	outer_wait_end(wait, live->order, -1, record->time_ns);
	live->is_busy = true;
	if (live->is_attaching && record->kind == PERF_KIND_FORK)
		map_put(&live->forked, (uint32_t)record->tid, 1);
	keep(live, ring, record->time_ns, bytes);
}

void perf_live_give_back(struct perf_live *live)
{
	for (size_t i = 0; i < live->events.rings.n; i++)
		perf_ring_give_back(&live->events.rings.at[i]);
}

/* Samples of code that is seen for the first time take long: the rings must not run over meanwhile. */
static void make_room(struct perf_live *live)
{
	bool is_tight = false;

	for (size_t i = 0; i < live->events.rings.n; i++)
		is_tight |= perf_ring_is_tight(&live->events.rings.at[i]);
	if (!is_tight)
		return;
	order_copy_lent(live->order);
	perf_live_give_back(live);
}

void perf_live_round(struct perf_live *live)
{
	struct bytes bytes;

	make_room(live);

	live->round_ns = perf_live_now();
	while (live->waits.n < live->events.rings.n)
		vec_push(&live->waits, (struct outer_wait){ 0 });
	live->is_busy = false;
	order_round_begin(live->order, live->round_ns);
	for (size_t i = 0; i < live->events.rings.n; i++) {
		struct perf_ring *ring = &live->events.rings.at[i];
		perf_ring_begin(ring);
		while (perf_ring_next(ring, &bytes))
			take_record(live, ring, &live->waits.at[i], bytes);
		perf_ring_end(ring);
		live->stats.damaged += ring->view.is_damaged;
		ring->view.is_damaged = false;
	}
	order_round_end(live->order);
}
