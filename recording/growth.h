/* SPDX-License-Identifier: Apache-2.0 */
/*
 * growth: the part of a profile that grows with each stack: the tree, its values, and the reasons why stacks
 * ended.
 */
#pragma once

#include "base/hash.h"
#include "collector/source.h"
#include "recording/chosen.h"
#include "recording/wait_shares.h"
#include "unwinder/activations.h"
#include "unwinder/cct_fold.h"

/* The metrics: that of an event is 1 + its number. 0 = none. */
struct growth_events {
	size_t n;
	uint32_t off_cpu, waits, wall, runnable, sampled;
	bool has_near_waits; /* as in source_info */
	/* For allocations, whose metrics are the first two events and, if blocks are tracked, two more: */
	const struct chosen *allocators; /* calls of one of them by another are not counted; NULL = none */
	bool held;
	/* With several workers, each distinguishes the calls of its own goroutines: any thread may run one.
	 */
	uint32_t worker, n_workers;
};

/* A sampled allocation, which may turn out not to be freed at the end. */
struct growth_block {
	uint32_t node, thread;
	uint64_t bytes, calls, doubts[2];
};

#define GROWTH_ANY UINT32_MAX

struct growth {
	struct cct *cct;    /* borrowed */
	struct map path_of; /* tid -> paths */
	VEC(struct cct_path) paths;
	struct map calls_of; /* tid, or a goroutine's key -> calls */
	struct map go_of;    /* pid -> 1: the process has goroutines */
	VEC(struct growth_calls {
		pid_t id;           /* tid; for a goroutine the pid */
		uint64_t goroutine; /* its address; 0 = a thread */
		uint32_t thread; /* the row, because tids are reused; GROWTH_ANY: in a new profile, not known
				    yet */
		struct activations last;
	})
	calls;
	struct map wait_of;  /* tid -> the node in which it waits, or was last sampled where that is all we
				know; and thread and sort of wait -> where it last waited like that */
	struct map woken_of; /* growth_waker_key -> where that thread last ended a wait in that node */
	struct wait_shares shares; /* waits that have not got their share of the time */
	uint64_t by_end[STACK_END_N];
	struct map block_of; /* number -> blocks */
	VEC(struct growth_block) blocks;
	size_t max_bytes; /* of the tree; 0 = no limit */
	size_t fold_at;   /* ... and the size at which it is folded next, if larger */
	uint64_t n_folded;
};

void growth_done(struct growth *growth);
/* Starts the next profile of a recording with epochs: an empty tree, in which threads are still in the same
 * calls. */
void growth_next(struct growth *growth, struct cct *cct);
struct growth_events growth_events_of(const struct source_info *info);
/* Adds a sample; thread is an index chosen by the caller. Allocates nothing in the steady state. */
/* Returns the node. */
uint32_t growth_add(struct growth *growth, const struct event *event, uint32_t thread,
		    const struct growth_events *events, const struct stack *stack);
/* The thread has ended, or executes another program; if it was the first of its process, so have the
 * process's goroutines. */
void growth_forget(struct growth *growth, pid_t tid);
/* Folds the tree if it has exceeded its limit; since: as in cct_fold, or NULL. True if it did. */
bool growth_keep_bound(struct growth *growth, const struct cct_since *since);
/* The thread runs again after the wait that was last sampled. */
void growth_add_wait(struct growth *growth, const struct event *event, uint32_t thread,
		     const struct growth_events *events);
/* Distributes all waiting time: before the values of the tree are used. */
void growth_settle(struct growth *growth);
/* Adds a sample of a thread that wakes a waiting one: its path is added below the wait. */
void growth_add_waker(struct growth *growth, const struct event *event, const struct stack *stack);
/* Discards everything that was added, including the values of the tree. */
void growth_reset(struct growth *growth);
/* These blocks were not freed. */
void growth_hold(struct growth *growth, const uint64_t *numbers, size_t n);
