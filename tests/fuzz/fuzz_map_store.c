/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_map_store: an entry of the store. The store's own checksum would reject nearly all of these; what
 * is behind it must not depend on that. What unpacks must pack to something that unpacks the same.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* As in a mapped file, the entry is aligned. */
	uint8_t *copy = alloc_zero(1, size + 1);
	struct intern strings, again;
	function_maps maps = { 0 }, twice = { 0 };
	struct writer packed = { 0 };

	memcpy(copy, data, size);
	intern_init(&strings);
	intern_init(&again);
	if (map_store_unpack_all((struct bytes){ copy, size }, 1, &strings, &maps)) {
		check_maps(&maps, &strings);
		map_store_pack((struct map_list){ maps.at, maps.n, &strings }, (struct map_list){ 0 }, &packed);
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
