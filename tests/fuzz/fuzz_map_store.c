/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_map_store: an entry of the store. The store's own checksum would reject nearly all of these, but the
 * code behind it must not depend on that. An entry that unpacks must pack to one that unpacks the same; one
 * that does not is still queried for locations in place.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "symbolize/map_entry.h"
#include "symbolize/map_store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_maps(const function_maps *maps, const struct intern *strings)
{
	struct location chain[LOCATION_MAX_DEPTH];

	for (size_t i = 0; i < maps->n; i++) {
		const struct function_map *map = &maps->at[i];
		if (map->size == 0 || map->name == 0 || map->name >= strings->strings.n)
			abort();
		if (i && map->vaddr < map[-1].vaddr + map[-1].size)
			abort();
		for (size_t k = 0; k < map->lines.n; k++)
			if (map->lines.at[k].file >= strings->strings.n)
				abort();
		for (size_t k = 0; k < map->ranges.n; k++)
			function_map_locate(map, map->ranges.at[k].start, chain, LOCATION_MAX_DEPTH);
	}
}

/* Reads every byte of a result. */
static size_t use(const struct map_entry *entry, const struct location *chain, size_t n)
{
	size_t used = 0;

	for (size_t i = 0; i < n; i++)
		used += strlen(map_entry_text(entry, chain[i].function)) +
			strlen(map_entry_text(entry, chain[i].file)) +
			strlen(map_entry_text(entry, chain[i].decl_file));
	return used;
}

static void check_in_place(struct bytes bytes)
{
	struct location chain[LOCATION_MAX_DEPTH];
	struct map_entry entry;
	struct function_map view;

	if (!map_entry_open(bytes, &entry))
		return;
	for (uint32_t i = 0; i < entry.header.n_maps; i++) {
		uint64_t vaddr = entry.maps[i].vaddr + entry.maps[i].size / 2;
		const struct stored_map *stored = map_entry_find(&entry, vaddr);
		if (!stored || !map_entry_view(&entry, stored, &view))
			continue;
		size_t n =
			function_map_locate(&view, (uint32_t)(vaddr - view.vaddr), chain, LOCATION_MAX_DEPTH);
		if (n == 0 || use(&entry, chain, n) == SIZE_MAX)
			abort();
		for (size_t k = 0; k < view.ranges.n; k++)
			use(&entry, chain,
			    function_map_locate(&view, view.ranges.at[k].start, chain, LOCATION_MAX_DEPTH));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Aligned, as in a mapped file. */
	uint8_t *copy = alloc_zero(1, size + 1);
	struct intern strings, again;
	function_maps maps = { 0 }, twice = { 0 };
	struct writer packed = { 0 };

	memcpy(copy, data, size);
	check_in_place((struct bytes){ copy, size });
	intern_init(&strings);
	intern_init(&again);
	if (map_store_unpack_all((struct bytes){ copy, size }, 1, &strings, &maps)) {
		check_maps(&maps, &strings);
		map_store_pack((struct map_list){ maps.at, maps.n, &strings }, (struct map_list){ 0 },
			       &packed);
		if (!map_store_unpack_all(writer_bytes(&packed), 1, &again, &twice) || twice.n != maps.n)
			abort();
	} else if (maps.n) {
		abort();
	}
	writer_done(&packed);
	function_maps_done(&maps);
	function_maps_done(&twice);
	intern_done(&strings);
	intern_done(&again);
	free(copy);
	return 0;
}
