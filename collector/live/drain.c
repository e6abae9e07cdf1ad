/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drain: moves records from the rings into the order. They stay in the ring if possible, otherwise they are
 * copied.
 */
#include "collector/live/drain.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "collector/deep/deep_stack.h"
#include "collector/deep/deep_wait.h"
#include "collector/live/guard.h"
#include "collector/live/perf_ring.h"
#include "collector/order.h"

#define LEND_LEAST (2u << 20)    /* in a smaller ring nothing stays */
#define PRESSED_NS 2000000000ull /* a reader that was late once may be late again */
/* With a consumer this far behind, the rings are left to fill: the kernel counts what it drops. */
#define HELD_MAX (512ull << 20)
#define FULL_NS 100000000ull /* until the guard checks whether it has caught up */
#define REST_MIN 2000000ull
#define REST_MAX 1000000000ull /* a ring with little traffic may soon have more */
#define IDLE_MAX 3             /* the guard of an idle target checks eight times less often */

struct drain_ring {
	struct perf_ring ring;
	struct deep_wait wait; /* parts of a deep stack whose sample has not been read */
};

struct drain {
	/* Set before the guard starts. */
	uint64_t (*clock_ns)(void);
	struct perf_layout layout, deep_layout, wait_layout;
	struct map deep_ids; /* of events that write deep stacks */
	struct map wait_ids; /* and of those that write the ends of waits */
	uint64_t nominal;    /* bytes per second into one ring, as requested */
	struct map *births;  /* borrowed; NULL = not wanted */
	struct guard *guard; /* NULL = none */

	VEC(struct pollfd) polls; /* the reader's */

	pthread_mutex_t lock; /* guards all that follows */
	VEC(struct drain_ring) rings;
	struct order *order;
	struct perf_scratch scratch;
	struct perf_record record;
	uint64_t n_damaged, read_bytes;
	uint64_t read_ns; /* when rings were last read */
	uint64_t rate;    /* bytes per second into one ring: the estimate in use */
	uint64_t rest_ns;
	uint64_t pressed_until_ns; /* until then, rings may have to be emptied at any time: nothing stays in
				      them */
	unsigned n_idle; /* times that the guard has found nothing since the reader's last round, up to
			    IDLE_MAX */
	bool may_lend;   /* records of the ring being read may stay there */
	bool saw_tasks;
};

/* With priority inheritance: the holder of the lock runs at the guard's priority while the guard waits for
 * it. */
static void drain_make_lock(struct drain *drain)
{
	pthread_mutexattr_t kind;

	pthread_mutexattr_init(&kind);
	pthread_mutexattr_setprotocol(&kind, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&drain->lock, &kind);
	pthread_mutexattr_destroy(&kind);
}

struct drain *drain_new(uint64_t (*clock_ns)(void), uint64_t delay_ns)
{
	struct drain *drain = alloc_zero(1, sizeof(*drain));

	drain->clock_ns = clock_ns;
	drain->order = order_new();
	order_trust(drain->order, delay_ns);
	drain_make_lock(drain);
	return drain;
}

void drain_free(struct drain *drain)
{
	if (!drain)
		return;
	drain_stop_guard(drain);
	order_free(drain->order); /* before the rings, which have lent it records */
	drain_remove_rings(drain);
	pthread_mutex_destroy(&drain->lock);
	map_done(&drain->deep_ids);
	map_done(&drain->wait_ids);
	vec_done(&drain->rings);
	vec_done(&drain->polls);
	free(drain);
}

/* ---- setting up ------------------------------------------------------------------------------ */

int drain_add_ring(struct drain *drain, int fd, size_t bytes)
{
	struct drain_ring it = { 0 };
	int error = perf_ring_open(&it.ring, fd, bytes / (size_t)sysconf(_SC_PAGESIZE));

	pthread_mutex_lock(&drain->lock); /* for a CPU that comes online later: the guard is running */
	if (!error)
		vec_push(&drain->rings, it);
	pthread_mutex_unlock(&drain->lock);
	return error;
}

