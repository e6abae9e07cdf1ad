/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolve_pieces: as resolve_apart, for callers that keep names elsewhere than in the profile: a few images
 * are looked up at a time, and the results are handed over and freed before the next ones are looked up. So
 * the memory that is needed does not grow with the number of images.
 */
#pragma once

#include "profile/resolve.h"

struct resolve_pieces {
	void *context;
	/*
	 * Removes from the list the addresses of an image (sorted) that need not be looked up, and returns
	 * how many are left. NULL: all are looked up.
	 */
	size_t (*lacking)(void *context, const struct profile *profile, image_id image, uint64_t *vaddrs,
			  size_t n);
	/* A profile without samples. Its images are those of the profile; only some of them have names. */
	void (*take)(void *context, struct profile *names);
};

/*
 * The profile's contexts and its timeline are freed first: nothing but the addresses is needed of them. Code
 * of JIT compilers is left out: its names are no use without the profile.
 */
void resolve_in_pieces(struct profile *profile, struct images *images, const struct resolve_options *options,
		       const struct resolve_pieces *pieces);
