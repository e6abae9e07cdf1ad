/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/unit_maps.h"

#include "base/search.h"
#include "symbolize/dwarf/inlines.h"

#define MAX_FUNCTION_SIZE (1ull << 31) /* offsets are 32 bits wide */
#define MAX_PARTS 256                  /* of one function; compilers create two or three */

/* A range of code of one function. */
struct part {
	uint64_t start, end;
	const struct raw_function *function; /* NULL: known only by its symbol */
	bool is_wanted;
};
typedef VEC(struct part) parts;

static int compare_parts(const void *left, const void *right)
{
	const struct part *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	/* Later in the file first: identical functions that were folded are known by the last. */
	return a->function > b->function ? -1 : a->function < b->function;
}

static void sort_parts(parts *list)
{
	if (list->n)
		qsort(list->at, list->n, sizeof(*list->at), compare_parts);
}

/* If two overlap, the first is shortened. */
static void unit_maps_make_disjoint(parts *list)
{
	size_t n = 0;

	sort_parts(list);
	for (size_t i = 0; i < list->n; i++) {
		struct part *last = n ? &list->at[n - 1] : NULL;
		if (last && last->start == list->at[i].start)
			continue;
		if (last && last->end > list->at[i].start)
			last->end = list->at[i].start;
		list->at[n++] = list->at[i];
	}
	list->n = n;
}

static void collect_parts(const struct raw_functions *functions, const struct image *image, parts *ret)
{
	for (size_t i = 0; i < functions->list.n; i++) {
		const struct raw_function *function = &functions->list.at[i];
		for (size_t j = 0; j < function->ranges.n && j < MAX_PARTS; j++) {
			const struct vaddr_range *range = &function->ranges.at[j];
			if (range->end - range->start <= MAX_FUNCTION_SIZE &&
			    image_is_executable(image, range->start))
				vec_push(ret, (struct part){ range->start, range->end, function, false });
		}
	}
	unit_maps_make_disjoint(ret);
}

/* Index of the first part that ends after vaddr. */
static size_t unit_maps_first_behind(const parts *list, uint64_t vaddr)
{
	return search_first(i, list->n, list->at[i].end > vaddr);
}

/* Code that no function of the unit claims belongs to its symbol, within the limits of its neighbours. */
static void add_bare(struct naming *naming, const parts *list, size_t behind, uint64_t vaddr,
		     struct intern *strings, parts *ret)
{
	struct function_map map = naming_find(naming, vaddr, strings);
	struct part part = { map.vaddr, map.vaddr + map.size, NULL, true };

	if (behind > 0 && part.start < list->at[behind - 1].end)
		part.start = list->at[behind - 1].end;
	if (behind < list->n && part.end > list->at[behind].start)
		part.end = list->at[behind].start;
	if (part.end - part.start <= MAX_FUNCTION_SIZE)
		vec_push(ret, part);
}

/* Marks the parts that cover an address and adds bare ones for addresses that no part covers. */
static void choose_parts(parts *list, struct naming *naming, const struct unit_hits *hits,
			 struct intern *strings)
{
	parts bare = { 0 };

	for (size_t i = 0; i < hits->n; i++) {
		uint64_t vaddr = hits->vaddrs[i];
		size_t at = unit_maps_first_behind(list, vaddr);
		if (bare.n && vaddr < bare.at[bare.n - 1].end)
			continue;
		if (at < list->n && list->at[at].start <= vaddr)
			list->at[at].is_wanted = true;
		else if (!hits->is_guess)
			add_bare(naming, list, at, vaddr, strings, &bare);
	}
	for (size_t i = 0; i < bare.n; i++)
		vec_push(list, bare.at[i]);
	vec_done(&bare);
	sort_parts(list);
}

/* ---- one map ------------------------------------------------------------------------------- */

/*
 * With debug information, clang turns an OpenMP region into two functions: one with the parameters of the
 * runtime, and one for the body, `.omp_outlined._debug__`, which it calls. That call is not in the source.
 */
