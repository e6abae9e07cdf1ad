/* SPDX-License-Identifier: Apache-2.0 */
/*
 * push: profiles on their way to servers. What is to be sent waits as files of a folder, oldest first, so it
 * outlives the daemon; there is a bound on them, beyond which the oldest go and are counted. A child without
 * rights sends them, and says which were taken; what failed is tried again, less and less often.
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
