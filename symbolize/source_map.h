/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_map: maps recorded source paths to paths on this machine.
 */
#pragma once

#include "symbolize/function_map.h"

struct source_map {
	const char *from,
		*to; /* a path that starts with from, at the border of a component, starts with to instead */
};

/* Rewrites the file names of the maps from index `first` on; the first rule that fits holds. */
void source_map_apply(const struct source_map *rules, size_t n, struct intern *strings, function_maps *maps,
		      size_t first);
