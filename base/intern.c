/* SPDX-License-Identifier: Apache-2.0 */
#include "base/intern.h"

#include <string.h>

#include "base/hash.h"

static bool intern_same(const void *owner, uint32_t id, const void *key)
{
	const struct intern *intern = owner;
	const struct bytes *text = key;

	return intern->lengths.at[id] == text->len &&
	       memcmp(intern->strings.at[id], text->at, text->len) == 0;
}

static uint64_t intern_hash(const void *owner, uint32_t id)
{
	const struct intern *intern = owner;

	return hash_bytes_secret(
		(struct bytes){ (const uint8_t *)intern->strings.at[id], intern->lengths.at[id] });
}

void intern_init(struct intern *intern)
{
	*intern = (struct intern){ 0 };
	slots_init(&intern->slots);
	intern_add(intern, "");
}

void intern_done(struct intern *intern)
{
	vec_done(&intern->strings);
	vec_done(&intern->lengths);
	slots_done(&intern->slots);
	arena_done(&intern->arena);
	*intern = (struct intern){ 0 };
}

uint32_t intern_find(const struct intern *intern, const char *text)
{
	struct bytes key = { (const uint8_t *)text, strlen(text) };

	return intern->slots
		.at[slots_find(&intern->slots, hash_bytes_secret(key), intern_same, intern, &key)];
}

uint32_t intern_add_n(struct intern *intern, const char *text, size_t len)
{
	struct bytes key = { (const uint8_t *)text, len };
	size_t slot = slots_find(&intern->slots, hash_bytes_secret(key), intern_same, intern, &key);

	if (intern->slots.at[slot] != SLOT_FREE)
		return intern->slots.at[slot];

	uint32_t id = (uint32_t)intern->strings.n;
	vec_push(&intern->strings, arena_text(&intern->arena, text, len));
	vec_push(&intern->lengths, (uint32_t)len);
	slots_put(&intern->slots, slot, id, intern_hash, intern);
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
