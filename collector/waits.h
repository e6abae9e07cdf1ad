/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waits: how long threads were off the CPU. When a thread leaves its CPU, it is sampled (out), or there is
 * only a record (leave); another record says when it runs again (in). They are combined here, by thread, in
 * order of time. A sampled wait represents all waits of its class that the thread has had since the previous
 * sampled one. The classes are preemptions, if records tell them apart, and ranges of duration: if a thread
 * sleeps for milliseconds at one place and for seconds at another, the seconds are not attributed to the
 * first place, whichever of the two was sampled.
 *
 * If one of these events was lost, the wait is counted as lost; it never gets a wrong duration. No side
 * effects.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/hash.h"
#include "base/vec.h"

#define WAIT_SORTS 7 /* classes: preempted, and voluntary waits by duration */

struct wait_sum {
	uint64_t n, ns, longest_ns;
};

struct wait {
	pid_t pid, tid;
	uint64_t since_ns;
	struct wait_sum sum; /* including all waits that it represents */
	uint64_t own_ns;     /* its own duration */
	bool is_before;      /* it began before the recording */
	bool is_placed;      /* ... and the thread's last sample has its call path */
	bool is_sampled;     /* if not: none of them was sampled, and the thread or the recording has ended */
	uint32_t sort;       /* its class */
	bool is_unlike;      /* not sampled, and too many for the last sample of the class to represent */
	bool is_cut;         /* the last one has not ended */
	uint64_t seen_ns;    /* its last sample, if waits are timed in the kernel */
	/* Of a thread: */
	struct wait_sum left[WAIT_SORTS]; /* waits that no sample represents yet, by class */
	uint64_t most[WAIT_SORTS];        /* the most that one sample has represented */
	bool is_preempted;                /* the current wait */
};

struct waits {
	struct map by_tid;
	VEC(struct wait) threads; /* each once; since_ns 0 = it is running */
	uint64_t n_lost;          /* waits whose start or end is missing */
	uint64_t n_before;        /* waits that began before the recording */
	uint64_t n_waiting;       /* threads given to waits_before */
	size_t n_cut;             /* threads processed by waits_cut */
};

void waits_done(struct waits *waits);
/* A thread leaves its CPU. */
void waits_out(struct waits *waits, pid_t pid, pid_t tid, uint64_t time_ns);
/* The same, if it may not have been sampled. */
void waits_leave(struct waits *waits, pid_t pid, pid_t tid, uint64_t time_ns, bool is_preempted);
/* The thread is already waiting when the recording begins. is_placed: its last sample has the call path of
 * that wait. */
void waits_before(struct waits *waits, pid_t pid, pid_t tid, uint64_t time_ns, bool is_placed);
/* It is running: a wait that began before the recording ends now, if there is one. */
bool waits_runs(struct waits *waits, pid_t tid, uint64_t time_ns, struct wait *ret);
/* It runs again. False: the wait was not sampled, or its start is not known. */
bool waits_in(struct waits *waits, pid_t tid, uint64_t time_ns, struct wait *ret);
/* If waits are timed in the kernel: the thread was sampled when it left its CPU. */
void waits_see(struct waits *waits, pid_t pid, pid_t tid, uint64_t time_ns);
/* Was the wait that began at this time sampled? Otherwise the sample was lost. */
bool waits_saw(struct waits *waits, pid_t tid, uint64_t since_ns);
/* The thread has ended. True: ret has waits of it that no sample represents; there may be more, so call
 * again. */
bool waits_forget(struct waits *waits, pid_t tid, struct wait *ret);
/* The recording ends. Returns a wait that has not ended, as if it ended now, or waits that no sample
 * represents. False: no more. */
bool waits_cut(struct waits *waits, uint64_t end_ns, struct wait *ret);