void drain_remove_rings(struct drain *drain)
{
	for (size_t i = 0; i < drain->rings.n; i++) {
		perf_ring_close(&drain->rings.at[i].ring);
		deep_wait_done(&drain->rings.at[i].wait);
	}
	vec_clear(&drain->rings);
}

size_t drain_ring_bytes(const struct drain *drain)
{
	return drain->rings.n ? drain->rings.at[0].ring.view.size : 0;
}

void drain_set_layout(struct drain *drain, const struct perf_layout *layout)
{
	drain->layout = *layout;
}

void drain_set_deep_layout(struct drain *drain, const struct perf_layout *layout)
{
	drain->deep_layout = *layout;
}

void drain_add_wait_event(struct drain *drain, const struct perf_layout *layout, uint64_t id)
{
	drain->wait_layout = *layout;
	map_put(&drain->wait_ids, id, 1);
}

void drain_add_deep_event(struct drain *drain, uint64_t id)
{
	pthread_mutex_lock(&drain->lock);
	map_put(&drain->deep_ids, id, 1);
	pthread_mutex_unlock(&drain->lock);
}

void drain_set_rate(struct drain *drain, uint64_t bytes_per_s)
{
	drain->nominal = bytes_per_s;
}

void drain_note_births(struct drain *drain, struct map *births)
{
	drain->births = births;
}

static void drain_rest_for(struct drain *drain, uint64_t ns)
{
	drain->rest_ns = ns;
	if (drain->guard)
		guard_rest(drain->guard, ns);
}

static void drain_guard_acts(void *context)
{
	drain_relieve(context);
}

void drain_start_guard(struct drain *drain)
{
	pthread_mutex_lock(&drain->lock);
	if (!drain->guard)
		drain->guard = guard_start(drain_guard_acts, drain);
	drain_rest_for(drain, REST_MIN); /* attaching took some time */
	pthread_mutex_unlock(&drain->lock);
}

void drain_stop_guard(struct drain *drain)
{
	guard_stop(drain->guard);
	drain->guard = NULL;
}

/* ---- records --------------------------------------------------------------------------------- */

/* Most of a record is a copy of a stack, of which only a few words are read: it stays in the ring if
 * possible. */
static void drain_keep(struct drain *drain, struct perf_ring *ring, uint64_t time_ns, struct bytes bytes)
{
	size_t *loan = drain->may_lend ? perf_ring_loan(ring, bytes) : NULL;

	if (loan)
		order_lend(drain->order, time_ns, bytes, loan);
	else
		order_add(drain->order, time_ns, bytes);
}

static const struct perf_layout *drain_layout_of(const struct drain *drain, struct bytes record)
{
	uint64_t id;

	if ((!drain->deep_ids.n && !drain->wait_ids.n) || !perf_record_is_sample(record) ||
	    !perf_record_id(record, &drain->layout, &id))
		return &drain->layout;
	if (drain->wait_ids.n && map_find(&drain->wait_ids, id) != MAP_NONE)
		return &drain->wait_layout;
	return map_find(&drain->deep_ids, id) == MAP_NONE ? &drain->layout : &drain->deep_layout;
}

/* Parts of a deep stack wait for their sample. */
static void drain_take_deep(struct drain *drain, struct deep_wait *wait, struct bytes bytes)
{
	const struct perf_record *record = &drain->record;
	struct deep_waiting it = { .time_ns = record->time_ns,
				   .time_at = perf_layout_time_offset(&drain->deep_layout),
				   .tid = record->tid };

	deep_wait_add(wait, drain->order, &it, bytes, record->sample.raw);
}

