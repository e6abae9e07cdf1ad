/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline: how many samples each thread had in each time bin.
 *
 * Bins are narrow at first. When time exceeds the last one, all bins double in width, so that a second and a
 * week take the same memory.
 */
#pragma once

#include "base/hash.h"
#include "profile/profile.h"

#define TIMELINE_BINS 1024
#define TIMELINE_FIRST_NS 10000000 /* 10 ms: a handful of samples at the default rate */

struct timeline {
	uint64_t
		zero_ns; /* time at the start, of the clock on which bins begin at multiples of their width */
	uint64_t bin_ns;
	VEC(struct profile_bin) rows;
	struct map row_of; /* thread << 32 | bin */
};

void timeline_init(struct timeline *timeline);
/*
 * Makes bins begin at multiples of their width since 1970, like those of a merge: then merging consecutive
 * recordings gives the same result as one recording. To be called before anything is added.
 */
void timeline_align(struct timeline *timeline, uint64_t start_unix_ns);
void timeline_done(struct timeline *timeline);
/* time_ns counts from the start of the recording. */
void timeline_add(struct timeline *timeline, uint32_t thread, uint64_t time_ns);
void timeline_add_many(struct timeline *timeline, uint32_t thread, uint64_t time_ns, uint64_t samples);
/* Sets the profile's timeline, sorted by thread and bin. */
void timeline_copy(const struct timeline *timeline, struct profile *profile);
