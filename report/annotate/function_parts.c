/* SPDX-License-Identifier: Apache-2.0 */
#include "report/annotate/function_parts.h"

#include <stdlib.h>

#include "base/search.h"

struct part_order {
	uint64_t function;
	image_id image;
	uint32_t map;
};

static int part_order_compare(const void *left, const void *right)
{
	const struct part_order *a = left, *b = right;

	if (a->image != b->image)
		return a->image < b->image ? -1 : 1;
	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	return a->map < b->map ? -1 : a->map > b->map;
}

void function_parts_init(struct function_parts *parts, const struct profile *profile)
{
	size_t n = profile->functions.n;
	struct part_order *order = alloc_zero(n + 1, sizeof(*order));

	*parts = (struct function_parts){ .profile = profile };
	for (uint32_t i = 0; i < n; i++) {
		const struct function_map *map = &profile->functions.at[i];
		order[i] = (struct part_order){ map->parent_vaddr, map->image, i };
	}
	qsort(order, n, sizeof(*order), part_order_compare);
	vec_reserve(&parts->maps, n);
	for (size_t i = 0; i < n; i++)
		vec_push(&parts->maps, order[i].map);
	free(order);
}

void function_parts_done(struct function_parts *parts)
{
	vec_done(&parts->maps);
}

static bool part_is_behind(const struct function_parts *parts, size_t at, image_id image, uint64_t function,
			   bool or_in)
{
	const struct function_map *map = &parts->profile->functions.at[parts->maps.at[at]];

	if (map->image != image)
		return map->image > image;
	return map->parent_vaddr > function || (or_in && map->parent_vaddr == function);
}

void function_parts_find(const struct function_parts *parts, image_id image, uint64_t function,
			 size_t *ret_from, size_t *ret_to)
{
	size_t n = parts->maps.n;

	*ret_from = search_first(i, n, part_is_behind(parts, i, image, function, true));
	*ret_to = search_first(i, n, part_is_behind(parts, i, image, function, false));
}
