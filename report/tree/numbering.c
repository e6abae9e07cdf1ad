/* SPDX-License-Identifier: Apache-2.0 */
#include "report/tree/numbering.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"

static bool numbering_same(const void *owner, uint32_t number, const void *key)
{
	const struct numbering *numbering = owner;

	return memcmp(numbering->keys + number * numbering->key_size, key, numbering->key_size) == 0;
}

static uint64_t numbering_hash(const void *owner, uint32_t number)
{
	const struct numbering *numbering = owner;

	return hash_bytes_secret(
		(struct bytes){ numbering->keys + number * numbering->key_size, numbering->key_size });
}

void numbering_init(struct numbering *numbering, size_t key_size)
{
	*numbering = (struct numbering){ .key_size = key_size };
	slots_init(&numbering->slots);
}

void numbering_done(struct numbering *numbering)
{
	free(numbering->keys);
	slots_done(&numbering->slots);
	*numbering = (struct numbering){ 0 };
}

uint32_t numbering_find(const struct numbering *numbering, const void *key)
{
	uint64_t hash = hash_bytes_secret((struct bytes){ key, numbering->key_size });

	return numbering->slots.at[slots_find(&numbering->slots, hash, numbering_same, numbering, key)];
}

uint32_t numbering_add(struct numbering *numbering, const void *key)
{
	uint64_t hash = hash_bytes_secret((struct bytes){ key, numbering->key_size });
	size_t slot = slots_find(&numbering->slots, hash, numbering_same, numbering, key);

	if (numbering->slots.at[slot] != SLOT_FREE)
		return numbering->slots.at[slot];
	if (numbering->n == numbering->cap) {
		numbering->cap = numbering->cap ? numbering->cap * 2 : 128;
		numbering->keys = alloc_resize(numbering->keys, numbering->cap, numbering->key_size);
	}
	memcpy(numbering->keys + numbering->n * numbering->key_size, key, numbering->key_size);
	slots_put(&numbering->slots, slot, (uint32_t)numbering->n, numbering_hash, numbering);
	return (uint32_t)numbering->n++;
}
