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
	const struct exporter *exporter; /* NULL = there is nothing to do */
	const char *path;                /* the watched file; NULL = a stream */
	bool is_whole;                   /* a stream tells all so far, not only what is new */
	mode_t mode;                     /* of that file, as in export_choice */
	char *const *labels;             /* as in export_options */
	size_t n_labels;
	uint64_t interval_ns, start_ns, last_ns, next_ns;
	struct child writer;
	bool is_last;                   /* no export comes after the one that is written */
	bool is_told;                   /* what became of the last export */
	struct profile_quality quality; /* as of then */
};

/* What is exported, and who made it. */
struct live_input {
	struct profile *profile; /* the workers'; it is left as it is */
	struct images *images;
	const struct resolve_options *names;
	struct workers *workers;
};

/* Before anything is started: can this file be watched with? -EINVAL if its name does not say which format to
 * write. */
int live_check(const char *watch, struct diag *diag);
/* stream_ns, watch: 0 and NULL if not asked for. */
void live_init(struct live *live, uint64_t stream_ns, const char *watch, uint64_t watch_ns, uint64_t now_ns);
/* Is it time to write, and the last writer through? */
bool live_is_due(struct live *live, uint64_t now_ns);
void live_write(struct live *live, const struct live_input *input, uint64_t now_ns);
/* Until the writer at work is through. */
void live_wait(struct live *live);
/* After live_wait: the last interval, until it is written. */
void live_finish(struct live *live, const struct live_input *input, uint64_t now_ns);
/* Has the last export ended, and failed? Then the fault is in ret; each is told once. To be asked before the
 * next one is written. */
bool live_fault(struct live *live, struct diag *ret);
void live_done(struct live *live);
