/* SPDX-License-Identifier: Apache-2.0 */
#include "base/intern.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"

#define FREE_SLOT UINT32_MAX

static size_t slot_of(const struct intern *intern, const char *text, size_t len)
{
	size_t mask = intern->n_slots - 1;
	size_t i = (size_t)hash_bytes((struct bytes){ (const uint8_t *)text, len }) & mask;

	for (;; i = (i + 1) & mask) {
		uint32_t id = intern->slots[i];
		if (id == FREE_SLOT)
			return i;
		if (intern->lengths.at[id] == len && memcmp(intern->strings.at[id], text, len) == 0)
			return i;
	}
}

static void grow(struct intern *intern)
{
	intern->n_slots = intern->n_slots ? intern->n_slots * 2 : 64;
	intern->slots = alloc_resize(intern->slots, intern->n_slots, sizeof(*intern->slots));
	memset(intern->slots, 0xff, intern->n_slots * sizeof(*intern->slots));
	for (size_t id = 0; id < intern->strings.n; id++)
		intern->slots[slot_of(intern, intern->strings.at[id], intern->lengths.at[id])] = (uint32_t)id;
}

void intern_init(struct intern *intern)
{
	*intern = (struct intern){ 0 };
	grow(intern);
	intern_add(intern, "");
}

void intern_done(struct intern *intern)
{
	vec_done(&intern->strings);
	vec_done(&intern->lengths);
	free(intern->slots);
	arena_done(&intern->arena);
	*intern = (struct intern){ 0 };
}

uint32_t intern_add_n(struct intern *intern, const char *text, size_t len)
{
	size_t slot = slot_of(intern, text, len);

	if (intern->slots[slot] != FREE_SLOT)
		return intern->slots[slot];

	uint32_t id = (uint32_t)intern->strings.n;
	vec_push(&intern->strings, arena_text(&intern->arena, text, len));
	vec_push(&intern->lengths, (uint32_t)len);
	intern->slots[slot] = id;
	if (intern->strings.n * 2 > intern->n_slots)
		grow(intern);
	return id;
}

uint32_t intern_add(struct intern *intern, const char *text)
{
	return intern_add_n(intern, text, strlen(text));
}

const char *intern_text(const struct intern *intern, uint32_t id)
{
	return id < intern->strings.n ? intern->strings.at[id] : "";
}
