/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prefetch: names and loops of what was sampled so far are looked up while the recording goes on, so that
 * the store knows most of them when it ends and nobody waits for them then.
 *
 * A forked child does it, which has its own copy of everything and takes only the time that nobody else
 * on the machine wants. It leaves nothing but what it has put into the store: it can be ended at any moment,
 * and the profile is the same with and without it. Each one comes when the recording is half as old again as
 * at the last, and only if the tree has grown: a fork costs the recording a copy of every page that it then
 * writes to.
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
	size_t n_nodes; /* of the tree, at the last */
};

/* is_wanted: names will be looked up at the end, and there is a store. */
void prefetch_init(struct prefetch *prefetch, bool is_wanted, uint64_t now_ns);
bool prefetch_is_due(struct prefetch *prefetch, uint64_t now_ns);
/* Returns at once; does nothing if there is little new. The profile is the workers'. */
void prefetch_start(struct prefetch *prefetch, struct profile *profile, struct images *images,
		    const struct resolve_options *options, const struct workers *workers);
/* Ends the one at work: what it has not looked up yet is looked up faster at normal priority. */
void prefetch_end(struct prefetch *prefetch);
