/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of merge that handles function maps, structures and code.
 */
#include <string.h>

#include "base/cleanup.h"
#include "profile/merge_private.h"

/* Copies the array of a VEC that is about to be changed in place. */
#define COPY_VEC(v)                                                         \
	do {                                                                \
		const void *old_ = (v)->at;                                 \
		(v)->at = alloc_resize(NULL, (v)->n + 1, sizeof(*(v)->at)); \
		(v)->cap = (v)->n + 1;                                      \
		if ((v)->n)                                                 \
			memcpy((v)->at, old_, (v)->n * sizeof(*(v)->at));   \
	} while (0)

static struct function_map move_map(const struct merger *m, struct function_map map)
{
	const uint32_t *string = m->string;

	map.image = m->image[map.image];
	map.name = string[map.name];
	map.linkage = string[map.linkage];
	map.decl_file = string[map.decl_file];
	map.scope = string[map.scope];
	COPY_VEC(&map.lines);
	COPY_VEC(&map.inlines);
	COPY_VEC(&map.ranges);
	for (size_t i = 0; i < map.lines.n; i++)
		map.lines.at[i].file = string[map.lines.at[i].file];
	for (size_t i = 0; i < map.inlines.n; i++) {
		struct inline_call *call = &map.inlines.at[i];
		call->name = string[call->name];
		call->linkage = string[call->linkage];
		call->decl_file = string[call->decl_file];
		call->call_file = string[call->call_file];
	}
	return map;
}

static struct structure move_structure(const struct merger *m, struct structure structure)
{
	const uint32_t *string = m->string;

	structure.image = m->image[structure.image];
	COPY_VEC(&structure.extents); /* only if it was just computed, not read */
	COPY_VEC(&structure.statements);
	COPY_VEC(&structure.scopes);
	COPY_VEC(&structure.ranges);
	COPY_VEC(&structure.pieces);
	for (size_t i = 0; i < structure.scopes.n; i++) {
		struct static_scope *scope = &structure.scopes.at[i];
		scope->name = string[scope->name];
		scope->linkage = string[scope->linkage];
		scope->file = string[scope->file];
		scope->call_file = string[scope->call_file];
	}
	return structure;
}

/* ---- each once ---------------------------------------------------------------------------------- */

static uint64_t merge_place_hash(uint32_t image, uint64_t vaddr)
{
	return hash_pair_secret(vaddr, image);
}

#define MERGE_PLACES(noun, list, type, start)                                           \
	static uint64_t merge_##noun##_hash(const void *owner, uint32_t i)              \
	{                                                                               \
		const struct type *at = &((const struct profile *)owner)->list.at[i];   \
		return merge_place_hash(at->image, at->start);                          \
	}                                                                               \
	static bool merge_##noun##_same(const void *owner, uint32_t i, const void *key) \
	{                                                                               \
		const struct type *at = &((const struct profile *)owner)->list.at[i];   \
		const struct type *other = key;                                         \
		return at->image == other->image && at->start == other->start;          \
	}                                                                               \
	static int merge_##noun##_compare(const void *a, const void *b)                 \
	{                                                                               \
		const struct type *x = a, *y = b;                                       \
		if (x->image != y->image)                                               \
			return x->image < y->image ? -1 : 1;                            \
		return (x->start > y->start) - (x->start < y->start);                   \
	}
MERGE_PLACES(map, functions, function_map, vaddr)
MERGE_PLACES(structure, structures, structure, function)
MERGE_PLACES(code, codes, profile_code, vaddr)

static void merge_add_map(struct merger *m, struct function_map map)
{
	struct profile *all = m->all;
	size_t slot = slots_find(&m->function_slots, merge_place_hash(map.image, map.vaddr), merge_map_same,
				 all, &map);
	uint32_t index = m->function_slots.at[slot];

	if (index == SLOT_FREE) {
		vec_push(&all->functions, map);
		slots_put(&m->function_slots, slot, (uint32_t)all->functions.n - 1, merge_map_hash, all);
		return;
	}
	struct function_map *known = &all->functions.at[index];
	if (merge_contest_maps(&all->strings, &map, known) < 0) {
		struct function_map worse = *known;
		*known = map;
		map = worse;
	}
	function_map_done(&map);
}

