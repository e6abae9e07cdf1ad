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
	const char *folder;       /* where they wait; made if it is not there */
	const char *pprof, *otlp; /* URLs; NULL = none */
	char *const *headers;     /* more lines of every request */
	size_t n_headers;
	uint64_t max_bytes; /* of what waits */
	const char *host;   /* whose profiles these are */
	void (*say)(const char *sentence);
};

struct push_counts {
	uint64_t sent, failed, refused, dropped; /* requests; failed ones are tried again */
	uint64_t queued, queued_bytes;           /* files that wait */
};

struct push;
/* Options are copied; what they point to must stay. */
int push_open(const struct push_options *options, struct push **ret, struct diag *diag);
/* Takes NULL, too. */
void push_close(struct push *push);

/* One file for each process name and server, of a profile with names. May be called in a child. */
void push_add(struct push *push, const struct profile *profile);
/* About once a second: takes note of what was sent, keeps the bound, sends on. */
void push_tick(struct push *push);
/* Until all is sent or something fails, and no longer than that. */
void push_finish(struct push *push, uint64_t max_ns);
struct push_counts push_counts(const struct push *push);
