/* SPDX-License-Identifier: Apache-2.0 */
#include "report/tree/numbering.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"

#define FREE_SLOT UINT32_MAX

static size_t slot_of(const struct numbering *numbering, const void *key)
{
	size_t size = numbering->key_size, mask = numbering->n_slots - 1;
	size_t i = (size_t)hash_bytes((struct bytes){ key, size }) & mask;

	while (numbering->slots[i] != FREE_SLOT &&
	       memcmp(numbering->keys + numbering->slots[i] * size, key, size) != 0)
		i = (i + 1) & mask;
	return i;
}

static void grow(struct numbering *numbering)
{
	numbering->cap = numbering->cap ? numbering->cap * 2 : 512;
	numbering->n_slots = numbering->cap * 2;
	numbering->keys = alloc_resize(numbering->keys, numbering->cap, numbering->key_size);
	numbering->slots = alloc_resize(numbering->slots, numbering->n_slots, sizeof(*numbering->slots));
	memset(numbering->slots, 0xff, numbering->n_slots * sizeof(*numbering->slots));
	for (size_t i = 0; i < numbering->n; i++)
		numbering->slots[slot_of(numbering, numbering->keys + i * numbering->key_size)] = (uint32_t)i;
}

void numbering_init(struct numbering *numbering, size_t key_size)
{
	*numbering = (struct numbering){ .key_size = key_size };
	grow(numbering);
}

void numbering_done(struct numbering *numbering)
{
	free(numbering->keys);
	free(numbering->slots);
	*numbering = (struct numbering){ 0 };
}

uint32_t numbering_add(struct numbering *numbering, const void *key)
{
	size_t slot = slot_of(numbering, key);

	if (numbering->slots[slot] != FREE_SLOT)
		return numbering->slots[slot];
	if (numbering->n == numbering->cap) {
		grow(numbering);
		slot = slot_of(numbering, key);
	}
	memcpy(numbering->keys + numbering->n * numbering->key_size, key, numbering->key_size);
	numbering->slots[slot] = (uint32_t)numbering->n;
	return (uint32_t)numbering->n++;
}
