/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel: how a fenced child process (fence.h) accesses resources that it may not open itself. It sends
 * requests, and its parent decides.
 *
 * Messages arrive in order; each has a kind and some bytes. A request is answered with 0 or a negative errno,
 * and possibly an open file. For the parent, everything that a child sends is foreign input. Any thread of
 * the child may send requests; the parent serves them with one thread.
 */
#pragma once

#include <pthread.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/writer.h"

enum channel_kind {
	CHANNEL_OPEN = 1, /* a file, by its path: answered */
	CHANNEL_GET,      /* an entry of the store, by its key: answered */
	CHANNEL_PUT,      /* an entry for the store: key and bytes */
	CHANNEL_TELL, /* something to be shown to the user; its meaning is defined by the user of the channel
		       */
	CHANNEL_ASK,  /* another request with an answer */
	CHANNEL_RESULT, /* the final result: the last message */
};

#define CHANNEL_MAX (1ull << 30) /* bytes of a message */

struct channel {
	int socket;
	uint64_t max_ns; /* for an answer; 0 = any time */
	pthread_mutex_t lock;
};

/* Creates the parent's and the child's end. 0 or -errno. */
int channel_pair(int ret_ends[2]);
void channel_init(struct channel *channel, int socket);

/* ---- in the child --------------------------------------------------------------------------- */

/* Sends a message without an answer; false if the other end is closed. */
bool channel_tell(struct channel *channel, enum channel_kind kind, struct bytes bytes);
/* An open file, or a negative errno; bytes of the answer go to ret unless it is NULL. -ETIME: there was none
 * in time, and the channel cannot be used any more. */
int channel_ask(struct channel *channel, enum channel_kind kind, struct bytes bytes, struct writer *ret);

/* ---- in the parent -------------------------------------------------------------------------- */

struct channel_end {
	int socket;
	uint64_t deadline_ns; /* for a whole message, however its bytes arrive; 0 = none */
};

/* Receives the next message into *ret, which is cleared first. Returns its kind, 0 if there are no more
 * messages or the deadline has passed, -errno if it is malformed. */
int channel_receive(const struct channel_end *end, struct writer *ret);
/* fd: an open file, which stays open here, or -1. error: 0 or a negative errno. False: the child is gone, or
 * does not read its answers; it cannot be served any more. */
bool channel_answer(const struct channel_end *end, int error, int fd, struct bytes bytes);
