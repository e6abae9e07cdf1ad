/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/merge_functions.h"

#include <string.h>

/* A copy of a VEC's array, for one that is about to be changed in place. */
#define COPY_VEC(v)                                                         \
	do {                                                                \
		const void *old_ = (v)->at;                                 \
		(v)->at = alloc_resize(NULL, (v)->n + 1, sizeof(*(v)->at)); \
		(v)->cap = (v)->n + 1;                                      \
		if ((v)->n)                                                 \
			memcpy((v)->at, old_, (v)->n * sizeof(*(v)->at));   \
	} while (0)

static struct function_map move_map(const struct merge *m, struct function_map map)
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

static struct structure move_structure(const struct merge *m, struct structure structure)
{
	const uint32_t *string = m->string;

	structure.image = m->image[structure.image];
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

/* Debug information, then the tables of kernel and JIT, then symbols, then nothing. */
static int goodness(const struct function_map *map)
{
	static const int by_source[] = {
		[MAP_FROM_NOTHING] = 0,  [MAP_FROM_SYMBOL] = 1,     [MAP_FROM_PERFMAP] = 2,
		[MAP_FROM_KALLSYMS] = 2, [MAP_FROM_FLAT_DWARF] = 3, [MAP_FROM_DWARF] = 3
	};

	return map->source < ARRAY_LEN(by_source) ? by_source[map->source] : 0;
}

static int merge_functions_compare_maps(const void *a, const void *b)
{
	const struct function_map *x = a, *y = b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	if (x->vaddr != y->vaddr)
		return x->vaddr < y->vaddr ? -1 : 1;
	if (goodness(x) != goodness(y))
		return goodness(y) - goodness(x);
	return (y->size > x->size) - (y->size < x->size);
}

static bool merge_functions_overlaps(const struct function_map *before, const struct function_map *map)
{
	return before->image == map->image && map->vaddr - before->vaddr < before->size;
}

/*
 * Sorted, and none inside another: of two that overlap the better one stays. What only the other covered
 * has no map then, and is shown by its address.
 */
static void settle_maps(struct profile *profile)
{
	size_t n = 0;

	if (profile->functions.n == 0)
		return;
	qsort(profile->functions.at, profile->functions.n, sizeof(*profile->functions.at),
	      merge_functions_compare_maps);
	for (size_t i = 1; i < profile->functions.n; i++) {
		struct function_map *last = &profile->functions.at[n], *map = &profile->functions.at[i];
		if (!merge_functions_overlaps(last, map)) {
			profile->functions.at[++n] = *map;
		} else if (goodness(map) > goodness(last)) {
			function_map_done(last);
			*last = *map;
		} else {
			function_map_done(map);
		}
	}
	profile->functions.n = n + 1;
}

static int compare_structures(const void *a, const void *b)
{
	const struct structure *x = a, *y = b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return (x->function > y->function) - (x->function < y->function);
}

static void settle_structures(struct profile *profile)
{
	size_t n = 0;

	if (profile->structures.n == 0)
		return;
	qsort(profile->structures.at, profile->structures.n, sizeof(*profile->structures.at),
	      compare_structures);
	for (size_t i = 1; i < profile->structures.n; i++) {
		if (compare_structures(&profile->structures.at[n], &profile->structures.at[i]) == 0)
			structure_done(&profile->structures.at[i]);
		else
			profile->structures.at[++n] = profile->structures.at[i];
	}
	profile->structures.n = n + 1;
}

static int compare_codes(const void *a, const void *b)
{
	const struct profile_code *x = a, *y = b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return (x->vaddr > y->vaddr) - (x->vaddr < y->vaddr);
}

static void settle_codes(struct profile *profile)
{
	size_t n = 0;

	if (profile->codes.n == 0)
		return;
	qsort(profile->codes.at, profile->codes.n, sizeof(*profile->codes.at), compare_codes);
	for (size_t i = 1; i < profile->codes.n; i++)
		if (compare_codes(&profile->codes.at[n], &profile->codes.at[i]) != 0)
			profile->codes.at[++n] = profile->codes.at[i];
	profile->codes.n = n + 1;
}

static struct profile_code move_code(struct merge *m, struct profile_code code)
{
	struct profile *into = m->into;
	const uint8_t *bytes = m->from->code_bytes.at + code.offset;

	code.image = m->image[code.image];
	code.offset = (uint32_t)into->code_bytes.n;
	vec_reserve(&into->code_bytes, into->code_bytes.n + code.len);
	if (code.len)
		memcpy(into->code_bytes.at + into->code_bytes.n, bytes, code.len);
	into->code_bytes.n += code.len;
	return code;
}

void merge_functions(struct merge *m)
{
	for (size_t i = 0; i < m->from->functions.n; i++)
		vec_push(&m->into->functions, move_map(m, m->from->functions.at[i]));
	settle_maps(m->into);
	for (size_t i = 0; i < m->from->structures.n; i++)
		vec_push(&m->into->structures, move_structure(m, m->from->structures.at[i]));
	settle_structures(m->into);
	for (size_t i = 0; i < m->from->codes.n; i++)
		vec_push(&m->into->codes, move_code(m, m->from->codes.at[i]));
	settle_codes(m->into);
}
