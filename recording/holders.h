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

#define HOLDERS_LAST 16 /* hand-overs of one futex that are remembered */

struct holder {
	pid_t pid, tid;
	uint64_t ns; /* how long, of the wait; 0 = it is not known */
};

struct holders_futex {
	struct {
		pid_t pid, tid; /* that let go of it */
		uint64_t at_ns;
	} last[HOLDERS_LAST]; /* of n, at their number modulo HOLDERS_LAST */
	uint64_t n;
};

struct holders {
	struct map of; /* process and address -> futexes; those of two may be mixed up once in 2^64 */
	VEC(struct holders_futex) futexes;
};

struct holders_wait {
	pid_t pid; /* whose address it is */
	uint64_t futex;
	uint64_t since_ns, woken_ns;
	pid_t waker_pid, waker;
};

void holders_done(struct holders *holders);
/* A wait has ended; waits of one futex in the order in which they end. Who held it longest meanwhile. */
struct holder holders_end(struct holders *holders, const struct holders_wait *wait);
/* The same of an EVENT_SWITCH: for so long of all waits that it stands for. None if it is not for a futex. */
struct holder holders_end_of(struct holders *holders, const struct event *event);
