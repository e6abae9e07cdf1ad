/* SPDX-License-Identifier: Apache-2.0 */
/*
 * holds: the time for which the kernel suppressed the samples of a clock.
 *
 * A clock that samples too often is throttled until the next tick, or until its thread is back on a CPU. The
 * kernel says when that begins and ends, but not for how much of it the thread ran. So the time that the
 * threads of an event have run is read now and then. What no sample represents of it, and at most as much as
 * was suppressed, is owed to the next samples of the threads that were throttled. It is spread over several
 * samples, because the first one after a tick is in step with the ticks.
 *
 * An event of a CPU runs on, whatever the CPU does, and samples may be of some processes only. What was
 * suppressed then is owed only if a sample came just before and one comes soon after, and as long as samples
 * go on coming; otherwise the CPU was doing something else.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"

/* For one thread's copy of an event. */
struct hold {
	uint64_t event;    /* its id */
	uint64_t since_ns; /* suppressed since then; 0 = not now */
	uint64_t until_ns; /* ... and until when, the last time */
	uint64_t held_ns;  /* for this long, which is not settled yet */
	uint64_t owed;     /* to the next samples */
	/* For an event on a CPU: */
	uint64_t last_ns; /* of its last sample */
	bool began_seen;  /* a sample came when this began */
};

/* For an event. Times in ns. */
struct hold_account {
	uint64_t represented;  /* by samples, and owed to them */
	uint64_t ran, read_at; /* how long its threads had run when that was read; read_at 0 = settled */
	uint64_t next_read;    /* not before */
	uint64_t written_off;  /* run time that no sample represents for another reason: it was lost, or a
				  thread had ended before */
};

struct holds {
	struct map by_stream; /* -> all */
	VEC(struct hold) all;
};

void holds_done(struct holds *holds);

struct hold_change {
	uint64_t event, stream; /* ids, as in samples */
	uint64_t time_ns;
	bool begins;
};
void holds_change(struct holds *holds, const struct hold_change *change);

/* Should the time that the event's threads have run be read now? */
bool hold_account_wants(const struct hold_account *account, uint64_t now_ns);
void hold_account_read(struct hold_account *account, uint64_t ran, uint64_t now_ns);

struct hold_sample {
	uint64_t event, stream;
	uint64_t time_ns;
	uint64_t weight; /* without what is owed */
};
/* What a sample represents in addition to its own weight. Samples come in the order of their times. */
uint64_t holds_take(struct holds *holds, struct hold_account *account, const struct hold_sample *sample);
/* The same for an event on a CPU. */
uint64_t holds_take_on_cpu(struct holds *holds, const struct hold_sample *sample);
