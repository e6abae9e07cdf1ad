/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/map_store.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define FORMAT_VERSION 2

struct stored_header {
	uint32_t n_strings, n_maps, n_lines, n_inlines, n_ranges, n_text;
	uint32_t reserved[2];
};

struct stored_map {
	uint64_t vaddr, size, parent_vaddr;
	uint32_t name, linkage, decl_file, decl_line, end_line, scope, source;
	uint32_t n_lines, n_inlines, n_ranges; /* each array follows that of the map before */
};
_Static_assert(sizeof(struct stored_map) == 64 && sizeof(struct line_row) == 16 && sizeof(struct inline_range) == 12 &&
		       sizeof(struct inline_call) == 32,
	       "the layout is stored: raise FORMAT_VERSION");

struct store_key map_store_key(uint64_t identity, bool demangles)
{
	struct bytes version = { (const uint8_t *)CPPROF_VERSION, strlen(CPPROF_VERSION) };

	return (struct store_key){ "maps", FORMAT_VERSION, { identity, hash_u64(hash_bytes(version) + demangles) } };
}

/* ---- reading ------------------------------------------------------------------------------- */

struct entry {
	struct stored_header header;
	const struct stored_map *maps;
	const struct line_row *lines;
	const struct inline_call *inlines;
	const struct inline_range *ranges;
	const uint32_t *strings; /* where each starts in text, and the end of the last */
	const char *text;
};

static const void *take(struct reader *r, uint64_t count, size_t size)
{
	return read_bytes(r, count * size).at;
}

static bool open_entry(struct bytes bytes, struct entry *ret)
{
	struct reader r = reader_of(bytes);
	const struct stored_header *header = take(&r, 1, sizeof(*header));

	if (r.failed)
		return false;
	ret->header = *header;
	ret->maps = take(&r, header->n_maps, sizeof(*ret->maps));
	ret->lines = take(&r, header->n_lines, sizeof(*ret->lines));
	ret->inlines = take(&r, header->n_inlines, sizeof(*ret->inlines));
	ret->ranges = take(&r, header->n_ranges, sizeof(*ret->ranges));
	ret->strings = take(&r, (uint64_t)header->n_strings + 1, sizeof(*ret->strings));
	ret->text = take(&r, header->n_text, 1);
	return !r.failed && reader_left(&r) == 0 && header->n_strings > 0;
}

struct unpacking {
	const struct entry *entry;
	struct intern *strings;
	uint32_t *ids; /* the caller's id + 1 of each string of the entry; 0 = not added yet */
	bool is_bad;
};

static void renumber(struct unpacking *u, uint32_t *id)
{
	const struct entry *entry = u->entry;

	if (*id >= entry->header.n_strings) {
		u->is_bad = true;
		*id = 0;
		return;
	}
	if (!u->ids[*id]) {
		uint32_t start = entry->strings[*id], end = entry->strings[*id + 1];
		if (end < start || end > entry->header.n_text || memchr(entry->text + start, 0, end - start)) {
			u->is_bad = true;
			start = end = 0;
		}
		u->ids[*id] = intern_add_n(u->strings, entry->text + start, end - start) + 1;
	}
	*id = u->ids[*id] - 1;
}

static void copy_lines(struct unpacking *u, struct function_map *map, const struct line_row *rows, uint32_t n)
{
	vec_reserve(&map->lines, n);
	for (uint32_t i = 0; i < n; i++) {
		struct line_row row = rows[i];
		if (i && row.file == rows[i - 1].file) /* nearly always */
			row.file = map->lines.at[i - 1].file;
		else
			renumber(u, &row.file);
		u->is_bad = u->is_bad || row.offset >= map->size || (i && row.offset <= rows[i - 1].offset);
		map->lines.at[map->lines.n++] = row;
	}
}

static void copy_inlines(struct unpacking *u, struct function_map *map, const struct inline_call *calls, uint32_t n)
{
	vec_reserve(&map->inlines, n);
	for (uint32_t i = 0; i < n; i++) {
		struct inline_call call = calls[i];
		renumber(u, &call.name);
		renumber(u, &call.linkage);
		renumber(u, &call.decl_file);
		renumber(u, &call.call_file);
		u->is_bad = u->is_bad || (call.parent != INLINE_NONE && call.parent >= i);
		map->inlines.at[map->inlines.n++] = call;
	}
}

