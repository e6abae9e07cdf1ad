/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel: how a fenced child (fence.h) gets at what it may not take itself. It asks, and its parent decides.
 *
 * Messages in the order they are sent, each of a kind and some bytes. A request is answered with a number,
 * which is 0 or a negative errno, and perhaps an open file. To the parent all that comes from a child is
 * foreign input. Any thread of the child may ask; the parent serves with one.
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
	CHANNEL_TELL,     /* something to be shown: what is for whoever uses the channel to say */
	CHANNEL_ASK,      /* something else that is answered */
	CHANNEL_RESULT,   /* what it was all about: the last message */
};

#define CHANNEL_MAX (1ull << 30) /* bytes of a message */

struct channel {
	int socket;
	pthread_mutex_t lock;
};

/* Two connected ends: the parent's, and the child's. -errno if there are none. */
int channel_pair(int ret_ends[2]);
void channel_init(struct channel *channel, int socket);

/* ---- in the child --------------------------------------------------------------------------- */

/* Without an answer; false if nobody listens any more. */
bool channel_tell(struct channel *channel, enum channel_kind kind, struct bytes bytes);
/* An open file, or a negative errno; bytes of the answer go to ret unless it is NULL. */
int channel_ask(struct channel *channel, enum channel_kind kind, struct bytes bytes, struct writer *ret);

/* ---- in the parent -------------------------------------------------------------------------- */

/* The next message, into *ret, which is cleared; its kind, 0 if there will be none any more, -errno if it is
 * no message. */
int channel_receive(int socket, struct writer *ret);
/* fd: an open file, which stays open here, or -1. error: 0 or a negative errno. */
bool channel_answer(int socket, int error, int fd, struct bytes bytes);
