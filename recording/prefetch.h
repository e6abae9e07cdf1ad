/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prefetch: looks up symbols and loops of the code sampled so far during the recording, so that most of them
 * are in the store when it ends.
 *
 * A forked child does this, with its own copy of the data and at idle priority. Its only result is what it
 * puts into the store: it can be killed at any moment, and the profile is the same without it. A child is
 * started whenever the recording has lasted half as long again as at the previous one, and only if the tree
 * has grown: after a fork, every page that the recording writes to is copied.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/child.h"
#include "profile/resolve.h"
#include "recording/workers.h"

struct prefetch {
	uint64_t start_ns; /* of the recording */
	uint64_t next_ns;  /* 0 = never */
	struct child child;
	size_t n_nodes; /* of the tree, at the last start */
};

/* is_wanted: names will be looked up at the end, and there is a store. */
void prefetch_init(struct prefetch *prefetch, bool is_wanted, uint64_t now_ns);
bool prefetch_is_due(struct prefetch *prefetch, uint64_t now_ns);
/* Returns at once; does nothing if there is little new. The profile belongs to the workers. */
void prefetch_start(struct prefetch *prefetch, struct profile *profile, struct images *images,
		    const struct resolve_options *options, const struct workers *workers);
/* Ends a running child, without waiting for it: what it has not looked up yet is looked up faster at normal
 * priority. */
void prefetch_end(struct prefetch *prefetch);
