/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rehearse: names and loops of what was sampled so far are looked up while the recording goes on, so that
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
#include <sys/types.h>

#include "profile/resolve.h"

struct rehearsal {
	uint64_t start_ns; /* of the recording */
	uint64_t next_ns;  /* 0 = never */
	pid_t child;       /* 0 = none at work */
	size_t n_nodes;    /* of the tree, at the last */
};

/* is_wanted: names will be looked up at the end, and there is a store. */
void rehearsal_init(struct rehearsal *rehearsal, bool is_wanted, uint64_t now_ns);
bool rehearsal_is_due(struct rehearsal *rehearsal, uint64_t now_ns);
/* Returns at once; does nothing if there is little new. */
void rehearsal_start(struct rehearsal *rehearsal, struct profile *profile, struct images *images,
		     const struct resolve_options *options);
/* Ends the one at work: what it has not yet looked up is looked up sooner by somebody in a hurry. */
void rehearsal_end(struct rehearsal *rehearsal);
