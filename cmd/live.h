/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live: exports while a recording goes on, each made by a forked child as checkpoints are, so that the
 * rings are drained meanwhile.
 *
 * --stream writes one interval after another to standard output as ndjson: each is whole in itself, from its
 * header to its end record, and holds only what that interval cost. --watch rewrites a file with all so far.
 * An export that takes longer than the interval puts off the next one; nothing is lost, intervals get longer.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "profile/resolve.h"
#include "report/export/exporter.h"

struct live {
	const struct exporter *exporter; /* NULL = there is nothing to do */
	const char *path;                /* --watch; NULL = --stream */
	uint64_t interval_ns, start_ns, last_ns, next_ns;
	pid_t writer;
	VEC(uint64_t) told;             /* --stream: values by index as of the last interval */
	struct profile_quality quality; /* as of then */
};

/* Before anything is started: can this file be watched with? -EINVAL if its name says no format. */
int live_check(const char *watch, struct diag *diag);
/* stream_s, watch: 0 and NULL if not asked for. */
void live_init(struct live *live, double stream_s, const char *watch, double watch_s, uint64_t now_ns);
/* Is it time to write, and the last writer through? */
bool live_is_due(struct live *live, uint64_t now_ns);
/* The profile is the builder's own and is left as it is. */
void live_write(struct live *live, struct profile *profile, struct images *images,
		const struct resolve_options *options, uint64_t now_ns);
/* The last interval, and the end of the writer at work. */
void live_finish(struct live *live, struct profile *profile, struct images *images,
		 const struct resolve_options *options, uint64_t now_ns);
