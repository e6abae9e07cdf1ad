/* SPDX-License-Identifier: Apache-2.0 */
/*
 * function_parts: which maps of a profile belong to one function: its own and those of parts that were split
 * off. Maps are sorted by address, so the parts of a function may be anywhere in its image.
 */
#pragma once

#include "profile/profile.h"

struct function_parts {
	const struct profile *profile;
	VEC(uint32_t) maps; /* all of the profile's, by image, function, address */
};

void function_parts_init(struct function_parts *parts, const struct profile *profile);
void function_parts_done(struct function_parts *parts);
/* Those of one function are [ret_from, ret_to) of parts->maps. */
void function_parts_find(const struct function_parts *parts, image_id image, uint64_t function,
			 size_t *ret_from, size_t *ret_to);