static void copy_ranges(struct unpacking *u, struct function_map *map, const struct inline_range *ranges, uint32_t n)
{
	vec_reserve(&map->ranges, n);
	for (uint32_t i = 0; i < n; i++) {
		const struct inline_range *range = &ranges[i];
		u->is_bad = u->is_bad || range->start >= range->end || range->end > map->size ||
			    range->call >= map->inlines.n || (i && range->start < ranges[i - 1].end);
		map->ranges.at[map->ranges.n++] = *range;
	}
}

/* Where the arrays of a map start. */
struct cursor {
	uint64_t line, inlined, range;
};

static void copy_map(struct unpacking *u, const struct stored_map *stored, const struct cursor *at, image_id id,
		     function_maps *ret)
{
	struct function_map map = { .image = id,
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

	renumber(u, &map.name);
	renumber(u, &map.linkage);
	renumber(u, &map.decl_file);
	renumber(u, &map.scope);
	copy_lines(u, &map, u->entry->lines + at->line, stored->n_lines);
	copy_inlines(u, &map, u->entry->inlines + at->inlined, stored->n_inlines);
	copy_ranges(u, &map, u->entry->ranges + at->range, stored->n_ranges);
	u->is_bad = u->is_bad || map.name == 0;
	vec_push(ret, map);
}

static bool advance(const struct entry *entry, const struct stored_map *stored, struct cursor *at)
{
	at->line += stored->n_lines;
	at->inlined += stored->n_inlines;
	at->range += stored->n_ranges;
	return at->line <= entry->header.n_lines && at->inlined <= entry->header.n_inlines &&
	       at->range <= entry->header.n_ranges;
}

static bool unpack(struct bytes bytes, image_id id, const uint64_t *vaddrs, size_t n, bool takes_all, struct intern *strings,
		   function_maps *ret)
{
	struct entry entry;
	struct unpacking u = { .entry = &entry, .strings = strings };
	struct cursor at = { 0 };
	uint64_t reach = 0;
	size_t first = ret->n, next = 0;

	if (!open_entry(bytes, &entry))
		return false;
	u.ids = alloc_zero(entry.header.n_strings, sizeof(*u.ids));
	for (uint32_t i = 0; i < entry.header.n_maps && !u.is_bad; i++) {
		const struct stored_map *stored = &entry.maps[i];
		struct cursor here = at;
		uint64_t end = stored->vaddr + stored->size;
		u.is_bad = !advance(&entry, stored, &at) || stored->vaddr < reach || end <= stored->vaddr;
		reach = end;
		while (next < n && vaddrs[next] < stored->vaddr)
			next++;
		if (!u.is_bad && (takes_all || (next < n && vaddrs[next] < end)))
			copy_map(&u, stored, &here, id, ret);
	}
	free(u.ids);
	while (u.is_bad && ret->n > first)
		function_map_done(&ret->at[--ret->n]);
	return !u.is_bad;
}

bool map_store_unpack(struct bytes entry, image_id id, const uint64_t *vaddrs, size_t n, struct intern *strings,
		      function_maps *ret)
{
	return unpack(entry, id, vaddrs, n, false, strings, ret);
}

bool map_store_unpack_all(struct bytes entry, image_id id, struct intern *strings, function_maps *ret)
{
	return unpack(entry, id, NULL, 0, true, strings, ret);
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
				     .n_lines = (uint32_t)map->lines.n,
				     .n_inlines = (uint32_t)map->inlines.n,
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
	write_bytes(&p->ranges,
		    (struct bytes){ (const uint8_t *)map->ranges.at, map->ranges.n * sizeof(struct inline_range) });
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
		start += p->names.lengths.at[i];
	}
	write_u32(ret, start);
	for (uint32_t i = 0; i < p->header.n_strings; i++)
		write_bytes(ret, (struct bytes){ (const uint8_t *)p->names.strings.at[i], p->names.lengths.at[i] });
}

static bool overlaps(const struct function_map *a, const struct function_map *b)
{
	return a->vaddr < b->vaddr + b->size && b->vaddr < a->vaddr + a->size;
}

static void pack_lists(struct packing *p, const struct map_list lists[2])
{
	size_t at[2] = { 0, 0 };

	while (at[0] < lists[0].n || at[1] < lists[1].n) {
		const struct function_map *old = at[0] < lists[0].n ? &lists[0].at[at[0]] : NULL;
		const struct function_map *new = at[1] < lists[1].n ? &lists[1].at[at[1]] : NULL;
		if (old && new && overlaps(old, new)) {
			at[1]++;
			continue;
		}
		p->list = !old || (new && new->vaddr < old->vaddr);
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
		p.header.n_text += p.names.lengths.at[i];
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