static void drain_take(struct drain *drain, struct drain_ring *from, struct bytes bytes)
{
	const struct perf_layout *layout = drain_layout_of(drain, bytes);
	struct perf_record *record = &drain->record;
	uint64_t time;
	pid_t tid;

	if (layout == &drain->layout && perf_record_stamp(bytes, layout, &time, &tid)) {
		deep_wait_end(&from->wait, drain->order, tid, time);
		drain_keep(drain, &from->ring, time, bytes);
		return;
	}
	if (layout == &drain->layout && !drain->births && perf_record_trailer_time(bytes, layout, &time)) {
		deep_wait_end(&from->wait, drain->order, -1, time);
		drain->saw_tasks = true;
		drain_keep(drain, &from->ring, time, bytes);
		return;
	}
	if (perf_record_parse(bytes, layout, &drain->scratch, record) < 0 || !record->has_time) {
		drain->n_damaged++;
		return;
	}
	if (layout == &drain->deep_layout) {
		drain_take_deep(drain, &from->wait, bytes);
		return;
	}
	deep_wait_end(&from->wait, drain->order, -1, record->time_ns);
	drain->saw_tasks |= layout == &drain->layout;
	if (drain->births && record->kind == PERF_KIND_FORK)
		map_put(drain->births, (uint32_t)record->tid, 1);
	drain_keep(drain, &from->ring, record->time_ns, bytes);
}

/* ---- rings ----------------------------------------------------------------------------------- */

static void drain_give_back(struct drain *drain)
{
	for (size_t i = 0; i < drain->rings.n; i++)
		perf_ring_give_back(&drain->rings.at[i].ring);
}

/* The free space of the fullest ring. */
static uint64_t drain_least_room(const struct drain *drain)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < drain->rings.n; i++) {
		uint64_t room = perf_ring_room(&drain->rings.at[i].ring);
		least = room < least ? room : least;
	}
	return least;
}

/* A small ring fills up before its records are unwound, or before a late reader comes back. */
static bool drain_is_small(const struct drain *drain)
{
	return drain_ring_bytes(drain) < LEND_LEAST;
}

static void drain_make_room(struct drain *drain)
{
	order_copy_lent(drain->order);
	drain_give_back(drain);
}

/* Bytes per second, measured since the last round, and never less than requested. */
static void drain_estimate(struct drain *drain, uint64_t now, uint64_t most_read)
{
	uint64_t since = now > drain->read_ns ? now - drain->read_ns : 0;
	uint64_t rate = since ? (uint64_t)((double)most_read * 1e9 / (double)since) : 0;

	drain->rate = rate > drain->nominal ? rate : drain->nominal;
	drain->read_ns = now;
}

static void drain_read_rings(struct drain *drain, uint64_t now)
{
	uint64_t most_read = 0;
	struct bytes bytes;

	order_round_begin(drain->order, now);
	drain->may_lend = now >= drain->pressed_until_ns && !drain_is_small(drain);
	for (size_t i = 0; i < drain->rings.n; i++) {
		struct drain_ring *from = &drain->rings.at[i];
		struct ring_view *view = &from->ring.view;
		uint64_t start = view->at;

		perf_ring_begin(&from->ring);
		while (perf_ring_next(&from->ring, &bytes))
			drain_take(drain, from, bytes);
		perf_ring_end(&from->ring);
		most_read = view->at - start > most_read ? view->at - start : most_read;
		drain->read_bytes += view->at - start;
		drain->n_damaged += view->is_damaged;
		view->is_damaged = false;
	}
	order_round_end(drain->order);
	drain_estimate(drain, now, most_read);
}

/* ---- the guard -------------------------------------------------------------------------------- */

/* How long the guard may sleep. The reader is woken when a ring is half full, so it should come before five
 * eighths of the space are used. */
static uint64_t drain_span(uint64_t room, uint64_t bytes_per_s)
{
	uint64_t span = bytes_per_s ? (uint64_t)((double)room * 5 / 8 / (double)bytes_per_s * 1e9) : REST_MAX;

	return span < REST_MIN ? REST_MIN : span < REST_MAX ? span : REST_MAX;
}

static void drain_rest(struct drain *drain)
{
	uint64_t room = drain_least_room(drain);

	drain_rest_for(drain, drain_span(drain_is_small(drain) ? room / 2 : room, drain->rate)
				      << drain->n_idle);
}

static void drain_empty(struct drain *drain, uint64_t now)
{
	drain->pressed_until_ns = now + PRESSED_NS;
	drain_make_room(drain);

	size_t before = order_held(drain->order);
	drain_read_rings(drain, now);
	if (order_held(drain->order) > before)
		drain->n_idle = 0;
	else if (drain->n_idle < IDLE_MAX)
		drain->n_idle++;
}

