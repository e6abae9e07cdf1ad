/* SPDX-License-Identifier: Apache-2.0 */
#include "report/document.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"

const char *scope_kind_name(unsigned kind)
{
	static const char *const names[] = { "root", "special", "function", "inline", "loop", "line", "special" };

	return kind < ARRAY_LEN(names) ? names[kind] : "special";
}

const char *scope_relation_name(unsigned relation)
{
	static const char *const names[] = { "none", "call", "inline", "lexical" };

	return relation < ARRAY_LEN(names) ? names[relation] : "none";
}

const char *profile_image_name(const struct profile *profile, image_id image)
{
	if (image >= profile->images.n)
		return "";
	const char *path = profile_text(profile, profile->images.at[image].path);
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

const char *document_frame_label(const struct document *document, uint32_t frame, char *text, size_t size)
{
	const struct document_frame *f = &document->frames.at[frame];
	const struct profile *profile = document->profile;
	const char *file = profile_text(profile, f->file), *slash = strrchr(file, '/');

	switch (f->kind) {
	case SCOPE_ROOT:
		return "total";
	case SCOPE_INCOMPLETE:
		return "<incomplete>";
	case SCOPE_UNKNOWN:
		/* What --max-nodes folds is nowhere; code in no image has an address at least. */
		return f->name ? profile_text(profile, f->name) : f->vaddr ? "<unknown>" : "<other>";
	case SCOPE_LOOP:
		if (f->line)
			snprintf(text, size, "[loop %s:%u]", slash ? slash + 1 : file, f->line);
		else
			snprintf(text, size, "[loop %s 0x%llx]", profile_text(profile, f->name), (unsigned long long)f->vaddr);
		return text;
	default:
		return profile_text(profile, f->name);
	}
}

/* ---- frames: each static thing once -------------------------------------------------------- */

static uint64_t frame_hash(const struct document_frame *f)
{
	uint64_t h = hash_u64((uint64_t)f->kind << 32 | f->name);

	h = hash_u64(h ^ ((uint64_t)f->file << 32 | f->line));
	h = hash_u64(h ^ ((uint64_t)f->image << 32 | f->end_line));
	return hash_u64(h ^ f->vaddr);
}

static bool frame_equal(const struct document_frame *a, const struct document_frame *b)
{
	return a->kind == b->kind && a->name == b->name && a->linkage == b->linkage && a->file == b->file && a->line == b->line &&
	       a->end_line == b->end_line && a->image == b->image && a->vaddr == b->vaddr;
}

struct frame_index {
	uint32_t *slots;
	size_t n_slots;
};

static void index_grow(struct frame_index *index, const struct document *document)
{
	index->n_slots = index->n_slots ? index->n_slots * 2 : 1024;
	index->slots = alloc_resize(index->slots, index->n_slots, sizeof(uint32_t));
	memset(index->slots, 0xff, index->n_slots * sizeof(uint32_t));
	for (size_t i = 0; i < document->frames.n; i++) {
		size_t at = (size_t)frame_hash(&document->frames.at[i]) & (index->n_slots - 1);
		while (index->slots[at] != UINT32_MAX)
			at = (at + 1) & (index->n_slots - 1);
		index->slots[at] = (uint32_t)i;
	}
}

static uint32_t frame_of(struct document *document, struct frame_index *index, const struct scope *scope)
{
	struct document_frame frame = { scope->kind, scope->flags, scope->name,	 scope->linkage, scope->file,
					scope->line, scope->end_line, scope->image, scope->vaddr };

	/* An inlined function is one thing wherever it was inlined. */
	if (scope->kind == SCOPE_INLINE)
		frame.vaddr = 0;
	if ((document->frames.n + 1) * 2 > index->n_slots)
		index_grow(index, document);
	size_t at = (size_t)frame_hash(&frame) & (index->n_slots - 1);
	for (; index->slots[at] != UINT32_MAX; at = (at + 1) & (index->n_slots - 1))
		if (frame_equal(&document->frames.at[index->slots[at]], &frame))
			return index->slots[at];
	index->slots[at] = (uint32_t)document->frames.n;
	vec_push(&document->frames, frame);
	return index->slots[at];
}

/* ---- nodes and values ----------------------------------------------------------------------- */

/* Fills node_of: the node a scope's values belong to. */
static void add_nodes(struct document *document, uint32_t *node_of)
{
	struct frame_index index = { 0 };

	for (size_t i = 0; i < document->tree->scopes.n; i++) {
		const struct scope *scope = &document->tree->scopes.at[i];
		if (scope->kind == SCOPE_LINE) {
			node_of[i] = node_of[scope->parent];
			continue;
		}
		node_of[i] = (uint32_t)document->scope.n;
		vec_push(&document->scope, (uint32_t)i);
		vec_push(&document->frame, frame_of(document, &index, scope));
		vec_push(&document->parent, i ? node_of[scope->parent] : NO_NODE);
	}
	free(index.slots);
}

struct document_point document_point(const struct document *document, size_t point)
{
	const struct scope_value *value = &document->tree->values.at[document->points.at[point]];
	const struct scope *scope = &document->tree->scopes.at[value->scope];

	return (struct document_point){ document->node_of[value->scope], scope->file, scope->line, scope->image, scope->vaddr,
					value->metric, value->thread, value->value };
}

static void add_values(struct document *document)
{
	vec_reserve(&document->values, document->tree->values.n);
	for (size_t i = 0; i < document->tree->values.n; i++) {
		struct scope_value value = document->tree->values.at[i];
		if (document->tree->scopes.at[value.scope].kind == SCOPE_LINE)
			vec_push(&document->points, (uint32_t)i);
		value.scope = document->node_of[value.scope];
		vec_push(&document->values, value);
	}
	document->values.n = scope_values_settle(document->values.at, document->values.n);
}

static void add_totals(struct document *document)
{
	size_t n = document->scope.n, m = document->n_metrics;

	document->self = alloc_zero(n * m, sizeof(uint64_t));
	document->inclusive = alloc_resize(NULL, n * m, sizeof(uint64_t));
	for (size_t i = 0; i < document->values.n; i++) {
		const struct scope_value *v = &document->values.at[i];
		document->self[v->scope * m + v->metric] += v->value;
	}
	if (n)
		memcpy(document->inclusive, document->self, n * m * sizeof(uint64_t));
	for (size_t i = n; i-- > 1;)
		for (size_t k = 0; k < m; k++)
			document->inclusive[document->parent.at[i] * m + k] += document->inclusive[i * m + k];
}

void document_init(struct document *document, const struct profile *profile, const struct scope_tree *tree)
{
	*document = (struct document){ .profile = profile, .tree = tree, .n_metrics = tree->n_metrics };
	document->node_of = alloc_resize(NULL, tree->scopes.n, sizeof(uint32_t));
	add_nodes(document, document->node_of);
	add_values(document);
	add_totals(document);
}

void document_done(struct document *document)
{
	vec_done(&document->frames);
	vec_done(&document->scope);
	vec_done(&document->frame);
	vec_done(&document->parent);
	vec_done(&document->values);
	vec_done(&document->points);
	free(document->node_of);
	free(document->self);
	free(document->inclusive);
}
