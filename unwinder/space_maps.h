/* SPDX-License-Identifier: Apache-2.0 */
/*
 * space_maps: the mappings of one address space, sorted by address.
 *
 * The kernel gives a process new mappings at ever lower addresses, and a child has those of its parent. So
 * they are stored in chunks: a new one moves only those of its chunk, and a copy shares the chunks that it
 * does not change.
 *
 * The kernel does not report that something was unmapped. A process that maps code at ever new addresses
 * keeps those it had at first, and the newest.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "binary/elf/image.h"

enum map_age { MAP_YOUNG, MAP_OLD, MAP_FIRST };

struct space_map {
	uint64_t start, end; /* run-time addresses */
	uint64_t bias;       /* pc = vaddr + bias */
	image_id image;      /* IMAGE_NONE: anonymous */
	bool is_executable;
	uint8_t age; /* enum map_age; set when it is added */
};

struct space_chunk;

/* Zeroed, it is empty. */
struct space_maps {
	VEC(struct space_chunk *) chunks; /* none is empty */
	size_t chunk, at;                 /* the last hit: the next one is often the same */
	uint32_t n_first, n_young;
};

void space_maps_clear(struct space_maps *maps);
void space_maps_done(struct space_maps *maps);
/* `to` is empty. */
void space_maps_copy(struct space_maps *to, const struct space_maps *from);
/* NULL if nothing is mapped there. Valid until the next change. */
const struct space_map *space_maps_find(struct space_maps *maps, uint64_t pc);
/* The first that ends after vaddr, NULL if there is none. */
const struct space_map *space_maps_next(const struct space_maps *maps, uint64_t vaddr);
/* What was mapped in its place is no more. */
void space_maps_add(struct space_maps *maps, const struct space_map *map);