void drain_relieve(struct drain *drain)
{
	pthread_mutex_lock(&drain->lock);

	bool is_full = order_held(drain->order) >= HELD_MAX;
	bool is_time = drain_is_small(drain) || drain_least_room(drain) < drain_ring_bytes(drain) / 2;
	if (is_time && !is_full)
		drain_empty(drain, drain->clock_ns());
	if (is_full)
		drain_rest_for(drain, FULL_NS);
	else
		drain_rest(drain);
	pthread_mutex_unlock(&drain->lock);
}

/* ---- the reader ------------------------------------------------------------------------------- */

/* Unwinding code for the first time takes long: the rings must not overflow meanwhile. */
uint64_t drain_round(struct drain *drain)
{
	pthread_mutex_lock(&drain->lock);
	order_let_go(drain->order);
	if (drain_least_room(drain) < drain_ring_bytes(drain) / 4)
		drain_make_room(drain);

	uint64_t now = drain->clock_ns();
	drain_read_rings(drain, now);
	drain->n_idle = 0;
	drain_rest(drain);
	pthread_mutex_unlock(&drain->lock);
	return now;
}

bool drain_is_full(struct drain *drain)
{
	pthread_mutex_lock(&drain->lock);
	bool is_full = order_held(drain->order) >= HELD_MAX;
	pthread_mutex_unlock(&drain->lock);
	return is_full;
}

bool drain_saw_tasks(struct drain *drain)
{
	pthread_mutex_lock(&drain->lock);
	bool saw_tasks = drain->saw_tasks;
	drain->saw_tasks = false;
	pthread_mutex_unlock(&drain->lock);
	return saw_tasks;
}

bool drain_next(struct drain *drain, struct drain_record *ret)
{
	struct bytes next;
	uint64_t time;

	pthread_mutex_lock(&drain->lock);
	bool is_due = order_next(drain->order, &time, &ret->bytes);
	ret->next = (struct sample_place){ 0 };
	if (is_due && order_peek(drain->order, &next))
		perf_record_prefetch(next, &drain->layout, &ret->next);
	pthread_mutex_unlock(&drain->lock);
	if (!is_due)
		return false;
	ret->layout = drain_layout_of(drain, ret->bytes);
	ret->is_deep = ret->layout == &drain->deep_layout;
	ret->is_wait = ret->layout == &drain->wait_layout;
	return true;
}

bool drain_wait(struct drain *drain, struct pollfd *others, size_t n_others, int timeout_ms)
{
	pthread_mutex_lock(&drain->lock);
	drain_give_back(drain);
	drain_rest(drain);
	pthread_mutex_unlock(&drain->lock);

	vec_clear(&drain->polls);
	for (size_t i = 0; i < n_others; i++)
		vec_push(&drain->polls, others[i]);
	for (size_t i = 0; i < drain->rings.n; i++)
		vec_push(&drain->polls,
			 ((struct pollfd){ .fd = drain->rings.at[i].ring.fd, .events = POLLIN }));
	int n_ready = poll(drain->polls.at, drain->polls.n, timeout_ms);
	for (size_t i = 0; i < n_others; i++)
		others[i].revents = n_ready > 0 ? drain->polls.at[i].revents : 0;
	return n_ready != 0;
}

uint64_t drain_finish(struct drain *drain)
{
	drain_stop_guard(drain);

	uint64_t now = drain_round(drain);
	for (size_t i = 0; i < drain->rings.n; i++)
		deep_wait_end(&drain->rings.at[i].wait, drain->order, -1, 0);
	order_finish(drain->order);
	return now;
}

struct drain_stats drain_stats(struct drain *drain)
{
	pthread_mutex_lock(&drain->lock);
	struct drain_stats stats = { .n_rings = drain->rings.n,
				     .ring_bytes = drain_ring_bytes(drain),
				     .read_bytes = drain->read_bytes,
				     .late = order_late(drain->order),
				     .damaged = drain->n_damaged,
				     .rest_ns = drain->rest_ns };
	pthread_mutex_unlock(&drain->lock);
	return stats;
}
