/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolve_structure: loops and inlined calls of the sampled functions.
 */
#pragma once

#include "base/store.h"
#include "profile/profile.h"
#include "structure/structurer.h"

/* An image whose functions have names. */
struct structured_image {
	image_id id;
	struct structurer
		*structurer; /* NULL: no bytes, or an unknown machine; freed when it is no longer needed */
	struct store_key key;
	struct store *store; /* results of earlier runs; NULL = neither read nor written */
};

/*
 * Replaces profile->structures for the functions of these images, sorted by id, whose code can be read; those
 * of other images are kept. A nameless map that turns out to belong to a function becomes a part of it. The
 * result depends neither on the number of threads nor on the contents of the stores.
 */
void resolve_structures(struct profile *profile, struct structured_image *images, size_t n,
			unsigned n_threads);
