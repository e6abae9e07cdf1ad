/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of fuse that splits the costs of scopes by line.
 */
#include "base/cleanup.h"
#include "base/hash.h"
#include "structure/fuse_private.h"

static uint32_t fuse_add_line(struct fuse *fuse, const struct landing *landing, uint64_t vaddr)
{
	const struct scope_frame *outer = scope_frame(fuse->tree, landing->scope);
	const struct scope_call *place = &fuse->tree->calls.at[landing->call];
	struct scope_frame frame = { .kind = SCOPE_LINE,
				     .flags = outer->flags & SCOPE_KERNEL,
				     .name = outer->name,
				     .file = place->file,
				     .line = place->line,
				     .image = outer->image,
				     .vaddr = vaddr };

	/* Lines are only added when they are new, so there is no need to look them up. */
	vec_push(&fuse->tree->scopes,
		 (struct scope_row){ landing->scope, scope_maker_frame(&fuse->maker, frame), 0 });
	return (uint32_t)fuse->tree->scopes.n - 1;
}

/* The nodes that have costs, in the order of their scopes and then their own. */
static uint32_t *nodes_with_costs(const struct fuse *fuse, size_t *ret_n)
{
	const struct cct *cct = fuse->input->cct;
	size_t n_scopes = fuse->tree->scopes.n, n = 0;
	CLEANUP(freep) bool *is_leaf = alloc_zero(cct->nodes.n, sizeof(*is_leaf));
	CLEANUP(freep) uint32_t *next = alloc_zero(n_scopes + 1, sizeof(*next));

	for (size_t i = 0; i < cct->values.n; i++)
		is_leaf[cct->values.at[i].node] |= cct->values.at[i].metric != CCT_ACTIVATIONS;
	for (size_t i = 0; i < cct->nodes.n; i++)
		if (is_leaf[i]) {
			next[fuse->landings[i].scope + 1]++;
			n++;
		}
	for (size_t i = 0; i < n_scopes; i++)
		next[i + 1] += next[i];
	uint32_t *order = alloc_zero(n + 1, sizeof(*order));
	for (size_t i = 0; i < cct->nodes.n; i++)
		if (is_leaf[i])
			order[next[fuse->landings[i].scope]++] = (uint32_t)i;
	*ret_n = n;
	return order;
}

/* Do the costs there have a line or, if addresses are requested, an address in a function? */
static bool has_place(const struct fuse *fuse, const struct landing *landing)
{
	unsigned kind = scope_kind(fuse->tree, landing->scope);

	if (fuse->options->addresses)
		return kind >= SCOPE_FUNCTION && kind <= SCOPE_LOOP;
	return fuse->tree->calls.at[landing->call].line != 0;
}

/*
 * Only nodes that have costs get a line: the lines of others are call sites. A line of a scope is one
 * SCOPE_LINE for all its addresses, with the first of them, unless addresses are requested.
 */
void fuse_add_lines(struct fuse *fuse)
{
	struct map lines = { 0 }; /* of one scope */
	uint32_t outer = UINT32_MAX;
	size_t n;
	CLEANUP(freep) uint32_t *order = nodes_with_costs(fuse, &n);

	for (size_t i = 0; i < n; i++) {
		struct landing *landing = &fuse->landings[order[i]];
		const struct scope_call *place = &fuse->tree->calls.at[landing->call];
		uint64_t vaddr = fuse->input->cct->nodes.at[order[i]].vaddr;
		uint64_t key = fuse->options->addresses ? vaddr : (uint64_t)place->file << 32 | place->line;
		if (!has_place(fuse, landing))
			continue;
		if (landing->scope != outer)
			map_done(&lines);
		outer = landing->scope;
		uint32_t line = map_find(&lines, key);
		if (line == MAP_NONE)
			map_put(&lines, key, line = fuse_add_line(fuse, landing, vaddr));
		landing->scope = line;
	}
	map_done(&lines);
}
