/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/map_store.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "symbolize/map_entry.h"

struct store_key map_store_key(uint64_t identity, bool demangles)
{
	struct bytes version = { (const uint8_t *)CPPROF_VERSION, strlen(CPPROF_VERSION) };

	return (struct store_key){ "maps",
				   MAP_ENTRY_VERSION,
				   { identity, hash_u64(hash_bytes(version) + demangles) } };
}

/* ---- reading ------------------------------------------------------------------------------- */

struct unpacking {
	struct map_entry entry;
	struct intern *strings;
	uint32_t *ids; /* the caller's id + 1 of each string of the entry; 0 = not added yet */
	image_id image;
	bool is_bad;
};

static void map_store_renumber(struct unpacking *u, uint32_t *id)
{
	if (*id >= u->entry.header.n_strings) {
		u->is_bad = true;
		*id = 0;
		return;
	}
	if (!u->ids[*id])
		u->ids[*id] = intern_add(u->strings, map_entry_text(&u->entry, *id)) + 1;
	*id = u->ids[*id] - 1;
}

static void copy_lines(struct unpacking *u, const struct function_map *view, struct function_map *map)
{
	const struct line_row *rows = view->lines.at;

	map->lines.at = NULL;
	map->lines.n = 0;
	vec_reserve(&map->lines, view->lines.n);
	for (size_t i = 0; i < view->lines.n; i++) {
		struct line_row row = rows[i];
		if (i && row.file == rows[i - 1].file) /* nearly always */
			row.file = map->lines.at[i - 1].file;
		else
			map_store_renumber(u, &row.file);
		u->is_bad = u->is_bad || row.offset >= map->size || (i && row.offset <= rows[i - 1].offset);
		map->lines.at[map->lines.n++] = row;
	}
}

static void copy_inlines(struct unpacking *u, const struct function_map *view, struct function_map *map)
{
	map->inlines.at = NULL;
	map->inlines.n = 0;
	vec_reserve(&map->inlines, view->inlines.n);
	for (size_t i = 0; i < view->inlines.n; i++) {
		struct inline_call call = view->inlines.at[i];
		map_store_renumber(u, &call.name);
		map_store_renumber(u, &call.linkage);
		map_store_renumber(u, &call.decl_file);
		map_store_renumber(u, &call.call_file);
		u->is_bad = u->is_bad || (call.parent != INLINE_NONE && call.parent >= i);
		map->inlines.at[map->inlines.n++] = call;
	}
}

static void copy_ranges(struct unpacking *u, const struct function_map *view, struct function_map *map)
{
	map->ranges.at = NULL;
	map->ranges.n = 0;
	vec_reserve(&map->ranges, view->ranges.n);
	for (size_t i = 0; i < view->ranges.n; i++) {
		const struct inline_range *range = &view->ranges.at[i];
		u->is_bad = u->is_bad || range->start >= range->end || range->end > map->size ||
			    range->call >= map->inlines.n || (i && range->start < range[-1].end);
		map->ranges.at[map->ranges.n++] = *range;
	}
}

/* Must be after the existing maps, otherwise it is not valid. */
static void copy_map(struct unpacking *u, const struct stored_map *stored, const struct function_map *last,
		     function_maps *ret)
{
	struct function_map view;

	if (!map_entry_view(&u->entry, stored, &view) || view.vaddr + view.size <= view.vaddr ||
	    (last && view.vaddr < last->vaddr + last->size)) {
		u->is_bad = true;
		return;
	}
	struct function_map map = view;
	map.image = u->image;
	map_store_renumber(u, &map.name);
	map_store_renumber(u, &map.linkage);
	map_store_renumber(u, &map.decl_file);
	map_store_renumber(u, &map.scope);
	copy_lines(u, &view, &map);
	copy_inlines(u, &view, &map);
	copy_ranges(u, &view, &map);
	u->is_bad = u->is_bad || map.name == 0;
	vec_push(ret, map);
}

static bool unpacking_start(struct unpacking *u, struct bytes entry, image_id image, struct intern *strings)
{
	*u = (struct unpacking){ .strings = strings, .image = image };
	if (!map_entry_open(entry, &u->entry))
		return false;
	u->ids = alloc_zero(u->entry.header.n_strings, sizeof(*u->ids));
	return true;
}

/* Removes what was appended from `first` on, if it is not valid. */
static bool unpacking_end(struct unpacking *u, size_t first, function_maps *ret)
{
	free(u->ids);
	while (u->is_bad && ret->n > first)
		function_map_done(&ret->at[--ret->n]);
	return !u->is_bad;
}

static const struct function_map *last_of(const function_maps *maps, size_t first)
{
	return maps->n > first ? &maps->at[maps->n - 1] : NULL;
}

bool map_store_unpack(struct bytes entry, image_id id, const uint64_t *vaddrs, size_t n,
		      struct intern *strings, function_maps *ret)
{
	struct unpacking u;
	size_t first = ret->n;

	if (!unpacking_start(&u, entry, id, strings))
		return false;
	for (size_t i = 0; i < n && !u.is_bad; i++) {
		const struct function_map *last = last_of(ret, first);
		if (last && vaddrs[i] - last->vaddr < last->size)
			continue;
		const struct stored_map *stored = map_entry_find(&u.entry, vaddrs[i]);
		if (stored)
			copy_map(&u, stored, last, ret);
	}
	return unpacking_end(&u, first, ret);
}

