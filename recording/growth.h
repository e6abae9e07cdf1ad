/* SPDX-License-Identifier: Apache-2.0 */
/*
 * growth: the part of a profile that grows with each stack: the tree, its values, and the reasons why stacks
 * ended.
 */
#pragma once

#include "base/hash.h"
#include "collector/source.h"
#include "recording/chosen.h"
#include "unwinder/activations.h"
#include "unwinder/cct_fold.h"

/* Which metrics grow: an event's is 1 + its number. 0 = there is none. */
struct growth_events {
	size_t n;
	uint32_t off_cpu, waits, wall, runnable, sampled;
	bool has_near_waits; /* source_info has it */
	/* Of allocations, whose metrics are the first two events and, if they are followed, two more: */
	const struct chosen *allocators; /* what one of them does for another is no allocation; NULL = none */
	bool held;
	/* Of several workers, each tells the calls of its own goroutines apart: any thread may run one. */
	uint32_t worker, n_workers;
};

/* An allocation that was sampled, and may be found not freed at the end. */
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
	struct map go_of;    /* pid -> 1: there are goroutines of the process */
	VEC(struct growth_calls {
		pid_t id;           /* tid; of a goroutine the pid */
		uint64_t goroutine; /* its address; 0 = it is a thread */
		uint32_t thread; /* the row: numbers are used again; GROWTH_ANY: of a new profile, not known
				    yet */
		struct activations last;
	})
	calls;
	struct map wait_of;  /* tid -> the node in which it waits, or was last sampled where that is all we
				know; and thread and sort of wait -> where it last waited like that */
	struct map woken_of; /* tid -> the node of who has woken it, and it has not run since */
	uint64_t by_end[STACK_END_N];
	struct map block_of; /* number -> blocks */
	VEC(struct growth_block) blocks;
	size_t max_bytes; /* of the tree; 0 = any */
	size_t fold_at;   /* ... and where it is folded next, if that is more */
	uint64_t n_folded;
};

void growth_done(struct growth *growth);
/* The next profile of a recording in pieces: an empty tree, in which threads are still in the calls that they
 * were in. */
void growth_next(struct growth *growth, struct cct *cct);
struct growth_events growth_events_of(const struct source_info *info);
/* A sample of the thread, which is the caller's own index. Allocates nothing in the steady state. */
/* Returns the node. */
uint32_t growth_add(struct growth *growth, const struct event *event, uint32_t thread,
		    const struct growth_events *events, const struct stack *stack);
/* The thread is gone, or what it runs; so are the goroutines of the process that it was the first one of. */
void growth_forget(struct growth *growth, pid_t tid);
/* Folds the tree if it has outgrown its bound; since: as cct_fold has it, or NULL. True if it did. */
bool growth_keep_bound(struct growth *growth, const struct cct_since *since);
/* The thread is back from where it was last sampled leaving its CPU. */
void growth_add_wait(struct growth *growth, const struct event *event, uint32_t thread,
		     const struct growth_events *events);
/* A sample of who wakes a thread that waits: its path hangs below the wait. */
void growth_add_waker(struct growth *growth, const struct event *event, const struct stack *stack);
/* Nothing was added so far; the tree has no values. */
void growth_reset(struct growth *growth);
/* These blocks are held. */
void growth_hold(struct growth *growth, const uint64_t *numbers, size_t n);
