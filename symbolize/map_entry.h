/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map_entry: the function maps of an image in the format of the store, used in place.
 *
 * Opening looks at the frame of an entry and no further; a map is looked at when it is asked for, so that an
 * answer costs what the functions asked for cost, however many the entry holds. The bytes are not trusted: a
 * number that points outside gives no map or an empty text, never a read outside.
 */
#pragma once

#include "base/bytes.h"
#include "symbolize/function_map.h"

#define MAP_ENTRY_VERSION 8 /* of what follows and of the structs of function_map.h that lie in an entry */

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

/* False if the bytes, aligned to 8, are no entry. Borrows them. */
bool map_entry_open(struct bytes bytes, struct map_entry *ret);
/* The map that covers an address; NULL if there is none. */
const struct stored_map *map_entry_find(const struct map_entry *entry, uint64_t vaddr);
/*
 * The map without copying: arrays are the entry's, strings are numbers for map_entry_text. Not to be given to
 * function_map_done. False if its arrays are not inside the entry.
 */
bool map_entry_view(const struct map_entry *entry, const struct stored_map *stored, struct function_map *ret);
/* "" for a number that is not there. */
const char *map_entry_text(const struct map_entry *entry, uint32_t id);
