/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_holds: keeps the kernel from exchanging the events of two threads.
 *
 * On a switch between a thread and one that it has created, the kernel exchanges their events instead of
 * stopping those of the one and starting those of the other. If the created thread then ends, the events with
 * which its creator began end with it, and the creator continues with younger ones, whose clocks have just
 * started. A thread that creates others again and again would always be sampled at the same distance from
 * that, so in the same places. The kernel does not exchange events if the creator has one that the other did
 * not inherit: its hold. It is disabled and counts nothing.
 *
 * But exchanging is cheaper, by up to a microsecond for each switch. So the threads that are attached to
 * begin with a hold that only new processes do not inherit: a process whose threads live long is not slowed
 * down. A thread that creates a second thread or process gets a hold that nothing inherits.
 */
#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

#include "base/hash.h"
#include "base/vec.h"

struct perf_holds {
	struct perf_event_attr attr; /* size 0: none are needed */
	struct map by_tid;           /* -> all; threads that have created others */
	VEC(struct perf_hold) all;
};

struct perf_hold {
	pid_t tid;
	unsigned n_created; /* threads and processes that it has created */
	int processes, all; /* what does not inherit it; -1 = none yet, or it was refused */
};

/* Holds for threads with this event. */
void perf_holds_init(struct perf_holds *holds, const struct perf_event_attr *event);
void perf_holds_done(struct perf_holds *holds);
/* A thread was attached to. Failing is not an error: the thread has ended, or no descriptors are left. */
void perf_holds_add(struct perf_holds *holds, pid_t tid);
/* The thread has created a thread or a process. */
void perf_holds_created(struct perf_holds *holds, pid_t tid);
/* The thread has ended. */
void perf_holds_remove(struct perf_holds *holds, pid_t tid);
