/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/function_map.h"

#include "base/search.h"

void function_map_done(struct function_map *map)
{
	vec_done(&map->lines);
	vec_done(&map->inlines);
	vec_done(&map->ranges);
}

void function_maps_done(function_maps *maps)
{
	for (size_t i = 0; i < maps->n; i++)
		function_map_done(&maps->at[i]);
	vec_done(maps);
}

const struct function_map *function_maps_find(const struct function_map *maps, size_t n, image_id image,
					      uint64_t vaddr)
{
	size_t behind = search_first(
		i, n, maps[i].image > image || (maps[i].image == image && maps[i].vaddr > vaddr));
	const struct function_map *map = behind ? &maps[behind - 1] : NULL;

	return map && map->image == image && vaddr - map->vaddr < map->size ? map : NULL;
}

bool function_map_is_described(const struct function_map *map)
{
	return map->source == MAP_FROM_DWARF || map->source == MAP_FROM_FLAT_DWARF;
}

const struct line_row *function_map_line(const struct function_map *map, uint32_t offset)
{
	size_t behind = search_first(i, map->lines.n, map->lines.at[i].offset > offset);

	return behind ? &map->lines.at[behind - 1] : NULL;
}

uint32_t function_map_inline(const struct function_map *map, uint32_t offset)
{
	size_t at = search_first(i, map->ranges.n, map->ranges.at[i].end > offset);
	const struct inline_range *range = at < map->ranges.n ? &map->ranges.at[at] : NULL;

	return range && range->start <= offset && range->call < map->inlines.n ? range->call : INLINE_NONE;
}

size_t function_map_locate(const struct function_map *map, uint32_t offset, struct location *ret, size_t max)
{
	const struct line_row *row = function_map_line(map, offset);
	struct location here = { 0 };
	size_t n = 0;

	if (row)
		here = (struct location){ .file = row->file, .line = row->line, .column = row->column };

	/* Parents precede children, so each step lowers the index; a map that violates this ends the chain.
	 */
	for (uint32_t call = function_map_inline(map, offset), last = INLINE_NONE;
	     call < last && call < map->inlines.n && n + 1 < max;
	     last = call, call = map->inlines.at[last].parent) {
		const struct inline_call *inlined = &map->inlines.at[call];
		here.function = inlined->name;
		here.linkage = inlined->linkage;
		here.decl_file = inlined->decl_file;
		here.decl_line = inlined->decl_line;
		here.is_inlined = true;
		ret[n++] = here;
		here = (struct location){ .file = inlined->call_file,
					  .line = inlined->call_line,
					  .column = inlined->call_column };
	}
	here.function = map->name;
	here.linkage = map->linkage;
	here.decl_file = map->decl_file;
	here.decl_line = map->decl_line;
	here.is_inlined = false;
	ret[n++] = here;
	return n;
}
