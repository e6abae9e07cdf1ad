/* SPDX-License-Identifier: Apache-2.0 */
#include "structure/scope.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/search.h"

enum scope_relation scope_relation(unsigned kind)
{
	static const enum scope_relation relations[] = { [SCOPE_FUNCTION] = RELATION_CALL,
							 [SCOPE_INLINE] = RELATION_INLINE,
							 [SCOPE_LOOP] = RELATION_LEXICAL,
							 [SCOPE_LINE] = RELATION_LEXICAL,
							 [SCOPE_UNKNOWN] = RELATION_CALL };

	return kind < ARRAY_LEN(relations) ? relations[kind] : RELATION_NONE;
}

struct scope scope_at(const struct scope_tree *tree, size_t scope)
{
	const struct scope_row *row = &tree->scopes.at[scope];
	const struct scope_frame *frame = &tree->frames.at[row->frame];
	const struct scope_call *call = &tree->calls.at[row->call];

	return (struct scope){ .parent = row->parent,
			       .kind = frame->kind,
			       .relation = (uint8_t)scope_relation(frame->kind),
			       .flags = frame->flags,
			       .name = frame->name,
			       .linkage = frame->linkage,
			       .file = frame->file,
			       .line = frame->line,
			       .end_line = frame->end_line,
			       .call_file = call->file,
			       .call_line = call->line,
			       .image = frame->image,
			       .vaddr = frame->vaddr,
			       .call_vaddr = call->vaddr };
}

size_t scope_tree_n_nodes(const struct scope_tree *tree)
{
	return search_first(i, tree->scopes.n, scope_kind(tree, i) == SCOPE_LINE);
}

void scope_tree_done(struct scope_tree *tree)
{
	vec_done(&tree->scopes);
	vec_done(&tree->frames);
	vec_done(&tree->calls);
	vec_done(&tree->values);
	vec_done(&tree->durations);
}

/* ---- making one --------------------------------------------------------------------------------- */

static uint64_t frame_hash(const struct scope_frame *f)
{
	uint64_t h = hash_u64(hash_secret() ^ ((uint64_t)f->kind << 32 | f->name));

	h = hash_u64(h ^ ((uint64_t)f->file << 32 | f->line));
	h = hash_u64(h ^ ((uint64_t)f->image << 32 | f->end_line));
	return hash_u64(h ^ f->vaddr);
}

static uint64_t frame_hash_at(const void *tree, uint32_t index)
{
	return frame_hash(&((const struct scope_tree *)tree)->frames.at[index]);
}

/* Flags are those that were seen first. */
static bool frame_same(const void *tree, uint32_t index, const void *key)
{
	const struct scope_frame *a = &((const struct scope_tree *)tree)->frames.at[index], *b = key;

	return a->kind == b->kind && a->name == b->name && a->linkage == b->linkage && a->file == b->file &&
	       a->line == b->line && a->end_line == b->end_line && a->image == b->image &&
	       a->vaddr == b->vaddr;
}

static uint64_t call_hash(const struct scope_call *call)
{
	return hash_pair_secret(call->vaddr, (uint64_t)call->file << 32 | call->line);
}

static uint64_t call_hash_at(const void *tree, uint32_t index)
{
	return call_hash(&((const struct scope_tree *)tree)->calls.at[index]);
}

static bool call_same(const void *tree, uint32_t index, const void *key)
{
	const struct scope_call *a = &((const struct scope_tree *)tree)->calls.at[index], *b = key;

	return a->vaddr == b->vaddr && a->file == b->file && a->line == b->line;
}

uint32_t scope_maker_frame(struct scope_maker *maker, struct scope_frame frame)
{
	struct scope_tree *tree = maker->tree;

	if (frame.kind == SCOPE_INLINE)
		frame.vaddr = 0; /* the same frame wherever it was inlined */
	size_t slot = slots_find(&maker->frames, frame_hash(&frame), frame_same, tree, &frame);
	if (maker->frames.at[slot] != SLOT_FREE)
		return maker->frames.at[slot];

	uint32_t index = (uint32_t)tree->frames.n;
	vec_push(&tree->frames, frame);
	slots_put(&maker->frames, slot, index, frame_hash_at, tree);
	return index;
}