static bool is_body_of_region(const struct function_map *map, const struct raw_call *raw, const char *name,
			      const struct intern *strings)
{
	return raw->parent == INLINE_NONE && strstr(name, "omp_outlined") && strstr(name, "_debug__") &&
	       strstr(intern_text(strings, map->linkage ? map->linkage : map->name), "omp_outlined");
}

/* Drops ranges that belong to no call. */
static void drop_empty_ranges(struct function_map *map)
{
	size_t n = 0;

	for (size_t i = 0; i < map->ranges.n; i++)
		if (map->ranges.at[i].call != INLINE_NONE)
			map->ranges.at[n++] = map->ranges.at[i];
	map->ranges.n = n;
}

/* Turns the calls that own a range, and those around them, into the map's inlined calls. */
static void name_calls(struct dwarf_cache *cache, const struct unit *unit,
		       const struct raw_function *function, struct function_map *map)
{
	VEC(uint32_t) renumbered = { 0 };

	for (size_t i = 0; i < function->calls.n; i++)
		vec_push(&renumbered, INLINE_NONE);
	for (size_t i = 0; i < map->ranges.n; i++)
		for (uint32_t call = map->ranges.at[i].call;
		     call != INLINE_NONE && renumbered.at[call] == INLINE_NONE;
		     call = function->calls.at[call].parent)
			renumbered.at[call] = 0;
	for (size_t i = 0; i < function->calls.n; i++) {
		const struct raw_call *raw = &function->calls.at[i];
		if (renumbered.at[i] == INLINE_NONE)
			continue;
		struct origin origin = { 0 };
		if (raw->dwarf)
			origin = dwarf_cache_origin(cache, raw->dwarf, raw->origin);
		if (!origin.name)
			origin.name = intern_add(&cache->strings, "??");
		if (is_body_of_region(map, raw, intern_text(&cache->strings, origin.name), &cache->strings)) {
			renumbered.at[i] = INLINE_NONE;
			continue;
		}
		renumbered.at[i] = (uint32_t)map->inlines.n;
		vec_push(&map->inlines,
			 (struct inline_call){ .parent = raw->parent == INLINE_NONE
								 ? INLINE_NONE
								 : renumbered.at[raw->parent],
					       .name = origin.name,
					       .linkage = origin.linkage,
					       .decl_file = origin.decl_file,
					       .decl_line = origin.decl_line,
					       .call_file = dwarf_cache_file(cache, unit, raw->call_file),
					       .call_line = raw->call_line,
					       .call_column = raw->call_column });
	}
	for (size_t i = 0; i < map->ranges.n; i++)
		map->ranges.at[i].call = renumbered.at[map->ranges.at[i].call];
	drop_empty_ranges(map);
	vec_done(&renumbered);
}

static struct function_map entry_map(struct dwarf_cache *cache, struct naming *naming,
				     const struct unit *unit, const struct part *part, bool describes_calls)
{
	const struct raw_function *function = part->function;
	struct origin origin = dwarf_cache_origin(cache, unit->dwarf, function->entry);
	struct function_map map = { .image = naming_id(naming),
				    .vaddr = part->start,
				    .size = part->end - part->start,
				    .linkage = origin.linkage ? origin.linkage : origin.name,
				    .decl_file = origin.decl_file,
				    .decl_line = origin.decl_line,
				    .parent_vaddr = function->ranges.at[0].start,
				    .source = describes_calls ? MAP_FROM_DWARF : MAP_FROM_FLAT_DWARF };

	if (function->enclosing)
		map.scope = dwarf_cache_origin(cache, unit->dwarf, function->enclosing).name;
	naming_complete(naming, &map, &cache->strings);
	inlines_flatten(function, part->start, part->end, &map);
	name_calls(cache, unit, function, &map);
	return map;
}

static struct function_map bare_map(struct dwarf_cache *cache, struct naming *naming, const struct part *part)
{
	struct function_map map = naming_find(naming, part->start, &cache->strings);

	map.vaddr = part->start;
	map.size = part->end - part->start;
	return map;
}

/*
 * Functions that the compiler generates (a parallel region, the body of a coroutine) have no declaration:
 * they are written in the file where their own code starts, from the lowest line that they have there.
 */
