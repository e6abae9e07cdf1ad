/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_live: what perf_source.c (the stream), perf_round.c, perf_attach.c and perf_setup.c (its beginning)
 * share. Private.
 */
#pragma once

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>

#include "collector/deep/deep_need.h"
#include "collector/deep/deep_stack.h"
#include "collector/live/perf_events.h"
#include "collector/live/perf_guard.h"
#include "collector/live/perf_source.h"
#include "collector/live/priority.h"
#include "collector/order.h"
#include "collector/perfdata/perf_writer.h"
#include "collector/process/launch.h"
#include "collector/process/mapping.h"
#include "collector/process/stack_top.h"

struct perf_target {
	pid_t pid;
	pid_t tid; /* 0: the whole process */
	int pidfd; /* -1: asked through /proc */
	bool is_gone;
};

struct perf_live {
	struct source source; /* first: a struct source * is a struct perf_live * */
	struct perf_events events;
	struct order *order;
	struct mapper *mapper;
	struct stack_tops *tops;
	struct outer_stacks *outer;
	struct outer_needs *needs;
	VEC(struct outer_wait) waits; /* one a ring */
	struct launch launch;
	struct priority priority;
	VEC(struct perf_target) targets;

	/* What /proc told when we attached, to be handed out before anything else. Strings are owned. */
	VEC(struct event) known;
	size_t next_known;
	struct map maps_read;  /* pid -> index into maps_ns */
	VEC(uint64_t) maps_ns; /* mappings older than this are in `known` already */
	bool is_attaching;
	struct map forked; /* while attaching: threads whose birth was seen, so they have inherited events */

	/*
	 * Rings, order and waits are held by one thread at a time: the one that reads events, or the guard,
	 * if there is one. The fields of this block are theirs, too.
	 */
	struct perf_guard *guard; /* NULL = none */
	pthread_mutex_t lock;     /* only if there is a guard */
	struct perf_scratch round_scratch;
	struct perf_record round_record;
	uint64_t n_damaged;     /* seen while reading rings */
	uint64_t read_ns;       /* when rings were last read */
	uint64_t nominal, rate; /* bytes a second into one ring: by what was asked for; what to reckon with */
	uint64_t pressed_until_ns; /* until then rings may have to be emptied at any time: nothing stays in
				      them */
	unsigned n_vain; /* times that the guard has found nothing since the reader's last round; few count */
	bool may_lend;   /* records of the ring being read may stay there */
	atomic_bool is_busy; /* since the reader last waited came more than samples */

	struct perf_writer *raw; /* NULL = not asked for */
	struct perf_scratch scratch;
	struct perf_record record;
	pid_t next_pid; /* where the record after that was taken; 0 = not known */
	uint64_t next_pc;
	uint64_t round_ns, samples_from_ns;
	uint32_t n_asked;             /* for events */
	bool is_stopped, is_finished; /* no more samples; no more records */
	uint64_t hurry_until_ns;      /* until then code is walked that may be gone soon */
	int wake_fd;                  /* -1 = none */
	bool is_called;               /* it was readable */
	VEC(struct pollfd) polls;
	uint64_t lost;         /* told of so far; after the end, what is still to be told */
	uint32_t n_losses;     /* times that records were lost, mappings maybe among them */
	struct map looked_for; /* pid -> n_losses when its mappings were last read again */
	struct perf_source_stats stats;
};

extern const struct source_ops perf_live_ops;

uint64_t perf_live_now(void);
static inline void perf_live_lock(struct perf_live *live)
{
	if (live->guard)
		pthread_mutex_lock(&live->lock);
}
static inline void perf_live_unlock(struct perf_live *live)
{
	if (live->guard)
		pthread_mutex_unlock(&live->lock);
}

/* perf_round.c: reads every ring once. What was handed out last is needed no longer. */
void perf_live_round(struct perf_live *live);
/* The same by the guard, in place of a reader that is busy or waits for a CPU, if it is time: everything is
 * copied. */
void perf_live_relieve(struct perf_live *live);
/* Is so much held already that the rings had better be left to fill? */
bool perf_live_is_full(struct perf_live *live);
/* What has been walked need not wait in the rings. */
void perf_live_give_back(struct perf_live *live);
__attribute__((format(printf, 2, 3))) void perf_live_note(struct perf_live *live, const char *format, ...);

/* perf_attach.c: opens events on every thread of the targets and learns their names and mappings. */
int perf_attach_all(struct perf_live *live, const struct perf_source_options *options, struct diag *diag);
int perf_attach_command(struct perf_live *live, const struct perf_source_options *options, struct diag *diag);
