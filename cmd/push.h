/* SPDX-License-Identifier: Apache-2.0 */
/*
 * push: sends profiles to servers. The queue is a directory of files, so it outlives the daemon; its size is
 * limited, and the oldest files beyond the limit are discarded and counted. A child without privileges sends
 * them, oldest first, and reports which were accepted; failed requests are retried at increasing intervals.
 */
#pragma once

#include "base/diag.h"
#include "profile/profile.h"

#define PUSH_HEADERS_MAX 16

struct push_options {
	const char *folder;       /* of the queue; created if it does not exist */
	const char *pprof, *otlp; /* URLs; NULL = none */
	char *const *headers;     /* additional lines of every request */
	size_t n_headers;
	uint64_t max_bytes; /* of the queue */
	const char *host;   /* whose profiles these are */
	void (*say)(const char *sentence);
};

struct push_counts {
	uint64_t sent, failed, refused, dropped; /* requests; failed ones are tried again */
	uint64_t queued, queued_bytes;           /* files in the queue */
};

struct push;
/* Options are copied; what they point to must remain valid. */
int push_open(const struct push_options *options, struct push **ret, struct diag *diag);
/* push may be NULL. */
void push_close(struct push *push);

/* Adds one file for each process name and server, from a profile with names. May be called in a child
 * process. */
void push_add(struct push *push, const struct profile *profile);
/* To be called about once a second: processes what was sent, enforces the limit, continues sending. */
void push_tick(struct push *push);
/* Waits until everything was sent or something fails, at most max_ns. */
void push_finish(struct push *push, uint64_t max_ns);
struct push_counts push_counts(const struct push *push);
