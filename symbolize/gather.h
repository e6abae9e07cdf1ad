/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gather: combines the results of several threads into one list: sorted, without overlaps, with the caller's
 * strings, and independent of the order in which the threads ran.
 */
#pragma once

#include "symbolize/function_map.h"

/* What one thread found. */
struct gather_shard {
	function_maps maps;
	VEC(uint32_t) units; /* of each map: the number of the unit it came from */
	struct intern *strings;
};

/*
 * Appends all maps, sorted by (image, vaddr), and passes their ownership to the caller. Of two that overlap,
 * one from DWARF is preferred to one from a symbol, and otherwise that of the earlier unit.
 */
void gather(struct gather_shard *const *shards, size_t n, struct intern *strings, function_maps *ret);

/* Sorts maps from index `first` on by (image, vaddr) and removes overlaps: keeps one from DWARF, otherwise
 * the first. */
void gather_settle(function_maps *maps, size_t first);

/* Replaces the string ids of maps from index `first` on by those of another table, to which the strings are
 * added in the order in which they occur. */
void gather_rename(function_maps *maps, size_t first, const struct intern *from, struct intern *to);
