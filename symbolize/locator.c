/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/locator.h"

#include <stdlib.h>

#include "base/search.h"
#include "symbolize/map_entry.h"

/* Either the entry or the maps. */
struct locator {
	struct bytes stored; /* empty: the store did not have everything */
	struct map_entry entry;
	function_maps maps;
	struct intern strings;
};

struct locator *locator_new(const struct symbolizer_options *options, struct image *image,
			    const uint64_t *vaddrs, size_t n)
{
	struct locator *locator = alloc_zero(1, sizeof(*locator));
	struct symbolizer_request request = { .image = image, .vaddrs = vaddrs, .n = n, .takes_entry = true };

	intern_init(&locator->strings);
	symbolize(options, &request, 1, &locator->strings, &locator->maps);
	free(request.how);
	locator->stored = request.entry;
	if (request.entry.len)
		map_entry_open(request.entry, &locator->entry);
	return locator;
}

void locator_free(struct locator *locator)
{
	if (!locator)
		return;
	store_release(locator->stored);
	function_maps_done(&locator->maps);
	intern_done(&locator->strings);
	free(locator);
}

static size_t find_stored(const struct map_entry *entry, uint64_t vaddr, struct location *ret, size_t max)
{
	const struct stored_map *stored = map_entry_find(entry, vaddr);
	struct function_map view;

	if (!stored || !map_entry_view(entry, stored, &view))
		return 0;
	return function_map_locate(&view, (uint32_t)(vaddr - view.vaddr), ret, max);
}

size_t locator_find(const struct locator *locator, uint64_t vaddr, struct location *ret, size_t max)
{
	const function_maps *maps = &locator->maps;

	if (locator->stored.len)
		return find_stored(&locator->entry, vaddr, ret, max);
	size_t behind = search_first(i, maps->n, maps->at[i].vaddr > vaddr);
	if (behind == 0 || vaddr - maps->at[behind - 1].vaddr >= maps->at[behind - 1].size)
		return 0;
	return function_map_locate(&maps->at[behind - 1], (uint32_t)(vaddr - maps->at[behind - 1].vaddr), ret,
				   max);
}

const char *locator_text(const struct locator *locator, uint32_t id)
{
	return locator->stored.len ? map_entry_text(&locator->entry, id) : intern_text(&locator->strings, id);
}