static void unit_maps_declare(const struct line_row *row, uint32_t *file, uint32_t *line)
{
	if (!row->line || (*file && row->file != *file))
		return;
	if (!*file || row->line < *line)
		*line = row->line;
	*file = row->file;
}

static void find_declaration(struct function_map *map)
{
	if (map->decl_file || !function_map_is_described(map))
		return;
	for (size_t i = 0; i < map->lines.n; i++)
		if (function_map_inline(map, map->lines.at[i].offset) == INLINE_NONE)
			unit_maps_declare(&map->lines.at[i], &map->decl_file, &map->decl_line);
}

/* The same for inlined functions of this kind. */
static void unit_maps_declare_calls(struct function_map *map)
{
	VEC(bool) is_open = { 0 };
	bool any = false;

	for (size_t i = 0; i < map->inlines.n; i++) {
		vec_push(&is_open, !map->inlines.at[i].decl_file);
		any = any || is_open.at[i];
	}
	any = any && map->lines.n;
	for (size_t i = 0; any && i < map->ranges.n; i++) {
		const struct inline_range *range = &map->ranges.at[i];
		const struct line_row *row = function_map_line(map, range->start);
		struct inline_call *call = &map->inlines.at[range->call];
		const struct line_row *behind = map->lines.at + map->lines.n;
		for (; is_open.at[range->call] && row && row < behind && row->offset < range->end; row++)
			unit_maps_declare(row, &call->decl_file, &call->decl_line);
	}
	vec_done(&is_open);
}

/* The last line of the procedure: the highest that its own code has in the file it is declared in. */
static void find_end_line(struct function_map *map)
{
	for (size_t i = 0; i < map->lines.n; i++) {
		const struct line_row *row = &map->lines.at[i];
		if (row->file == map->decl_file && row->line > map->end_line &&
		    function_map_inline(map, row->offset) == INLINE_NONE)
			map->end_line = row->line;
	}
	if (map->end_line < map->decl_line)
		map->end_line = 0;
}

static void unit_maps_add_lines(struct dwarf_cache *cache, struct naming *naming, const struct unit *unit,
				struct function_map *maps, size_t n)
{
	struct line_table *table = dwarf_cache_lines(cache, unit);
	VEC(struct line_part) wanted = { 0 };

	if (!table)
		return;
	for (size_t i = 0; i < n; i++)
		vec_push(&wanted,
			 (struct line_part){ maps[i].vaddr, maps[i].vaddr + maps[i].size, &maps[i], 0 });
	lines_run(table, naming_image(naming), &cache->strings, wanted.at, wanted.n);
	for (size_t i = 0; i < n; i++) {
		find_declaration(&maps[i]);
		unit_maps_declare_calls(&maps[i]);
		find_end_line(&maps[i]);
	}
	vec_done(&wanted);
}

bool unit_maps(struct dwarf_cache *cache, struct naming *naming, const struct unit_hits *hits,
	       function_maps *ret)
{
	const struct unit *body = hits->split ? hits->split : hits->unit;
	struct raw_functions functions;
	parts list = { 0 };
	size_t first = ret->n;

	dwarf_cache_trim(cache);
	cache->image = naming_image(naming);
	inlines_read(cache, body, naming_image(naming), hits->vaddrs, hits->n, &functions);
	collect_parts(&functions, naming_image(naming), &list);
	choose_parts(&list, naming, hits, &cache->strings);
	for (size_t i = 0; i < list.n; i++) {
		const struct part *part = &list.at[i];
		if (part->is_wanted && part->function)
			vec_push(ret, entry_map(cache, naming, body, part, functions.describes_calls));
		else if (part->is_wanted)
			vec_push(ret, bare_map(cache, naming, part));
	}
	if (ret->n > first)
		unit_maps_add_lines(cache, naming, hits->unit, ret->at + first, ret->n - first);

	bool is_whole = !functions.is_damaged;
	raw_functions_done(&functions);
	vec_done(&list);
	return is_whole;
}
