/* SPDX-License-Identifier: Apache-2.0 */
#include "report/tree/group.h"

#include "base/cleanup.h"
#include "report/tree/numbering.h"

const char *group_name(enum group_by by)
{
	static const char *const names[] = { [GROUP_FUNCTION] = "function",
					     [GROUP_MODULE] = "module",
					     [GROUP_FILE] = "file",
					     [GROUP_LOOP] = "loop",
					     [GROUP_LINE] = "line" };

	return names[by];
}

/* What identifies a group; without padding, so that it can be hashed and compared as bytes. */
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

/* False for scopes without a group of their own. */
static bool group_key_of(const struct scope *scope, enum group_by by, struct key *ret)
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

uint32_t groups_inherited(const struct groups *groups, const struct scope_tree *tree, uint32_t scope,
			  enum group_by by)
{
	unsigned kind = scope_kind(tree, scope);

	if (kind == SCOPE_LOOP || kind == SCOPE_LINE || (kind == SCOPE_INLINE && by == GROUP_LOOP))
		return groups->of[tree->scopes.at[scope].parent];
	return GROUP_NONE;
}

void groups_init(struct groups *groups, const struct scope_tree *tree, enum group_by by)
{
	CLEANUP(numbering_done) struct numbering numbering;
	struct key key;

	*groups = (struct groups){ .of = alloc_zero(tree->scopes.n, sizeof(*groups->of)) };
	numbering_init(&numbering, sizeof(key));
	for (size_t i = 0; i < tree->scopes.n; i++) {
		const struct scope scope = scope_at(tree, i);
		if (!group_key_of(&scope, by, &key)) {
			groups->of[i] = groups_inherited(groups, tree, (uint32_t)i, by);
			continue;
		}
		groups->of[i] = numbering_add(&numbering, &key);
		if (groups->of[i] == groups->scopes.n)
			vec_push(&groups->scopes, (uint32_t)i);
	}
}

void groups_done(struct groups *groups)
{
	free(groups->of);
	vec_done(&groups->scopes);
	groups->of = NULL;
}
