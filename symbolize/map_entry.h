/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map_entry: the function maps of an image in the format of the store, used in place.
 *
 * Opening checks only the header of an entry. A map is checked when it is requested, so the cost depends on
 * the functions requested, not on the number of functions in the entry. The bytes are not trusted: an index
 * that is out of bounds results in no map or an empty text, never in a read out of bounds.
 */
#pragma once

#include "base/bytes.h"
#include "symbolize/function_map.h"

#define MAP_ENTRY_VERSION \
	8 /* of the following structs, and of those of function_map.h that an entry contains */

/* An entry: the header, then maps, lines, inlines, ranges, where each string starts in the text, the text. */
struct stored_header {
	uint32_t n_maps, n_lines, n_inlines, n_ranges, n_strings, n_text;
	uint32_t reserved[2];
};

struct stored_map {
	uint64_t vaddr, size, parent_vaddr;
	uint32_t name, linkage, decl_file, decl_line, end_line, scope, source;
	uint32_t first_line, n_lines, first_inline, n_inlines, first_range, n_ranges;
	uint32_t reserved;
};

struct map_entry {
	struct stored_header header;
	const struct stored_map *maps; /* sorted by vaddr, none overlapping, if the entry is ours */
	const struct line_row *lines;
	const struct inline_call *inlines;
	const struct inline_range *ranges;
	const uint32_t *strings;
	const char *text; /* its last byte is zero: every string ends */
};

/* False if the bytes, which must be aligned to 8, are not an entry. Borrows them. */
bool map_entry_open(struct bytes bytes, struct map_entry *ret);
/* The map that covers an address; NULL if there is none. */
const struct stored_map *map_entry_find(const struct map_entry *entry, uint64_t vaddr);
/*
 * The map without copying: arrays belong to the entry, strings are numbers for map_entry_text. Must not be
 * passed to function_map_done. False if its arrays are not inside the entry.
 */
bool map_entry_view(const struct map_entry *entry, const struct stored_map *stored, struct function_map *ret);
/* "" if there is no such number. */
const char *map_entry_text(const struct map_entry *entry, uint32_t id);
