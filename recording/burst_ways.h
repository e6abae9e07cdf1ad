/* SPDX-License-Identifier: Apache-2.0 */
/*
 * burst_ways: assigns the steps of a burst to functions, blocks and execution paths (ways).
 */
#pragma once

#include "base/bytes.h"
#include "base/hash.h"
#include "recording/paths.h"

struct burst_ways {
	struct paths *paths;
	char *const *names; /* requested functions; none = all */
	size_t n_names, n_bursts;
	struct map function_of;           /* (map, start of a function) -> index, or BURST_REFUSED */
	VEC(struct burst_image *) images; /* functions of images, by image */
	VEC(struct burst_count) counts;
	VEC(struct burst_frame) frames; /* of the current burst */
};

void burst_ways_init(struct burst_ways *ways, struct paths *paths, char *const *names, size_t n_names);
/* One burst: addresses in the process, 8 bytes each. */
void burst_ways_add(struct burst_ways *ways, struct bytes pcs);
/* Consecutive taken branches, {u64 from, to, flags} each, newest first: the steps between them follow from
 * the code. */
void burst_ways_add_branches(struct burst_ways *ways, struct bytes branches);
/* Computes counts and intervals of the functions of paths, and frees everything else. */
void burst_ways_finish(struct burst_ways *ways);
