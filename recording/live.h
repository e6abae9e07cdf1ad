/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live: exports during a recording, each written by a forked child, like checkpoints, so that the rings are
 * drained meanwhile.
 *
 * A stream writes one document per interval to standard output as ndjson: each is complete, from its header
 * to its end record, and contains only the costs of that interval. A watched file is rewritten with all data
 * so far. An export that takes longer than the interval delays the next one; nothing is lost, intervals
 * become longer.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/child.h"
#include "profile/resolve.h"
#include "recording/workers.h"
#include "report/export/exporter.h"

struct live {
	const struct exporter *exporter; /* NULL = nothing to do */
	const char *path;                /* the watched file; NULL = a stream */
	bool is_whole;                   /* a stream that writes everything so far, not only what is new */
	mode_t mode;                     /* of that file, as in export_choice */
	char *const *labels;             /* as in export_options */
	size_t n_labels;
	uint64_t interval_ns, start_ns, last_ns, next_ns;
	struct child writer;
	bool is_last;                   /* this is the last export */
	bool is_told;                   /* the result of the last export was reported */
	struct profile_quality quality; /* as of then */
};

/* What is exported. */
struct live_input {
	struct profile *profile; /* belongs to the workers; not changed */
	struct images *images;
	const struct resolve_options *names;
	struct workers *workers;
};

/* Before anything is started: can this file be used with --watch? -EINVAL if its name does not determine the
 * format. */
int live_check(const char *watch, struct diag *diag);
/* stream_ns, watch: 0 and NULL if not requested. */
void live_init(struct live *live, uint64_t stream_ns, const char *watch, uint64_t watch_ns, uint64_t now_ns);
/* Is it time to write, and has the last writer finished? */
bool live_is_due(struct live *live, uint64_t now_ns);
void live_write(struct live *live, const struct live_input *input, uint64_t now_ns);
/* Waits until the current writer has finished. */
void live_wait(struct live *live);
/* After live_wait: writes the last interval, and waits until it is written. */
void live_finish(struct live *live, const struct live_input *input, uint64_t now_ns);
/* Has the last export ended and failed? Then ret gets the fault; each is reported once. To be called before
 * the next one is written. */
bool live_fault(struct live *live, struct diag *ret);
void live_done(struct live *live);
