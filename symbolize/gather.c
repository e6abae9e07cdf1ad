/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/gather.h"

#include <stdlib.h>

#include "base/alloc.h"

/* A map, and the shard whose strings it uses. */
struct found {
	struct function_map map;
	uint32_t shard, unit;
};

static int gather_compare_maps(const void *left, const void *right)
{
	const struct function_map *a = left, *b = right;
	bool a_is_entry = function_map_is_described(a), b_is_entry = function_map_is_described(b);

	if (a->image != b->image)
		return a->image < b->image ? -1 : 1;
	if (a->vaddr != b->vaddr)
		return a->vaddr < b->vaddr ? -1 : 1;
	return a_is_entry == b_is_entry ? 0 : a_is_entry ? -1 : 1;
}

static int compare_found(const void *left, const void *right)
{
	const struct found *a = left, *b = right;
	int order = gather_compare_maps(&a->map, &b->map);

	return order ? order : a->unit < b->unit ? -1 : a->unit > b->unit;
}

/* Maps one thread's string ids to the caller's. */
struct renumbering {
	const struct intern *from;
	struct intern *to;
	uint32_t *ids; /* 0 = not seen yet; "" is 0 on both sides */
};

static void gather_renumber(struct renumbering *r, uint32_t *id)
{
	if (*id && !r->ids[*id])
		r->ids[*id] = intern_add_n(r->to, r->from->strings.at[*id], r->from->lengths.at[*id]);
	*id = r->ids[*id];
}

static void renumber_map(struct renumbering *r, struct function_map *map)
{
	gather_renumber(r, &map->name);
	gather_renumber(r, &map->linkage);
	gather_renumber(r, &map->decl_file);
	gather_renumber(r, &map->scope);
	for (size_t i = 0; i < map->lines.n; i++)
		gather_renumber(r, &map->lines.at[i].file);
	for (size_t i = 0; i < map->inlines.n; i++) {
		gather_renumber(r, &map->inlines.at[i].name);
		gather_renumber(r, &map->inlines.at[i].linkage);
		gather_renumber(r, &map->inlines.at[i].decl_file);
		gather_renumber(r, &map->inlines.at[i].call_file);
	}
}

/* Truncates a map to [its start, end). */
static void truncate_map(struct function_map *map, uint64_t end)
{
	uint32_t size = (uint32_t)(end - map->vaddr);

	map->size = size;
	while (map->lines.n && map->lines.at[map->lines.n - 1].offset >= size)
		map->lines.n--;
	while (map->ranges.n && map->ranges.at[map->ranges.n - 1].start >= size)
		map->ranges.n--;
	if (map->ranges.n && map->ranges.at[map->ranges.n - 1].end > size)
		map->ranges.at[map->ranges.n - 1].end = size;
}

/* Appends the next map in order to the final ones, unless its place is already taken. */
static void gather_settle_map(function_maps *settled, size_t first, struct function_map *map)
{
	struct function_map *last = settled->n > first ? &settled->at[settled->n - 1] : NULL;
	bool overlaps = last && last->image == map->image && map->vaddr < last->vaddr + last->size;

	if (overlaps && (last->vaddr == map->vaddr || !function_map_is_described(map))) {
		function_map_done(map);
		return;
	}
	if (overlaps)
		truncate_map(last, map->vaddr);
	vec_push(settled, *map);
}

void gather_settle(function_maps *maps, size_t first)
{
	size_t n = maps->n;

	if (n > first)
		qsort(maps->at + first, n - first, sizeof(*maps->at), gather_compare_maps);
	maps->n = first;
	for (size_t i = first; i < n; i++) {
		struct function_map map = maps->at[i]; /* its place may be overwritten */
		gather_settle_map(maps, first, &map);
	}
}

void gather(struct gather_shard *const *shards, size_t n, struct intern *strings, function_maps *ret)
{
	VEC(struct found) found = { 0 };
	struct renumbering *renumberings = alloc_zero(n, sizeof(*renumberings));
	size_t first = ret->n;

	for (size_t i = 0; i < n; i++) {
		struct gather_shard *shard = shards[i];
		renumberings[i] =
			(struct renumbering){ shard->strings, strings,
					      alloc_zero(shard->strings->strings.n, sizeof(uint32_t)) };
		for (size_t j = 0; j < shard->maps.n; j++)
			vec_push(&found,
				 (struct found){ shard->maps.at[j], (uint32_t)i, shard->units.at[j] });
		vec_clear(&shard->maps);
	}
	if (found.n)
		qsort(found.at, found.n, sizeof(*found.at), compare_found);
	for (size_t i = 0; i < found.n; i++) {
		/* In this order, so that ids do not depend on how the threads ran. */
		renumber_map(&renumberings[found.at[i].shard], &found.at[i].map);
		gather_settle_map(ret, first, &found.at[i].map);
	}
	for (size_t i = 0; i < n; i++)
		free(renumberings[i].ids);
	free(renumberings);
	vec_done(&found);
}

void gather_rename(function_maps *maps, size_t first, const struct intern *from, struct intern *to)
{
	struct renumbering renumbering = { from, to, alloc_zero(from->strings.n, sizeof(uint32_t)) };

	for (size_t i = first; i < maps->n; i++)
		renumber_map(&renumbering, &maps->at[i]);
	free(renumbering.ids);
}
