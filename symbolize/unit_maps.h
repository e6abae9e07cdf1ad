/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit_maps: function maps of one unit, for the requested addresses in it.
 */
#pragma once

#include "symbolize/dwarf/dwarf_cache.h"
#include "symbolize/function_map.h"
#include "symbolize/naming.h"

struct unit_hits {
	const struct unit *unit;  /* has the line program */
	const struct unit *split; /* has the entries, if they are in another file; otherwise NULL */
	const uint64_t *vaddrs;   /* sorted */
	size_t n;
	bool is_guess; /* they may belong to other units, so symbols are not used */
};

/*
 * Appends a map for each part of a function that covers an address. An address inside the unit but in none of
 * its functions (assembly) gets a map from the symbol that covers it. String ids are those of the cache.
 * Returns false if the unit is damaged; the maps that could be read are still appended.
 */
bool unit_maps(struct dwarf_cache *cache, struct naming *naming, const struct unit_hits *hits,
	       function_maps *ret);