bool map_store_unpack_all(struct bytes entry, image_id id, struct intern *strings, function_maps *ret)
{
	struct unpacking u;
	size_t first = ret->n;

	if (!unpacking_start(&u, entry, id, strings))
		return false;
	for (uint32_t i = 0; i < u.entry.header.n_maps && !u.is_bad; i++)
		copy_map(&u, &u.entry.maps[i], last_of(ret, first), ret);
	return unpacking_end(&u, first, ret);
}

/* ---- writing ------------------------------------------------------------------------------- */

struct packing {
	struct intern names;
	struct map ids; /* (list, id there) to id in names */
	uint64_t list;
	const struct intern *strings; /* of that list */
	struct writer maps, lines, inlines, ranges;
	struct stored_header header;
};

static void pack_string(struct packing *p, uint32_t *id)
{
	uint64_t key = p->list << 32 | *id;
	uint32_t known = map_find(&p->ids, key);

	if (known == MAP_NONE) {
		known = intern_add(&p->names, intern_text(p->strings, *id));
		map_put(&p->ids, key, known);
	}
	*id = known;
}

static void pack_map(struct packing *p, const struct function_map *map)
{
	struct stored_map stored = { .vaddr = map->vaddr,
				     .size = map->size,
				     .parent_vaddr = map->parent_vaddr,
				     .name = map->name,
				     .linkage = map->linkage,
				     .decl_file = map->decl_file,
				     .decl_line = map->decl_line,
				     .end_line = map->end_line,
				     .scope = map->scope,
				     .source = map->source,
				     .first_line = p->header.n_lines,
				     .n_lines = (uint32_t)map->lines.n,
				     .first_inline = p->header.n_inlines,
				     .n_inlines = (uint32_t)map->inlines.n,
				     .first_range = p->header.n_ranges,
				     .n_ranges = (uint32_t)map->ranges.n };

	pack_string(p, &stored.name);
	pack_string(p, &stored.linkage);
	pack_string(p, &stored.decl_file);
	pack_string(p, &stored.scope);
	write_bytes(&p->maps, (struct bytes){ (const uint8_t *)&stored, sizeof(stored) });
	for (size_t i = 0; i < map->lines.n; i++) {
		struct line_row row = map->lines.at[i];
		pack_string(p, &row.file);
		write_bytes(&p->lines, (struct bytes){ (const uint8_t *)&row, sizeof(row) });
	}
	for (size_t i = 0; i < map->inlines.n; i++) {
		struct inline_call call = map->inlines.at[i];
		pack_string(p, &call.name);
		pack_string(p, &call.linkage);
		pack_string(p, &call.decl_file);
		pack_string(p, &call.call_file);
		write_bytes(&p->inlines, (struct bytes){ (const uint8_t *)&call, sizeof(call) });
	}
	write_bytes(&p->ranges, (struct bytes){ (const uint8_t *)map->ranges.at,
						map->ranges.n * sizeof(struct inline_range) });
	p->header.n_maps++;
	p->header.n_lines += stored.n_lines;
	p->header.n_inlines += stored.n_inlines;
	p->header.n_ranges += stored.n_ranges;
}

static void pack_strings(struct packing *p, struct writer *ret)
{
	uint32_t start = 0;

	for (uint32_t i = 0; i < p->header.n_strings; i++) {
		write_u32(ret, start);
		start += p->names.lengths.at[i] + 1;
	}
	for (uint32_t i = 0; i < p->header.n_strings; i++)
		write_bytes(ret, (struct bytes){ (const uint8_t *)p->names.strings.at[i],
						 p->names.lengths.at[i] + 1u });
}

static bool map_store_overlaps(const struct function_map *a, const struct function_map *b)
{
	return a->vaddr < b->vaddr + b->size && b->vaddr < a->vaddr + a->size;
}

static void pack_lists(struct packing *p, const struct map_list lists[2])
{
	size_t at[2] = { 0, 0 };

	while (at[0] < lists[0].n || at[1] < lists[1].n) {
		const struct function_map *old = at[0] < lists[0].n ? &lists[0].at[at[0]] : NULL;
		const struct function_map *new = at[1] < lists[1].n ? &lists[1].at[at[1]] : NULL;
		if (old && new &&map_store_overlaps(old, new)) {
			at[1]++;
			continue;
		}
		p->list = !old || (new &&new->vaddr < old->vaddr);
		p->strings = lists[p->list].strings;
		pack_map(p, p->list ? new : old);
		at[p->list]++;
	}
}

void map_store_pack(struct map_list first, struct map_list second, struct writer *ret)
{
	struct packing p = { 0 };

	intern_init(&p.names);
	pack_lists(&p, (struct map_list[2]){ first, second });
	p.header.n_strings = (uint32_t)p.names.strings.n;
	for (uint32_t i = 0; i < p.header.n_strings; i++)
		p.header.n_text += p.names.lengths.at[i] + 1;
	write_bytes(ret, (struct bytes){ (const uint8_t *)&p.header, sizeof(p.header) });
	struct writer *const arrays[] = { &p.maps, &p.lines, &p.inlines, &p.ranges };
	for (size_t i = 0; i < ARRAY_LEN(arrays); i++) {
		write_bytes(ret, writer_bytes(arrays[i]));
		writer_done(arrays[i]);
	}
	pack_strings(&p, ret);
	map_done(&p.ids);
	intern_done(&p.names);
}
