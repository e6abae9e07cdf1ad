/* SPDX-License-Identifier: Apache-2.0 */
#include "report/annotate/way_lines.h"

uint32_t way_line(const struct function_map *map, uint64_t block)
{
	const struct line_row *row = map && block >= map->vaddr && block - map->vaddr <= UINT32_MAX
					     ? function_map_line(map, (uint32_t)(block - map->vaddr))
					     : NULL;

	return row && row->file == map->decl_file ? row->line : 0;
}

static bool way_lines_have(const way_lines *lines, uint32_t line)
{
	for (size_t i = 0; i < lines->n; i++)
		if (lines->at[i] == line)
			return true;
	return false;
}

void way_lines_find(const struct function_map *map, const uint64_t *blocks, size_t n, way_lines *ret)
{
	vec_clear(ret);
	for (size_t i = 0; i < n; i++) {
		uint32_t line = way_line(map, blocks[i]);
		if (line && !way_lines_have(ret, line))
			vec_push(ret, line);
	}
}
