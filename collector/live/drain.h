/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drain: delivers the records of all rings in one time order, and reads them before the rings are full.
 *
 * It owns the rings, the order in which their records go out, and the guard: a thread that empties the rings
 * when their reader does not. The reader unwinds what it has read on its own thread, and code that is seen
 * for the first time takes it a tenth of a second; on a loaded machine it may wait as long for a CPU.
 * Whenever rings have been read, the guard is told how long their room will last, and sleeps for that long.
 *
 * Reader and guard are the only two threads. What they share is inside and locked there; all functions below
 * are the reader's. Everything is set up before the guard starts, but for rings of CPUs that come later.
 */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "collector/record/perf_record.h"

struct drain;

/* clock_ns: the clock of the records. delay_ns: the longest time between stamping a record and finishing to
 * write it; 0 = unknown. */
struct drain *drain_new(uint64_t (*clock_ns)(void), uint64_t delay_ns);
/* Stops the guard, and unmaps the rings. */
void drain_free(struct drain *drain);

/* ---- setting up ------------------------------------------------------------------------------ */

/* Maps the ring of an event, which must stay open. bytes: a power of two. -EPERM: more than may be locked. */
int drain_add_ring(struct drain *drain, int fd, size_t bytes);
void drain_remove_rings(struct drain *drain);
size_t drain_ring_bytes(const struct drain *drain); /* of one ring */
/* The layout of all records except those of the events that write deep stacks. */
void drain_set_layout(struct drain *drain, const struct perf_layout *layout);
void drain_set_deep_layout(struct drain *drain, const struct perf_layout *layout);
void drain_add_deep_event(struct drain *drain, uint64_t id);
/* The same for an event that writes the ends of waits. */
void drain_add_wait_event(struct drain *drain, const struct perf_layout *layout, uint64_t id);
/* The expected rate into one ring, for use before anything has been read. */
void drain_set_rate(struct drain *drain, uint64_t bytes_per_s);
/* New threads that are read from now on are put into this map, with the value 1; NULL = no more. */
void drain_note_births(struct drain *drain, struct map *births);

/* If no thread can be created, everything works without it. More calls have no effect. */
void drain_start_guard(struct drain *drain);
void drain_stop_guard(struct drain *drain);

/* ---- reading --------------------------------------------------------------------------------- */

/* Reads every ring once. Whatever was handed out before is no longer needed. Returns when it began. */
uint64_t drain_round(struct drain *drain);
/* Is so much held already that the rings should be left to fill? */
bool drain_is_full(struct drain *drain);
/* Has anything but samples been read since the last call? */
bool drain_saw_tasks(struct drain *drain);

/* Stays valid until the next drain_next or drain_round. */
struct drain_record {
	struct bytes bytes;
	const struct perf_layout *layout;
	bool is_deep;             /* a part of a deep stack */
	bool is_wait;             /* the end of a wait */
	struct sample_place next; /* the place of the record that comes next, if that is a sample */
};
/* The next record that is due; false if there is none. */
bool drain_next(struct drain *drain, struct drain_record *ret);

/*
 * Hands back to the kernel what has been read. Then waits until a ring is half full, one of the others is
 * ready (poll's results are in them), or the time is up. Returns false if only the last is true.
 */
bool drain_wait(struct drain *drain, struct pollfd *others, size_t n_others, int timeout_ms);

/* Stops the guard and reads the rings a last time; then everything is due. Returns when that began. */
uint64_t drain_finish(struct drain *drain);

/* The guard's action: if needed, copies all records out of the rings, in place of a reader that is busy or
 * waits for a CPU. */
void drain_relieve(struct drain *drain);

struct drain_stats {
	size_t n_rings, ring_bytes; /* of one ring */
	uint64_t read_bytes;        /* so far */
	uint64_t late;              /* records that came out of order */
	uint64_t damaged;           /* rings or records that were invalid */
	uint64_t rest_ns;           /* how long the guard last went to sleep, or would have */
};
struct drain_stats drain_stats(struct drain *drain);
