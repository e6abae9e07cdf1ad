/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker: an unwinder with its own tree and thread, and the queue to it.
 *
 * Events are sent in batches; the sender waits if too many are in the queue. The results of a worker may be
 * accessed only between worker_wait and the next worker_send.
 */
#pragma once

#include "recording/batch.h"
#include "recording/code_log.h"
#include "recording/growth.h"
#include "recording/shard.h"
#include "unwinder/unwinder.h"

/* Reads code in no file from a process. */
struct code_reader {
	ssize_t (*read)(void *context, const struct code_wanted *wanted, uint64_t addr, void *to, size_t len);
	void *context;
};

struct worker;
/* options->read_code is the worker's to set. code.read may be NULL. max_bytes: of its tree. Not started. */
struct worker *worker_new(struct images *images, const struct isa *isa,
			  const struct unwinder_options *options, struct code_reader code,
			  const struct growth_events *events, size_t max_bytes);
/* -errno if there is no thread to be had. */
int worker_start(struct worker *worker);
/* Ends the thread, when it has done all. */
void worker_free(struct worker *worker);

/* Of one that was not started: on the caller's thread, with the caller's tree. */
const struct stack *worker_walk(struct worker *worker, const struct event *event);
struct unwinder *worker_unwinder(struct worker *worker);

/*
 * Of one that was: a copy of the event, sent as soon as there is enough to send. number rises with each
 * sample. True if it was sent: then call worker_reap before the next.
 */
bool worker_send(struct worker *worker, const struct event *event, uint64_t number, uint32_t thread);
/* Sends what there is; the same holds. */
void worker_flush(struct worker *worker);
/* The same, until all of it is done. */
void worker_wait(struct worker *worker);
/* Nothing is held back for it, on its way or being done. */
bool worker_is_idle(const struct worker *worker);
/* Samples that are done, in order: each is told once. */
void worker_reap(struct worker *worker, void (*tell)(void *context, const struct batch_item *item),
		 void *context);
/* The tree; valid until the next worker_send. */
struct shard worker_shard(const struct worker *worker);
/* The tree begins anew; of an idle one. */
void worker_restart(struct worker *worker);
const uint64_t *worker_ends(const struct worker *worker); /* by enum stack_end */
uint64_t worker_n_folded(const struct worker *worker);    /* contexts, to stay within its bound */
void worker_mark_told(struct worker *worker);             /* cct_tell */
