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

/* Reads JIT code from a process. */
struct code_reader {
	ssize_t (*read)(void *context, const struct code_wanted *wanted, uint64_t addr, void *to, size_t len);
	void *context;
};

struct worker;
/* options->read_code is set by the worker. code.read may be NULL. max_bytes: limit of its tree. The thread is
 * not started yet. */
struct worker *worker_new(struct images *images, const struct isa *isa,
			  const struct unwinder_options *options, struct code_reader code,
			  const struct growth_events *events, size_t max_bytes);
/* -errno if no thread can be created. */
int worker_start(struct worker *worker);
/* Ends the thread after all its work is done. */
void worker_free(struct worker *worker);

/* If it was not started: unwinds in the caller's thread, for the caller's tree. */
const struct stack *worker_walk(struct worker *worker, const struct event *event);
struct unwinder *worker_unwinder(struct worker *worker);

/*
 * If it was started: copies the event, and sends a batch as soon as it is large enough. number increases with
 * each sample. True if a batch was sent: then call worker_reap before the next call.
 */
bool worker_send(struct worker *worker, const struct event *event, uint64_t number, uint32_t thread);
/* Sends the current batch; afterwards call worker_reap as well. */
void worker_flush(struct worker *worker);
/* The same, and waits until everything is done. */
void worker_wait(struct worker *worker);
/* Is nothing pending for it, queued or being processed? */
bool worker_is_idle(const struct worker *worker);
/* Calls tell for samples that are done, in order, each once. */
void worker_reap(struct worker *worker, void (*tell)(void *context, const struct batch_item *item),
		 void *context);
/* The tree; valid until the next worker_send. */
struct shard worker_shard(const struct worker *worker);
/* Starts with an empty tree; the worker must be idle. */
void worker_restart(struct worker *worker);
const uint64_t *worker_ends(const struct worker *worker); /* by enum stack_end */
uint64_t worker_n_folded(const struct worker *worker);    /* contexts, to stay within its limit */
void worker_mark_told(struct worker *worker);             /* cct_tell */
