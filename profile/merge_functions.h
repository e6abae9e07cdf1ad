/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of merge that knows what function maps, structures and code look like inside.
 */
#pragma once

#include "profile/profile.h"

struct merge {
	struct profile *into;
	const struct profile *from;
	uint32_t *string, *image, *metric; /* what an index of `from` is in `into` */
	uint32_t first_thread;             /* thread i of `from` is first_thread + i */
	size_t n_images_before;
	uint64_t shift_ns, into_shift_ns; /* what is added to times of `from`, and to those that were there */
};

/* Afterwards every function is there once, in order. Where both know one, the better source wins. */
void merge_functions(struct merge *m);
