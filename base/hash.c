/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/alloc.h"

struct map_slot {
	uint64_t key;
	uint32_t value; /* MAP_NONE = empty */
};

static uint64_t hash_own_secret;

/* The kernel gives every program 16 random bytes. */
__attribute__((constructor)) static void hash_set_secret(void)
{
	const void *random = (const void *)getauxval(AT_RANDOM);
	uint64_t words[2] = { 0 };

	if (random)
		memcpy(words, random, sizeof(words));
	hash_own_secret = hash_u64(words[0]) ^ hash_u64(words[1] + 1);
}

uint64_t hash_secret(void)
{
	return hash_own_secret;
}

static inline uint64_t hash_from(uint64_t h, struct bytes bytes)
{
	size_t i = 0;
	for (; i + 8 <= bytes.len; i += 8) {
		uint64_t word;
		memcpy(&word, bytes.at + i, 8);
		h = hash_u64(h ^ word);
	}
	uint64_t tail = 0;
	if (i < bytes.len)
		memcpy(&tail, bytes.at + i, bytes.len - i);
	return hash_u64(h ^ tail);
}

uint64_t hash_bytes(struct bytes bytes)
{
	return hash_from(bytes.len * 0x9e3779b97f4a7c15u, bytes);
}

uint64_t hash_bytes_secret(struct bytes bytes)
{
	return hash_from(hash_own_secret ^ bytes.len * 0x9e3779b97f4a7c15u, bytes);
}

uint64_t hash_bulk(struct bytes bytes)
{
	uint64_t lane[4] = { 1, 2, 3, 4 };
	size_t i = 0;

	for (; i + sizeof(lane) <= bytes.len; i += sizeof(lane)) {
		uint64_t word[4];
		memcpy(word, bytes.at + i, sizeof(word));
		for (size_t k = 0; k < 4; k++) {
			lane[k] = (lane[k] ^ word[k]) * 0x9e3779b97f4a7c15u;
			lane[k] ^= lane[k] >> 29; /* the high bits must affect the low ones, which a
						     multiplication does not do */
		}
	}
	uint64_t h = hash_bytes(bytes_slice(bytes, i, bytes.len - i));
	for (size_t k = 0; k < 4; k++)
		h = hash_u64(h ^ lane[k]);
	return hash_u64(h ^ bytes.len);
}

static size_t map_home(const struct map *map, uint64_t key)
{
	return (size_t)hash_u64(key ^ hash_own_secret) & (map->cap - 1);
}

static size_t map_slot_of(const struct map *map, uint64_t key)
{
	size_t i = map_home(map, key);

	while (map->slots[i].value != MAP_NONE && map->slots[i].key != key)
		i = (i + 1) & (map->cap - 1);
	return i;
}

static void map_grow(struct map *map)
{
	struct map old = *map;

	map->cap = old.cap ? old.cap * 2 : 16;
	map->slots = alloc_resize(NULL, map->cap, sizeof(*map->slots));
	for (size_t i = 0; i < map->cap; i++)
		map->slots[i].value = MAP_NONE;
	for (size_t i = 0; i < old.cap; i++)
		if (old.slots[i].value != MAP_NONE)
			map->slots[map_slot_of(map, old.slots[i].key)] = old.slots[i];
	free(old.slots);
}

uint32_t map_find(const struct map *map, uint64_t key)
{
	return map->cap ? map->slots[map_slot_of(map, key)].value : MAP_NONE;
}

void map_put(struct map *map, uint64_t key, uint32_t value)
{
	if ((map->n + 1) * 4 > map->cap * 3)
		map_grow(map);

	struct map_slot *slot = &map->slots[map_slot_of(map, key)];
	if (slot->value == MAP_NONE)
		map->n++;
	*slot = (struct map_slot){ key, value };
}

void map_renumber(struct map *map, const uint32_t *number)
{
	for (size_t i = 0; i < map->cap; i++)
		if (map->slots[i].value != MAP_NONE)
			map->slots[i].value = number[map->slots[i].value];
}

void map_remove(struct map *map, uint64_t key)
{
	if (map_find(map, key) == MAP_NONE)
		return;

	size_t hole = map_slot_of(map, key);
	size_t mask = map->cap - 1;
	map->n--;
	/* Close the gap: a later entry may move into the hole if its home slot is not in between. */
	for (size_t i = (hole + 1) & mask; map->slots[i].value != MAP_NONE; i = (i + 1) & mask) {
		size_t home = map_home(map, map->slots[i].key);
		if (((i - home) & mask) < ((i - hole) & mask))
			continue;
		map->slots[hole] = map->slots[i];
		hole = i;
	}
	map->slots[hole].value = MAP_NONE;
}

void map_done(struct map *map)
{
	free(map->slots);
	*map = (struct map){ 0 };
}
