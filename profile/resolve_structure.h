/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolve_structure: loops and inlined calls of the functions that were sampled.
 */
#pragma once

#include "base/store.h"
#include "profile/profile.h"
#include "structure/structurer.h"

/* An image whose functions have been named. */
struct structured_image {
	image_id id;
	struct structurer *structurer; /* NULL: no bytes, or of a machine that is not known; freed when it is
					  done with */
	struct store_key key;
	struct store *store; /* what earlier runs found; NULL = neither read nor written */
};

/*
 * Replaces profile->structures: those of the functions of these images, sorted by id, whose code can be read,
 * and as they were those of the rest. A nameless map that a function turns out to own becomes a part of it.
 * The same however many threads and whatever the stores know.
 */
void resolve_structures(struct profile *profile, struct structured_image *images, size_t n,
			unsigned n_threads);
