/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_round: one round of reading: what the rings hold goes into the order, where it lies if it can.
 */
#include "collector/live/perf_live.h"

#define LEND_LEAST (2u << 20)     /* nothing stays in a smaller ring */
#define PRESSED_NS 10000000000ull /* a reader that came too late once may do so again */
#define HELD_MAX \
	(512ull << 20)       /* a consumer this far behind: leave the rings to fill, and the kernel counts */
#define VAIN_MAX 3           /* the guard of a target that does nothing looks eight times less often */
#define FULL_NS 100000000ull /* before another look whether it has caught up */

/* Most of a record is a copy of a stack of which a few words are looked at: it stays in the ring if it can.
 */
static void keep(struct perf_live *live, struct perf_ring *ring, uint64_t time_ns, struct bytes bytes)
{
	size_t *loan = live->may_lend ? perf_ring_loan(ring, bytes) : NULL;

	if (loan)
		order_lend(live->order, time_ns, bytes, loan);
	else
		order_add(live->order, time_ns, bytes);
}

/* Parts of a stack wait for their sample; false: no part of one. */
static bool take_outer(struct perf_live *live, struct outer_wait *wait, const struct perf_layout *layout,
		       struct bytes bytes)
{
	const struct perf_record *record = &live->round_record;

	if (layout != &live->events.outer_layout)
		return false;
	struct outer_waiting it = { .time_ns = record->time_ns,
				    .time_at = perf_layout_time_offset(layout),
				    .tid = record->tid };
	outer_wait_add(wait, live->order, &it, bytes, record->sample.raw);
	return true;
}

static void take_record(struct perf_live *live, struct perf_ring *ring, struct outer_wait *wait,
			struct bytes bytes)
{
	const struct perf_layout *layout = perf_events_layout(&live->events, bytes);
	struct perf_record *record = &live->round_record;
	uint64_t time;
	pid_t tid;

	if (layout == &live->events.layout && perf_record_stamp(bytes, layout, &time, &tid)) {
		outer_wait_end(wait, live->order, tid, time);
		keep(live, ring, time, bytes);
		return;
	}
	if (perf_record_parse(bytes, layout, &live->round_scratch, record) < 0 || !record->has_time) {
		live->n_damaged++;
		return;
	}
	if (take_outer(live, wait, layout, bytes))
		return;
	outer_wait_end(wait, live->order, -1, record->time_ns);
	atomic_store_explicit(&live->is_busy, true, memory_order_relaxed);
	if (live->is_attaching && record->kind == PERF_KIND_FORK)
		map_put(&live->forked, (uint32_t)record->tid, 1);
	keep(live, ring, record->time_ns, bytes);
}

static void give_back(struct perf_live *live)
{
	for (size_t i = 0; i < live->events.rings.n; i++)
		perf_ring_give_back(&live->events.rings.at[i]);
}

/* The room of the fullest ring. */
static uint64_t least_room(const struct perf_live *live)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < live->events.rings.n; i++) {
		uint64_t room = perf_ring_room(&live->events.rings.at[i]);
		least = room < least ? room : least;
	}
	return least;
}

static size_t ring_size(const struct perf_live *live)
{
	return live->events.rings.n ? live->events.rings.at[0].view.size : 0;
}

/* It is full before its records have been walked, or a thread that is late has come. */
static bool is_small(const struct perf_live *live)
{
	return ring_size(live) < LEND_LEAST;
}

static void make_room(struct perf_live *live)
{
	order_copy_lent(live->order);
	give_back(live);
}

/* Bytes a second, from what came since the last round. */
static void reckon(struct perf_live *live, uint64_t now, uint64_t most_read)
{
	uint64_t rate =
		now > live->read_ns ? (uint64_t)((double)most_read * 1e9 / (double)(now - live->read_ns)) : 0;

	live->rate = rate > live->nominal ? rate : live->nominal;
	live->read_ns = now;
}

static void read_rings(struct perf_live *live, uint64_t now)
{
	uint64_t most_read = 0;
	struct bytes bytes;

	while (live->waits.n < live->events.rings.n)
		vec_push(&live->waits, (struct outer_wait){ 0 });
	order_round_begin(live->order, now);
	for (size_t i = 0; i < live->events.rings.n; i++) {
		struct perf_ring *ring = &live->events.rings.at[i];
		live->may_lend = now >= live->pressed_until_ns && !is_small(live);
		uint64_t from = ring->view.at;
		perf_ring_begin(ring);
		while (perf_ring_next(ring, &bytes))
			take_record(live, ring, &live->waits.at[i], bytes);
		perf_ring_end(ring);
		most_read = ring->view.at - from > most_read ? ring->view.at - from : most_read;
		live->n_damaged += ring->view.is_damaged;
		ring->view.is_damaged = false;
	}
	order_round_end(live->order);
	reckon(live, now, most_read);
}

static void rest(struct perf_live *live)
{
	uint64_t room = is_small(live) ? least_room(live) / 2 : least_room(live);

	if (live->guard)
		perf_guard_rest(live->guard, perf_guard_span(room, live->rate) << live->n_vain);
}

void perf_live_give_back(struct perf_live *live)
{
	perf_live_lock(live);
	give_back(live);
	rest(live);
	perf_live_unlock(live);
}

/* Samples of code that is seen for the first time take long: the rings must not run over meanwhile. */
void perf_live_round(struct perf_live *live)
{
	perf_live_lock(live);
	order_let_go(live->order);
	if (least_room(live) < ring_size(live) / 4)
		make_room(live);
	live->round_ns = perf_live_now();
	read_rings(live, live->round_ns);
	live->n_vain = 0;
	rest(live);
	perf_live_unlock(live);
}

bool perf_live_is_full(struct perf_live *live)
{
	perf_live_lock(live);
	bool is_full = order_held(live->order) >= HELD_MAX;
	perf_live_unlock(live);
	return is_full;
}

void perf_live_relieve(struct perf_live *live)
{
	perf_live_lock(live);

	uint64_t now = perf_live_now();
	bool is_full = order_held(live->order) >= HELD_MAX;
	bool is_time = is_small(live) || least_room(live) < ring_size(live) / 2;
	if (is_time && !is_full) {
		live->pressed_until_ns = now + PRESSED_NS;
		make_room(live);
		uint64_t before = order_held(live->order);
		read_rings(live, now);
		live->n_vain = order_held(live->order) > before ? 0
			       : live->n_vain < VAIN_MAX        ? live->n_vain + 1
								: VAIN_MAX;
	}
	if (is_full && live->guard)
		perf_guard_rest(live->guard, FULL_NS);
	else
		rest(live);
	perf_live_unlock(live);
}
