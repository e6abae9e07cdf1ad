/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_map: maps recorded source paths to paths on this machine.
 */
#pragma once

#include "symbolize/function_map.h"

struct source_map {
	const char *from, *to; /* replaces the prefix `from` of a path, which must end at the end of a
				  component, by `to` */
};

/* Rewrites the file names of the maps from index `first` on by the first rule that matches. */
void source_map_apply(const struct source_map *rules, size_t n, struct intern *strings, function_maps *maps,
		      size_t first);
