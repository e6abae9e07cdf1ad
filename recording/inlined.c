/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/inlined.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/intern.h"
#include "binary/elf/symbols.h"
#include "symbolize/symbolizer.h"

#define FUNCTIONS_MAX 20000
#define NAMES_SHOWN 3

/* The start of every function, each once: symbols are sorted. */
static uint64_t *inlined_starts(struct image *image, size_t *ret_n)
{
	struct symbols *symbols = symbols_read(image);
	uint64_t *starts = alloc_zero(symbols->n + 1, sizeof(*starts));
	size_t n = 0;

	for (size_t i = 0; i < symbols->n; i++)
		if (image_is_code(image, symbols->at[i].vaddr) &&
		    (!n || starts[n - 1] != symbols->at[i].vaddr))
			starts[n++] = symbols->at[i].vaddr;
	symbols_free(symbols);
	*ret_n = n;
	return starts;
}

static bool inlined_holds(const struct function_map *map, const struct intern *strings, const char *pattern)
{
	for (size_t i = 0; i < map->inlines.n; i++) {
		const struct inline_call *call = &map->inlines.at[i];
		const char *name = intern_text(strings, call->name);
		if (chosen_fits(pattern, call->linkage ? intern_text(strings, call->linkage) : name, name))
			return true;
	}
	return false;
}

size_t inlined_find(const struct symbolizer_options *options, struct image *image, const char *pattern,
		    struct text *ret)
{
	CLEANUP(function_maps_done) function_maps maps = { 0 };
	struct intern strings;
	size_t n, n_found = 0;
	CLEANUP(freep) uint64_t *starts = inlined_starts(image, &n);
	struct symbolizer_request request = { .image = image, .vaddrs = starts, .n = n };

	if (!n || n > FUNCTIONS_MAX)
		return 0;
	intern_init(&strings);
	symbolize(options, &request, 1, &strings, &maps);
	for (size_t i = 0; i < maps.n; i++) {
		if (!inlined_holds(&maps.at[i], &strings, pattern))
			continue;
		if (n_found++ < NAMES_SHOWN)
			text_printf(ret, "%s%s", n_found > 1 ? ", " : "",
				    intern_text(&strings, maps.at[i].name));
	}
	if (n_found > NAMES_SHOWN)
		text_printf(ret, " and %zu more", n_found - NAMES_SHOWN);
	free(request.how);
	intern_done(&strings);
	return n_found;
}
