/* SPDX-License-Identifier: Apache-2.0 */
#include "report/group.h"

#include <string.h>

#include "base/hash.h"

/* What makes two scopes one group; padding-free, so that it can be hashed and compared as bytes. */
struct key {
	uint64_t vaddr;
	uint32_t what, name, image, file, line, zero;
};

static struct key function_key(const struct scope *scope)
{
	struct key key = { .what = SCOPE_FUNCTION, .image = scope->image };

	switch (scope->kind) {
	case SCOPE_ROOT:
	case SCOPE_INCOMPLETE:
		key.what = scope->kind;
		break;
	case SCOPE_UNKNOWN:
		key.what = SCOPE_UNKNOWN;
		key.vaddr = scope->vaddr;
		break;
	default:
		key.name = scope->linkage ? scope->linkage : scope->name;
		key.file = scope->file;
		key.line = scope->line;
		if (scope->kind == SCOPE_FUNCTION && scope->file == 0)
			key.vaddr = scope->vaddr;
	}
	return key;
}

/* False for scopes that are in no group of their own. */
static bool key_of(const struct scope *scope, enum group_by by, struct key *ret)
{
	bool is_place = scope->kind != SCOPE_ROOT && scope->kind != SCOPE_INCOMPLETE;

	switch (by) {
	case GROUP_FUNCTION:
		*ret = function_key(scope);
		return scope->kind != SCOPE_LOOP && scope->kind != SCOPE_LINE;
	case GROUP_MODULE:
		*ret = (struct key){ .image = scope->image };
		return is_place;
	case GROUP_FILE:
		*ret = (struct key){ .file = scope->file };
		return is_place;
	case GROUP_LOOP:
		*ret = (struct key){ .vaddr = scope->vaddr, .image = scope->image, .name = scope->name };
		return scope->kind == SCOPE_LOOP;
	case GROUP_LINE:
		*ret = (struct key){ .file = scope->file, .line = scope->line };
		return scope->kind == SCOPE_LINE;
	}
	return false;
}

/* What a scope without a group of its own is part of: of the same function, at most. */
static uint32_t inherited(const struct groups *groups, const struct scope *scope)
{
	if (scope->kind == SCOPE_LOOP || scope->kind == SCOPE_LINE)
		return groups->of[scope->parent];
	return GROUP_NONE;
}

struct index {
	struct key *keys; /* by group */
	uint32_t *slots;
	size_t n_slots, n_keys;
};

/* As many slots as there can be groups, twice over: it never has to grow. */
static void index_init(struct index *index, size_t n)
{
	for (index->n_slots = 16; index->n_slots < 2 * n; index->n_slots *= 2)
		;
	index->slots = alloc_resize(NULL, index->n_slots, sizeof(*index->slots));
	memset(index->slots, 0xff, index->n_slots * sizeof(*index->slots));
	index->keys = alloc_zero(n, sizeof(*index->keys));
}

static uint32_t index_add(struct index *index, const struct key *key)
{
	size_t mask = index->n_slots - 1;
	size_t i = (size_t)hash_bytes((struct bytes){ (const uint8_t *)key, sizeof(*key) }) & mask;

	for (; index->slots[i] != GROUP_NONE; i = (i + 1) & mask)
		if (memcmp(&index->keys[index->slots[i]], key, sizeof(*key)) == 0)
			return index->slots[i];
	index->slots[i] = (uint32_t)index->n_keys;
	index->keys[index->n_keys] = *key;
	return (uint32_t)index->n_keys++;
}

void groups_init(struct groups *groups, const struct scope_tree *tree, enum group_by by)
{
	struct index index = { 0 };
	struct key key;

	*groups = (struct groups){ .of = alloc_zero(tree->scopes.n, sizeof(*groups->of)) };
	index_init(&index, tree->scopes.n);
	for (size_t i = 0; i < tree->scopes.n; i++) {
		const struct scope *scope = &tree->scopes.at[i];
		if (!key_of(scope, by, &key)) {
			groups->of[i] = inherited(groups, scope);
			continue;
		}
		groups->of[i] = index_add(&index, &key);
		if (groups->of[i] == groups->scopes.n)
			vec_push(&groups->scopes, (uint32_t)i);
	}
	free(index.slots);
	free(index.keys);
}

void groups_done(struct groups *groups)
{
	free(groups->of);
	vec_done(&groups->scopes);
	groups->of = NULL;
}
