/* SPDX-License-Identifier: Apache-2.0 */
#include "unwinder/space_maps.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"

#define MAX_CHUNK 64 /* mappings of a chunk */
/* Mappings that are kept: those at first, and at least as many of the newest as the kernel allows a process
 * by default (vm.max_map_count, 65,530). */
#define MAX_FIRST 4096
#define MAX_YOUNG (1u << 16)

struct space_chunk {
	uint32_t n_users; /* spaces that share it */
	VEC(struct space_map) maps;
};

/* ---- one chunk ---------------------------------------------------------------------------------- */

static struct space_chunk *chunk_new(void)
{
	struct space_chunk *chunk = alloc_zero(1, sizeof(*chunk));

	chunk->n_users = 1;
	return chunk;
}

static void chunk_release(struct space_chunk *chunk)
{
	if (--chunk->n_users)
		return;
	vec_done(&chunk->maps);
	free(chunk);
}

static void chunk_push(struct space_chunk *chunk, const struct space_map *from, size_t n)
{
	vec_reserve(&chunk->maps, chunk->maps.n + n);
	memcpy(&chunk->maps.at[chunk->maps.n], from, n * sizeof(*from));
	chunk->maps.n += n;
}

static uint64_t chunk_end(const struct space_chunk *chunk)
{
	return chunk->maps.at[chunk->maps.n - 1].end;
}

/* Index of the first mapping that ends after pc. */
static size_t chunk_first_behind(const struct space_chunk *chunk, uint64_t pc)
{
	return search_first(i, chunk->maps.n, chunk->maps.at[i].end > pc);
}

/* Replaces what is mapped at `added` by it. Of a mapping that it splits, the second part is a new one: the
 * number of first ones does not grow. */
static void chunk_splice(struct space_chunk *chunk, const struct space_map *added)
{
	size_t from = chunk_first_behind(chunk, added->start), to = from, n = 0;
	struct space_map pieces[3];

	while (to < chunk->maps.n && chunk->maps.at[to].start < added->end)
		to++;
	if (from < to && chunk->maps.at[from].start < added->start) {
		pieces[n] = chunk->maps.at[from];
		pieces[n++].end = added->start;
	}
	pieces[n++] = *added;
	if (from < to && chunk->maps.at[to - 1].end > added->end) {
		pieces[n] = chunk->maps.at[to - 1];
		pieces[n].age = n > 1 && to == from + 1 ? MAP_YOUNG : pieces[n].age;
		pieces[n++].start = added->end;
	}
	vec_reserve(&chunk->maps, chunk->maps.n + 3);
	memmove(&chunk->maps.at[from + n], &chunk->maps.at[to], (chunk->maps.n - to) * sizeof(*pieces));
	memcpy(&chunk->maps.at[from], pieces, n * sizeof(*pieces));
	chunk->maps.n = chunk->maps.n - (to - from) + n;
}

/* Removes what is mapped before vaddr; something remains. */
static void chunk_cut(struct space_chunk *chunk, uint64_t vaddr)
{
	size_t kept = chunk_first_behind(chunk, vaddr);

	chunk->maps.n -= kept;
	memmove(chunk->maps.at, &chunk->maps.at[kept], chunk->maps.n * sizeof(*chunk->maps.at));
	if (chunk->maps.at[0].start < vaddr)
		chunk->maps.at[0].start = vaddr;
}

/* ---- all of them -------------------------------------------------------------------------------- */

void space_maps_clear(struct space_maps *maps)
{
	for (size_t i = 0; i < maps->chunks.n; i++)
		chunk_release(maps->chunks.at[i]);
	vec_clear(&maps->chunks);
	maps->n_first = maps->n_young = 0;
}

void space_maps_done(struct space_maps *maps)
{
	space_maps_clear(maps);
	vec_done(&maps->chunks);
}

void space_maps_copy(struct space_maps *to, const struct space_maps *from)
{
	for (size_t i = 0; i < from->chunks.n; i++) {
		vec_push(&to->chunks, from->chunks.at[i]);
		from->chunks.at[i]->n_users++;
	}
	to->n_first = from->n_first;
	to->n_young = from->n_young;
}

static bool maps_is_hit(const struct space_maps *maps, size_t chunk, size_t at, uint64_t pc)
{
	if (chunk >= maps->chunks.n || at >= maps->chunks.at[chunk]->maps.n)
		return false;
	const struct space_map *map = &maps->chunks.at[chunk]->maps.at[at];
	return pc >= map->start && pc < map->end;
}

