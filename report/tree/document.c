/* SPDX-License-Identifier: Apache-2.0 */
#include "report/tree/document.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/search.h"

const char *scope_kind_name(unsigned kind)
{
	static const char *const names[] = { "root", "special", "function", "inline",
					     "loop", "line",    "special" };

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
	const struct scope_frame *f = &document->frames.at[frame];
	const struct profile *profile = document->profile;
	const char *file = profile_text(profile, f->file), *slash = strrchr(file, '/');

	switch (f->kind) {
	case SCOPE_ROOT:
		return "total";
	case SCOPE_INCOMPLETE:
		return "<incomplete>";
	case SCOPE_UNKNOWN:
		/* What --max-nodes folds has no place; code in no image at least has an address. */
		return f->name ? profile_text(profile, f->name) : f->vaddr ? "<unknown>" : "<other>";
	case SCOPE_LOOP:
		if (f->line)
			snprintf(text, size, "[loop %s:%u]", slash ? slash + 1 : file, f->line);
		else
			snprintf(text, size, "[loop %s 0x%llx]", profile_text(profile, f->name),
				 (unsigned long long)f->vaddr);
		return text;
	default:
		return profile_text(profile, f->name);
	}
}

/* ---- values by node --------------------------------------------------------------------------- */

#define MARK_EVERY 4096 /* values */

static uint32_t node_of(const struct document *document, size_t value)
{
	uint32_t scope = document->tree->values.at[value].scope;

	return value < document->first_point ? scope : document->tree->scopes.at[scope].parent;
}

/* The first of the values [low, high) whose node is at least this one. */
static size_t find_node(const struct document *document, size_t low, size_t high, uint32_t node)
{
	return search_first_in(i, low, high, node_of(document, i) >= node);
}

void document_own_values(const struct document *document, uint32_t node, size_t *ret_from, size_t *ret_to)
{
	*ret_from = find_node(document, 0, document->first_point, node);
	*ret_to = *ret_from;
	while (*ret_to < document->first_point && node_of(document, *ret_to) == node)
		++*ret_to;
}

void document_line_values(const struct document *document, uint32_t node, size_t *ret_from, size_t *ret_to)
{
	size_t n = document->tree->values.n;

	*ret_from = find_node(document, document->first_point, n, node);
	*ret_to = *ret_from;
	while (*ret_to < n && node_of(document, *ret_to) == node)
		++*ret_to;
}

static int document_by_thread(const void *left, const void *right)
{
	const struct scope_value *a = left, *b = right;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return a->metric < b->metric ? -1 : a->metric > b->metric;
}

static void take_values(const struct document *document, struct document_node_values *of, size_t *at,
			size_t end)
{
	for (; *at < end && node_of(document, *at) == of->node; ++*at) {
		vec_push(&of->values, document->tree->values.at[*at]);
		of->values.at[of->values.n - 1].scope = of->node;
	}
}

/* Collects the values of a node; own and line are the first that do not belong to an earlier node. */
static void collect_values(const struct document *document, struct document_node_values *of, uint32_t node)
{
	size_t n = 0;

	of->node = node;
	vec_clear(&of->values);
	take_values(document, of, &of->own, document->first_point);
	size_t n_own = of->values.n;
	take_values(document, of, &of->line, document->tree->values.n);
	if (of->values.n == n_own)
		return; /* they are in order */
	qsort(of->values.at, of->values.n, sizeof(*of->values.at), document_by_thread);
	for (size_t i = 1; i < of->values.n; i++) {
		if (document_by_thread(&of->values.at[n], &of->values.at[i]) == 0)
			of->values.at[n].value += of->values.at[i].value;
		else
			of->values.at[++n] = of->values.at[i];
	}
	of->values.n = n + 1;
}

static void seek_node(const struct document *document, struct document_node_values *of, uint32_t node)
{
	of->own = find_node(document, 0, document->first_point, node);
	of->line = find_node(document, document->first_point, document->tree->values.n, node);
	collect_values(document, of, node);
}

/* Moves to the next node that has values; false at the end. */
static bool next_node(const struct document *document, struct document_node_values *of)
{
	uint32_t own = of->own < document->first_point ? node_of(document, of->own) : NO_NODE;
	uint32_t line = of->line < document->tree->values.n ? node_of(document, of->line) : NO_NODE;

	if (own == NO_NODE && line == NO_NODE)
		return false;
	collect_values(document, of, own < line ? own : line);
	return true;
}

void document_cursor_init(struct document_cursor *cursor, const struct document *document)
{
	*cursor = (struct document_cursor){ .document = document };
	cursor->self.node = NO_NODE - 1;       /* none, and not the one before the first either */
	cursor->first = SIZE_MAX - MARK_EVERY; /* nowhere yet */
	cursor->self.line = cursor->value.line = document->first_point;
}

void document_cursor_done(struct document_cursor *cursor)
{
	vec_done(&cursor->self.values);
	vec_done(&cursor->value.values);
}

