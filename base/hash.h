/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash: mixing functions, and an open-addressing map from u64 to u32.
 *
 * UINT32_MAX is never a value: it marks an empty slot, and is what map_find returns for an absent key.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

#define MAP_NONE UINT32_MAX

static inline uint64_t hash_u64(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93u;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93u;
	return x ^ x >> 32;
}

uint64_t hash_bytes(struct bytes bytes);
/* A different hash, fast on megabytes: four independent chains. */
uint64_t hash_bulk(struct bytes bytes);

struct map {
	struct map_slot *slots;
	size_t n, cap; /* cap is a power of two */
};

uint32_t map_find(const struct map *map, uint64_t key);
/* Sets or replaces. */
void map_put(struct map *map, uint64_t key, uint32_t value);
/* Every value becomes number[value]. */
void map_renumber(struct map *map, const uint32_t *number);
void map_remove(struct map *map, uint64_t key);
void map_done(struct map *map);
