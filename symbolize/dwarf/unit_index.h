/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit_index: which units of a debug file describe the code at an address.
 *
 * The root entry of a unit says which code it covers; if it does not, .debug_aranges may. If no unit of a
 * file says what it covers, any unit may cover any address.
 */
#pragma once

#include "symbolize/dwarf/dwarf.h"

struct unit_extent {
	uint64_t start, end;
	uint32_t unit; /* index in dwarf.units */
};

struct unit_index {
	VEC(struct unit_extent) extents; /* sorted by start */
	uint64_t *reach;                 /* per extent: the furthest end of it and all before it */
	bool is_blind;                   /* no unit says what it covers */
};

/* image: extents that do not start in its code belong to functions that the linker removed. */
void unit_index_build(struct unit_index *index, const struct dwarf *dwarf, const struct image *image);
void unit_index_done(struct unit_index *index);

#define UNIT_INDEX_MAX 8 /* units that claim one address; two are already rare */
/* Writes the units that cover vaddr, each once; returns how many. */
size_t unit_index_find(const struct unit_index *index, uint64_t vaddr, uint32_t ret[UNIT_INDEX_MAX]);
