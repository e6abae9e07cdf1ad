/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotate_find: finds the function that a user has named.
 */
#pragma once

#include "base/vec.h"
#include "profile/profile.h"

/* How well a name fits: not at all, spelt much like it, a part of it, it without its parameters, the whole of
 * it. */
enum annotate_fit { FIT_NONE, FIT_CLOSE, FIT_PART, FIT_PLAIN, FIT_WHOLE };

struct annotate_choice {
	const struct function_map *map; /* NULL = what was inlined of it, all copies together */
	uint32_t name;                  /* string id */
	uint64_t samples;               /* of its own */
	unsigned fit, distance;         /* distance: letters to change, where it is only close */
};

typedef VEC(struct annotate_choice) annotate_choices;

/*
 * The sampled functions that a name fits best, and functions that were inlined into them; the costliest
 * first, or where they are only close the closest. Linkage names fit too. ret is filled; vec_done it. Returns
 * how well they fit.
 */
enum annotate_fit annotate_find(const struct profile *profile, const char *name, annotate_choices *ret);