static void merge_add_structure(struct merger *m, struct structure structure)
{
	struct profile *all = m->all;
	size_t slot = slots_find(&m->structure_slots, merge_place_hash(structure.image, structure.function),
				 merge_structure_same, all, &structure);
	uint32_t index = m->structure_slots.at[slot];

	if (index == SLOT_FREE) {
		vec_push(&all->structures, structure);
		slots_put(&m->structure_slots, slot, (uint32_t)all->structures.n - 1, merge_structure_hash,
			  all);
		return;
	}
	struct structure *known = &all->structures.at[index];
	if (merge_contest_structures(&all->strings, &structure, known) < 0) {
		struct structure worse = *known;
		*known = structure;
		structure = worse;
	}
	structure_done(&structure);
}

/* Of the same code, the longer piece. */
static bool merge_is_better_code(struct bytes a, struct bytes b)
{
	return a.len != b.len ? a.len > b.len : a.len && memcmp(a.at, b.at, a.len) < 0;
}

static void merge_add_code(struct merger *m, struct profile_code code)
{
	struct profile *all = m->all;
	struct bytes bytes = { m->from->code_bytes.at + code.offset, code.len };

	code.image = m->image[code.image];
	size_t slot = slots_find(&m->code_slots, merge_place_hash(code.image, code.vaddr), merge_code_same,
				 all, &code);
	uint32_t index = m->code_slots.at[slot];
	if (index != SLOT_FREE) {
		const struct profile_code *known = &all->codes.at[index];
		if (!merge_is_better_code(bytes,
					  (struct bytes){ all->code_bytes.at + known->offset, known->len }))
			return;
	}
	if (all->code_bytes.n + code.len > UINT32_MAX)
		return; /* more than a profile may contain: the rest is read from the file */
	code.offset = (uint32_t)all->code_bytes.n;
	vec_reserve(&all->code_bytes, all->code_bytes.n + code.len);
	if (code.len)
		memcpy(all->code_bytes.at + all->code_bytes.n, bytes.at, code.len);
	all->code_bytes.n += code.len;
	if (index != SLOT_FREE) {
		all->codes.at[index] = code;
		return;
	}
	vec_push(&all->codes, code);
	slots_put(&m->code_slots, slot, (uint32_t)all->codes.n - 1, merge_code_hash, all);
}

void merge_functions(struct merger *m)
{
	const struct profile *from = m->from;

	for (size_t i = 0; i < from->functions.n; i++)
		if (m->image[from->functions.at[i].image] != IMAGE_NONE)
			merge_add_map(m, move_map(m, from->functions.at[i]));
	for (size_t i = 0; i < from->structures.n; i++)
		if (m->image[from->structures.at[i].image] != IMAGE_NONE)
			merge_add_structure(m, move_structure(m, from->structures.at[i]));
	for (size_t i = 0; i < from->codes.n; i++)
		if (m->image[from->codes.at[i].image] != IMAGE_NONE)
			merge_add_code(m, from->codes.at[i]);
}

/* ---- in order ----------------------------------------------------------------------------------- */

static bool merge_maps_overlap(const struct function_map *before, const struct function_map *map)
{
	return before->image == map->image && map->vaddr - before->vaddr < before->size;
}

/*
 * No map inside another: of two that overlap, the better one is kept. What only the other covered then has no
 * map, and is shown by its address.
 */
static void merge_settle_maps(struct profile *all)
{
	size_t n = 0;

	for (size_t i = 1; i < all->functions.n; i++) {
		struct function_map *last = &all->functions.at[n], *map = &all->functions.at[i];
		if (!merge_maps_overlap(last, map)) {
			all->functions.at[++n] = *map;
		} else if (merge_goodness(map) > merge_goodness(last)) {
			function_map_done(last);
			*last = *map;
		} else {
			function_map_done(map);
		}
	}
	all->functions.n = n + 1;
}

void merge_functions_finish(struct profile *all)
{
	if (all->functions.n) {
		qsort(all->functions.at, all->functions.n, sizeof(*all->functions.at), merge_map_compare);
		merge_settle_maps(all);
	}
	if (all->structures.n)
		qsort(all->structures.at, all->structures.n, sizeof(*all->structures.at),
		      merge_structure_compare);
	if (all->codes.n)
		qsort(all->codes.at, all->codes.n, sizeof(*all->codes.at), merge_code_compare);
}
