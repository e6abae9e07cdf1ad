/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waits: how long threads were off the CPU. A thread that leaves is sampled (out), or a record says so
 * (leave); another says when it comes back (in). They are put together here, by thread, in the order of their
 * times. A wait that was sampled stands for all waits of its sort that the thread has had since the one
 * before. The sorts are preemptions, where records tell them, and classes of length: a thread that sleeps for
 * milliseconds in one place and waits for seconds in another has not waited for seconds in the first,
 * whichever of the two was sampled.
 *
 * Where one of them was lost there is no wait: it is counted as lost, and never has a wrong length. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/hash.h"
#include "base/vec.h"

#define WAIT_SORTS 7 /* preempted; and by itself, in classes of length */

struct wait_sum {
	uint64_t n, ns, longest_ns;
};

struct wait {
	pid_t pid, tid;
	uint64_t since_ns;
	struct wait_sum sum; /* including all waits that it represents */
	bool is_before;      /* it began before the recording */
	bool is_placed;      /* ... and where is known from the thread's last sample */
	bool is_sampled;     /* otherwise none was sampled, and the thread or the recording has ended */
	uint32_t sort;
	bool is_unlike;   /* ... and they are too many for the last sample of their sort to represent them */
	bool is_cut;      /* the last one has not ended */
	uint64_t seen_ns; /* its last sample, if waits are timed in the kernel */
	/* Of a thread: */
	struct wait_sum left[WAIT_SORTS]; /* what no sample stands for yet, by sort */
	uint64_t most[WAIT_SORTS];        /* waits that one sample has represented */
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
/* The recording begins, and the thread is away already. is_placed: its last sample is where it waits. */
void waits_before(struct waits *waits, pid_t pid, pid_t tid, uint64_t time_ns, bool is_placed);
/* It is running: a wait that began before the recording ends now, if there is one. */
bool waits_runs(struct waits *waits, pid_t tid, uint64_t time_ns, struct wait *ret);
/* It runs again. False: the wait was not sampled, or its start is not known. */
bool waits_in(struct waits *waits, pid_t tid, uint64_t time_ns, struct wait *ret);
/* The same if waits are timed in the kernel, with their durations: it was sampled when it left its CPU. */
void waits_see(struct waits *waits, pid_t pid, pid_t tid, uint64_t time_ns);
/* Was the wait that began at this time sampled? Otherwise the sample was lost. */
bool waits_saw(struct waits *waits, pid_t tid, uint64_t since_ns);
/* The thread has ended. True: ret has waits of it that no sample represents; there may be more, so call
 * again. */
bool waits_forget(struct waits *waits, pid_t tid, struct wait *ret);
/* The recording ends: returns a wait that has not ended, ended here, or waits that no sample represents.
 * False: no more. */
bool waits_cut(struct waits *waits, uint64_t end_ns, struct wait *ret);