uint32_t scope_maker_call(struct scope_maker *maker, struct scope_call call)
{
	struct scope_tree *tree = maker->tree;
	size_t slot = slots_find(&maker->calls, call_hash(&call), call_same, tree, &call);

	if (maker->calls.at[slot] != SLOT_FREE)
		return maker->calls.at[slot];

	uint32_t index = (uint32_t)tree->calls.n;
	vec_push(&tree->calls, call);
	slots_put(&maker->calls, slot, index, call_hash_at, tree);
	return index;
}

void scope_maker_init(struct scope_maker *maker, struct scope_tree *tree)
{
	*maker = (struct scope_maker){ .tree = tree };
	slots_init(&maker->frames);
	slots_init(&maker->calls);
	scope_maker_call(maker, (struct scope_call){ 0 });
}

void scope_maker_done(struct scope_maker *maker)
{
	slots_done(&maker->frames);
	slots_done(&maker->calls);
	*maker = (struct scope_maker){ 0 };
}

uint32_t scope_maker_add(struct scope_maker *maker, const struct scope *scope)
{
	struct scope_row row = { .parent = scope->parent };

	row.frame = scope_maker_frame(maker, (struct scope_frame){ .vaddr = scope->vaddr,
								   .name = scope->name,
								   .linkage = scope->linkage,
								   .file = scope->file,
								   .line = scope->line,
								   .end_line = scope->end_line,
								   .image = scope->image,
								   .flags = scope->flags,
								   .kind = scope->kind });
	row.call = scope_maker_call(
		maker, (struct scope_call){ scope->call_vaddr, scope->call_file, scope->call_line });
	vec_push(&maker->tree->scopes, row);
	return (uint32_t)maker->tree->scopes.n - 1;
}

/* ---- values ------------------------------------------------------------------------------------- */

static int scope_compare_values(const void *left, const void *right)
{
	const struct scope_value *a = left, *b = right;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return a->metric < b->metric ? -1 : a->metric > b->metric;
}

#define COPY_MAX (4u << 20) /* values, of which there is memory for a copy: 96 MB */

/* Moves each value to the values of its scope, by swapping. */
static void gather_by_scope(struct scope_value *values, const uint32_t *start, uint32_t *next,
			    size_t n_scopes)
{
	for (size_t scope = 0; scope < n_scopes; scope++)
		while (next[scope] < start[scope + 1]) {
			struct scope_value value = values[next[scope]];
			uint32_t *to = &next[value.scope];
			values[next[scope]] = values[*to];
			values[*to] = value;
			++*to;
		}
}

/* The same with memory for a copy, which is several times as fast: no move depends on the one before. */
static void scatter_by_scope(struct scope_value *values, size_t n, uint32_t *next)
{
	struct scope_value *from = alloc_resize(NULL, n, sizeof(*from));

	memcpy(from, values, n * sizeof(*from));
	for (size_t i = 0; i < n; i++)
		values[next[from[i].scope]++] = from[i];
	free(from);
}

/* Sorts one scope's values and adds up those of the same thread and metric; returns how many remain. */
static size_t settle_scope(struct scope_value *values, size_t n)
{
	size_t last = 0;

	if (n > 1)
		qsort(values, n, sizeof(*values), scope_compare_values);
	for (size_t i = 1; i < n; i++) {
		if (scope_compare_values(&values[last], &values[i]) == 0)
			values[last].value += values[i].value;
		else
			values[++last] = values[i];
	}
	return n ? last + 1 : 0;
}

size_t scope_values_settle(struct scope_value *values, size_t n, size_t n_scopes)
{
	/* 32 bits are enough: 2^32 values would be 96 gigabytes. */
	CLEANUP(freep) uint32_t *start = alloc_zero(n_scopes + 1, sizeof(*start));
	CLEANUP(freep) uint32_t *next = alloc_zero(n_scopes + 1, sizeof(*next));
	size_t kept = 0;

	if (n == 0) /* in this case there may be no values to point to */
		return 0;
	for (size_t i = 0; i < n; i++)
		start[values[i].scope + 1]++;
	for (size_t scope = 0; scope < n_scopes; scope++)
		start[scope + 1] += start[scope];
	memcpy(next, start, (n_scopes + 1) * sizeof(*next));
	if (n <= COPY_MAX)
		scatter_by_scope(values, n, next);
	else
		gather_by_scope(values, start, next, n_scopes);
	for (size_t scope = 0; scope < n_scopes; scope++) {
		size_t left = settle_scope(values + start[scope], start[scope + 1] - start[scope]);
		if (left)
			memmove(values + kept, values + start[scope], left * sizeof(*values));
		kept += left;
	}
	return kept;
}