uint64_t document_self(struct document_cursor *cursor, size_t node, uint32_t metric)
{
	struct document_node_values *self = &cursor->self;
	uint64_t sum = 0;

	if (node == (size_t)self->node + 1)
		collect_values(cursor->document, self, (uint32_t)node);
	else if (node != self->node)
		seek_node(cursor->document, self, (uint32_t)node);
	for (size_t i = 0; i < self->values.n; i++)
		if (self->values.at[i].metric == metric)
			sum += self->values.at[i].value;
	return sum;
}

struct scope_value document_value(struct document_cursor *cursor, size_t i)
{
	const struct document *document = cursor->document;
	struct document_node_values *value = &cursor->value;

	if (cursor->has_before && i + 1 == cursor->first)
		return cursor->before;
	if (i < cursor->first || i >= cursor->first + value->values.n + MARK_EVERY) {
		seek_node(document, value, document->marks.at[i / MARK_EVERY]);
		cursor->first = document->starts.at[i / MARK_EVERY];
		cursor->has_before = false;
	}
	while (i >= cursor->first + value->values.n) {
		cursor->before = value->values.at[value->values.n - 1];
		cursor->has_before = true;
		cursor->first += value->values.n;
		next_node(document, value);
	}
	return value->values.at[i - cursor->first];
}

/* Counts the values, and builds the index. */
static void mark_values(struct document *document)
{
	struct document_cursor cursor;
	const struct document_node_values *value = &cursor.value;

	document_cursor_init(&cursor, document);
	while (next_node(document, &cursor.value)) {
		size_t end = document->n_values + value->values.n;
		while (document->marks.n * MARK_EVERY < end) {
			vec_push(&document->marks, value->node);
			vec_push(&document->starts, document->n_values);
		}
		document->n_values = end;
	}
	document_cursor_done(&cursor);
}

struct document_point document_point(const struct document *document, size_t point)
{
	const struct scope_value *value = &document->tree->values.at[document->first_point + point];
	const struct scope_row *row = &document->tree->scopes.at[value->scope];
	const struct scope_frame *line = &document->tree->frames.at[row->frame];

	return (struct document_point){ row->parent, line->file,    line->line,    line->image,
					line->vaddr, value->metric, value->thread, value->value };
}

/* ---- the whole -------------------------------------------------------------------------------- */

static size_t document_count_frames(const struct scope_tree *tree)
{
	size_t n = 0;

	while (n < tree->frames.n && tree->frames.at[n].kind != SCOPE_LINE)
		n++;
	return n;
}

static size_t find_first_point(const struct scope_tree *tree, size_t n_nodes)
{
	return search_first(i, tree->values.n, tree->values.at[i].scope >= n_nodes);
}

void document_init(struct document *document, const struct profile *profile, const struct scope_tree *tree)
{
	*document = (struct document){ .profile = profile, .tree = tree, .n_metrics = tree->n_metrics };
	document->frames.at = tree->frames.at;
	document->frames.n = document_count_frames(tree);
	document->n_nodes = scope_tree_n_nodes(tree);
	document->first_point = find_first_point(tree, document->n_nodes);
	document->n_points = tree->values.n - document->first_point;
	mark_values(document);
	totals_init(&document->totals, tree,
		    &(struct totals_options){ .n_scopes = document->n_nodes, .metric = TOTALS_ALL });
}

static void index_files(struct document *document)
{
	const struct scope_tree *tree = document->tree;
	size_t n = document->profile->strings.strings.n;
	CLEANUP(freep) bool *is_file = alloc_zero(n + 1, sizeof(bool));

	for (size_t i = 0; i < tree->frames.n; i++)
		is_file[tree->frames.at[i].file] = true;
	for (size_t i = 0; i < document->n_nodes; i++)
		is_file[document_call(document, i)->file] = true;
	for (uint32_t i = 1; i < n; i++)
		if (is_file[i])
			vec_push(&document->files, i);
}

/* Parents come first, so the loop around a loop is already known. */
static void index_loops(struct document *document)
{
	vec_reserve(&document->loops, document->frames.n);
	for (size_t i = 0; i < document->frames.n; i++)
		vec_push(&document->loops, ((struct document_loop){ NO_NODE, 0 }));
	for (uint32_t node = 1; node < document->n_nodes; node++) {
		struct document_loop *loop = &document->loops.at[document_frame(document, node)];
		uint32_t outer = document_parent(document, node);
		if (scope_kind(document->tree, node) != SCOPE_LOOP || loop->depth)
			continue;
		while (scope_kind(document->tree, outer) == SCOPE_INLINE)
			outer = document_parent(document, outer);
		uint32_t frame = document_frame(document, outer);
		bool is_inner = document->frames.at[frame].kind == SCOPE_LOOP;
		*loop = (struct document_loop){ is_inner ? frame : NO_NODE,
						is_inner ? document->loops.at[frame].depth + 1 : 1 };
	}
}

void document_index(struct document *document)
{
	index_files(document);
	index_loops(document);
}

void document_done(struct document *document)
{
	vec_done(&document->files);
	vec_done(&document->loops);
	vec_done(&document->marks);
	vec_done(&document->starts);
	totals_done(&document->totals);
}
