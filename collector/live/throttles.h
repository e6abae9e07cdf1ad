/* SPDX-License-Identifier: Apache-2.0 */
/*
 * throttles: the time during which the kernel suppressed the samples of a clock, and which samples represent
 * it instead.
 *
 * A clock that samples too often is throttled until the next tick, or until its thread is scheduled again.
 * The kernel reports when that begins and ends, but not for how much of it the thread ran. So the run time of
 * the event's threads is read from time to time. The part that no sample represents, but at most the
 * throttled time, is added to the weights of the next samples of the throttled threads: it is owed to them.
 * It is spread over several samples, because the first one after a tick is synchronised with the ticks.
 *
 * The event of a CPU keeps counting whatever the CPU does, while possibly only some processes are sampled.
 * Then the throttled time is owed only if there was a sample just before it and another one soon after, and
 * only while samples keep coming; otherwise the CPU was doing something else.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"

/* For one thread's copy of an event. */
struct throttle {
	uint64_t event;         /* its id */
	uint64_t since_ns;      /* throttled since then; 0 = not now */
	uint64_t until_ns;      /* end of the last throttling */
	uint64_t suppressed_ns; /* throttled time that is not settled yet */
	uint64_t owed;          /* to the next samples */
	/* For an event on a CPU: */
	uint64_t last_ns; /* of its last sample */
	bool began_seen;  /* there was a sample when the throttling began */
};

/* For an event. Times in ns. */
struct throttle_account {
	uint64_t represented;  /* by samples, and owed to them */
	uint64_t ran, read_at; /* how long its threads had run when that was read; read_at 0 = settled */
	uint64_t next_read;    /* not to be read before then */
	uint64_t written_off;  /* run time that no sample represents for another reason: a sample was lost,
				  or a thread ended first */
};

struct throttles {
	struct map by_stream; /* -> all */
	VEC(struct throttle) all;
};

void throttles_done(struct throttles *throttles);

struct throttle_change {
	uint64_t event, stream; /* ids, as in samples */
	uint64_t time_ns;
	bool begins;
};
void throttles_change(struct throttles *throttles, const struct throttle_change *change);

/* Should the run time of the event's threads be read now? */
bool throttle_account_wants(const struct throttle_account *account, uint64_t now_ns);
void throttle_account_read(struct throttle_account *account, uint64_t ran, uint64_t now_ns);

struct throttle_sample {
	uint64_t event, stream;
	uint64_t time_ns;
	uint64_t weight; /* without what is owed */
};
/* The time that a sample represents in addition to its own weight. Samples must come in order of time. */
uint64_t throttles_weigh(struct throttles *throttles, struct throttle_account *account,
			 const struct throttle_sample *sample);
/* The same for an event on a CPU. */
uint64_t throttles_weigh_on_cpu(struct throttles *throttles, const struct throttle_sample *sample);
