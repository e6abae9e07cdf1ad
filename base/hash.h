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

/*
 * Random in each process, and the same in all that it forks. Hashes that say where something is in a table
 * begin with it: otherwise a file could contain nothing but keys of one place, and each of them would be
 * compared with all before it. What is kept, or decides about an order, must not depend on it.
 */
uint64_t hash_secret(void);
uint64_t hash_bytes(struct bytes bytes);
/* The same for tables. */
uint64_t hash_bytes_secret(struct bytes bytes);
/* For tables: of two numbers, each of which a file can choose. */
static inline uint64_t hash_pair_secret(uint64_t a, uint64_t b)
{
	uint64_t secret = hash_secret();

	return hash_u64((a ^ secret) + b * (secret | 1));
}
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