/* Index of the first chunk with a mapping that ends after pc. */
static size_t maps_chunk_behind(const struct space_maps *maps, uint64_t pc)
{
	return search_first(i, maps->chunks.n, chunk_end(maps->chunks.at[i]) > pc);
}

const struct space_map *space_maps_find(struct space_maps *maps, uint64_t pc)
{
	if (!maps_is_hit(maps, maps->chunk, maps->at, pc)) {
		size_t chunk = maps_chunk_behind(maps, pc);
		size_t at = chunk < maps->chunks.n ? chunk_first_behind(maps->chunks.at[chunk], pc) : 0;
		if (!maps_is_hit(maps, chunk, at, pc))
			return NULL;
		maps->chunk = chunk;
		maps->at = at;
	}
	return &maps->chunks.at[maps->chunk]->maps.at[maps->at];
}

const struct space_map *space_maps_next(const struct space_maps *maps, uint64_t vaddr)
{
	size_t chunk = maps_chunk_behind(maps, vaddr);

	if (chunk == maps->chunks.n)
		return NULL;
	return &maps->chunks.at[chunk]->maps.at[chunk_first_behind(maps->chunks.at[chunk], vaddr)];
}

/* A chunk that may be changed. */
static struct space_chunk *maps_own(struct space_maps *maps, size_t i)
{
	struct space_chunk *chunk = maps->chunks.at[i];

	if (chunk->n_users > 1) {
		struct space_chunk *copy = chunk_new();
		chunk_push(copy, chunk->maps.at, chunk->maps.n);
		chunk_release(chunk);
		maps->chunks.at[i] = copy;
	}
	return maps->chunks.at[i];
}

/* Removes what is mapped before vaddr in chunks[from...]. */
static void maps_cut(struct space_maps *maps, size_t from, uint64_t vaddr)
{
	size_t to = search_first_in(i, from, maps->chunks.n, chunk_end(maps->chunks.at[i]) > vaddr);

	for (size_t i = from; i < to; i++)
		chunk_release(maps->chunks.at[i]);
	maps->chunks.n -= to - from;
	memmove(&maps->chunks.at[from], &maps->chunks.at[to],
		(maps->chunks.n - from) * sizeof(struct space_chunk *));
	if (from < maps->chunks.n && maps->chunks.at[from]->maps.at[0].start < vaddr)
		chunk_cut(maps_own(maps, from), vaddr);
}

static void maps_split(struct space_maps *maps, size_t i)
{
	struct space_chunk *lower = maps->chunks.at[i], *upper = chunk_new();
	size_t half = lower->maps.n / 2;

	chunk_push(upper, &lower->maps.at[half], lower->maps.n - half);
	lower->maps.n = half;
	vec_push(&maps->chunks, upper);
	memmove(&maps->chunks.at[i + 2], &maps->chunks.at[i + 1],
		(maps->chunks.n - i - 2) * sizeof(struct space_chunk *));
	maps->chunks.at[i + 1] = upper;
}

/* Young mappings become old ones, and those that were old are forgotten. */
static void maps_age(struct space_maps *maps)
{
	struct space_maps aged = { .n_first = maps->n_first };

	for (size_t i = 0; i < maps->chunks.n; i++) {
		struct space_chunk *chunk = maps->chunks.at[i], *kept = chunk_new();
		for (size_t k = 0; k < chunk->maps.n; k++) {
			struct space_map map = chunk->maps.at[k];
			if (map.age == MAP_OLD)
				continue;
			if (map.age == MAP_YOUNG)
				map.age = MAP_OLD;
			chunk_push(kept, &map, 1);
		}
		if (kept->maps.n)
			vec_push(&aged.chunks, kept);
		else
			chunk_release(kept);
	}
	space_maps_done(maps);
	*maps = aged;
}

void space_maps_add(struct space_maps *maps, const struct space_map *map)
{
	struct space_map added = *map;
	size_t i = maps_chunk_behind(maps, map->start);

	added.age = maps->n_first < MAX_FIRST ? MAP_FIRST : MAP_YOUNG;
	if (added.age == MAP_FIRST)
		maps->n_first++;
	else if (++maps->n_young > MAX_YOUNG) {
		maps_age(maps);
		maps->n_young = 1;
		i = maps_chunk_behind(maps, map->start);
	}
	if (i == maps->chunks.n && i > 0)
		i--; /* behind all others */
	else if (i == maps->chunks.n)
		vec_push(&maps->chunks, chunk_new());
	maps_cut(maps, i + 1, map->end);
	chunk_splice(maps_own(maps, i), &added);
	if (maps->chunks.at[i]->maps.n > MAX_CHUNK)
		maps_split(maps, i);
}
