/* SPDX-License-Identifier: Apache-2.0 */
/*
 * holders: which thread held a futex while another waited for it. A thread that ends a wait held the futex
 * until then; before that, it was held by the threads that ended earlier waits for the same futex. The one
 * that held it longest is reported. Time before a hand-over that was not seen is attributed to the next
 * holder that was. No side effects.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/hash.h"
#include "base/vec.h"
#include "collector/event.h"

#define HOLDERS_LAST 16 /* hand-overs of one futex that are stored */

struct holder {
	pid_t pid, tid;
	uint64_t ns; /* how long, during the wait; 0 = not known */
};

struct holders_futex {
	struct {
		pid_t pid, tid; /* the thread that released it */
		uint64_t at_ns;
	} last[HOLDERS_LAST]; /* the last of n, at their number modulo HOLDERS_LAST */
	uint64_t n;
};

struct holders {
	struct map of; /* process and address -> futexes; two may collide with probability 2^-64 */
	VEC(struct holders_futex) futexes;
};

struct holders_wait {
	pid_t pid; /* the process of the address */
	uint64_t futex;
	uint64_t since_ns, woken_ns;
	pid_t waker_pid, waker;
};

void holders_done(struct holders *holders);
/* A wait has ended; waits of one futex must be added in the order in which they end. Returns the thread that
 * held it longest meanwhile. */
struct holder holders_end(struct holders *holders, const struct holders_wait *wait);
/* The same for an EVENT_SWITCH: the time refers to all waits that it represents. None if it is not for a
 * futex. */
struct holder holders_end_of(struct holders *holders, const struct event *event);
