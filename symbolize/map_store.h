/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map_store: function maps of an image, cached between runs. An entry contains every map that was ever
 * requested. Single answers are read in place (map_entry); callers that need maps unpack it.
 */
#pragma once

#include "base/store.h"
#include "base/writer.h"
#include "symbolize/function_map.h"

/* identity: of the image and its debug files. */
struct store_key map_store_key(uint64_t identity, bool demangles);

/*
 * Appends the maps of an entry that cover one of the sorted addresses, with image id set and their strings
 * added. Returns false, and appends nothing, if the entry is not valid.
 */
bool map_store_unpack(struct bytes entry, image_id id, const uint64_t *vaddrs, size_t n,
		      struct intern *strings, function_maps *ret);
/* The same for all of its maps. */
bool map_store_unpack_all(struct bytes entry, image_id id, struct intern *strings, function_maps *ret);

/* Maps sorted by vaddr, not overlapping, and their strings. */
struct map_list {
	const struct function_map *at;
	size_t n;
	const struct intern *strings;
};

/* Packs both lists into one entry. Maps of the second that overlap one of the first are left out. */
void map_store_pack(struct map_list first, struct map_list second, struct writer *ret);
