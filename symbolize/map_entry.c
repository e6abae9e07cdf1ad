/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/map_entry.h"

#include "base/search.h"

_Static_assert(sizeof(struct stored_header) == 32 && sizeof(struct stored_map) == 80 &&
		       sizeof(struct line_row) == 16 && sizeof(struct inline_call) == 32 &&
		       sizeof(struct inline_range) == 12,
	       "the layout is stored: raise MAP_ENTRY_VERSION");

static const void *map_entry_take(struct reader *r, uint64_t count, size_t size)
{
	return read_bytes(r, count * size).at;
}

bool map_entry_open(struct bytes bytes, struct map_entry *ret)
{
	struct reader r = reader_of(bytes);
	const struct stored_header *header = map_entry_take(&r, 1, sizeof(*header));

	if (r.failed)
		return false;
	*ret = (struct map_entry){ .header = *header };
	ret->maps = map_entry_take(&r, header->n_maps, sizeof(*ret->maps));
	ret->lines = map_entry_take(&r, header->n_lines, sizeof(*ret->lines));
	ret->inlines = map_entry_take(&r, header->n_inlines, sizeof(*ret->inlines));
	ret->ranges = map_entry_take(&r, header->n_ranges, sizeof(*ret->ranges));
	ret->strings = map_entry_take(&r, header->n_strings, sizeof(*ret->strings));
	ret->text = map_entry_take(&r, header->n_text, 1);
	return !r.failed && reader_left(&r) == 0 && header->n_strings > 0 && header->n_text > 0 &&
	       ret->text[header->n_text - 1] == '\0';
}

const struct stored_map *map_entry_find(const struct map_entry *entry, uint64_t vaddr)
{
	size_t behind = search_first(i, entry->header.n_maps, entry->maps[i].vaddr > vaddr);

	return behind && vaddr - entry->maps[behind - 1].vaddr < entry->maps[behind - 1].size
		       ? &entry->maps[behind - 1]
		       : NULL;
}

static bool map_entry_is_inside(uint32_t first, uint32_t n, uint32_t all)
{
	return first <= all && n <= all - first;
}

bool map_entry_view(const struct map_entry *entry, const struct stored_map *stored, struct function_map *ret)
{
	const struct stored_header *all = &entry->header;

	if (!map_entry_is_inside(stored->first_line, stored->n_lines, all->n_lines) ||
	    !map_entry_is_inside(stored->first_inline, stored->n_inlines, all->n_inlines) ||
	    !map_entry_is_inside(stored->first_range, stored->n_ranges, all->n_ranges))
		return false;
	*ret = (struct function_map){ .image = IMAGE_NONE,
				      .vaddr = stored->vaddr,
				      .size = stored->size,
				      .name = stored->name,
				      .linkage = stored->linkage,
				      .decl_file = stored->decl_file,
				      .decl_line = stored->decl_line,
				      .end_line = stored->end_line,
				      .scope = stored->scope,
				      .parent_vaddr = stored->parent_vaddr,
				      .source = (uint8_t)stored->source };
	/* A list that owns its elements cannot have const elements; nothing writes through a view. */
	ret->lines.at = (struct line_row *)entry->lines + stored->first_line;
	ret->lines.n = stored->n_lines;
	ret->inlines.at = (struct inline_call *)entry->inlines + stored->first_inline;
	ret->inlines.n = stored->n_inlines;
	ret->ranges.at = (struct inline_range *)entry->ranges + stored->first_range;
	ret->ranges.n = stored->n_ranges;
	return true;
}

const char *map_entry_text(const struct map_entry *entry, uint32_t id)
{
	if (id >= entry->header.n_strings || entry->strings[id] >= entry->header.n_text)
		return "";
	return entry->text + entry->strings[id];
}
