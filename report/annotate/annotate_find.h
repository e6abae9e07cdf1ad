/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotate_find: finds the function that a user has named.
 */
#pragma once

#include "base/vec.h"
#include "profile/profile.h"

/* How well a name matches: not at all, similar spelling, part of the name, without parameters, the whole
 * name. */
enum annotate_fit { FIT_NONE, FIT_CLOSE, FIT_PART, FIT_PLAIN, FIT_WHOLE };

struct annotate_choice {
	const struct function_map *map; /* NULL = its inlined copies, all together */
	uint32_t name;                  /* string id */
	uint64_t cost;                  /* of its own code, in the given metric */
	unsigned fit, distance;         /* distance: edit distance, for FIT_CLOSE */
};

typedef VEC(struct annotate_choice) annotate_choices;

/*
 * The sampled functions that match a name best, and functions that were inlined into them; the most expensive
 * first or, for FIT_CLOSE, the closest. Linkage names match as well. Fills ret; vec_done it. Returns how well
 * they match.
 */
enum annotate_fit annotate_find(const struct profile *profile, const char *name, uint32_t metric,
				annotate_choices *ret);
