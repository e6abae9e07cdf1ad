/* SPDX-License-Identifier: Apache-2.0 */
/*
 * document: the profile as the exporters see it: static frames, each once, contexts (nodes) that refer
 * to them, and the costs of single lines (points).
 *
 * Nodes are the scopes that are not lines; node i is scope i, and parents precede children. The values of a
 * line belong to the node around it and are also listed as a point.
 *
 * The tree is not copied: in addition to it there is one 32-bit number for each node and metric. Values are
 * read through a cursor: sequential access is direct, random access takes a search.
 */
#pragma once

#include "profile/profile.h"
#include "report/tree/scope_calls.h"
#include "report/tree/totals.h"
#include "structure/scope.h"

#define NO_NODE UINT32_MAX

struct document_point {
	uint32_t node, file, line;
	image_id image;
	uint64_t vaddr;
	uint32_t metric, thread;
	uint64_t value;
};

/* The position of a frame that is a loop among the loops of its function. */
struct document_loop {
	uint32_t parent; /* frame of the loop around it, NO_NODE = none */
	uint32_t depth;  /* 1 = outermost; 0 = not a loop */
};

struct document {
	const struct profile *profile;
	const struct scope_tree *tree;
	struct {
		const struct scope_frame *at;
		size_t n;
	} frames; /* of nodes; 0 is that of the root */
	size_t n_nodes, n_values, n_points;
	size_t first_point; /* from here on, the tree's values are those of lines */
	struct totals totals;
	uint32_t n_metrics;
	const struct scope_calls *seen; /* calls of functions; NULL = not requested. Set by the caller */
	/* An index of the values, at intervals: the node, and the number of that node's first value. */
	VEC(uint32_t) marks;
	VEC(size_t) starts;
	/* By document_index: */
	VEC(uint32_t) files;             /* every path that a frame, line or call refers to, by its number */
	VEC(struct document_loop) loops; /* by frame */
};

void document_init(struct document *document, const struct profile *profile, const struct scope_tree *tree);
/* Fills files and loops, for exporters that list them. */
void document_index(struct document *document);
void document_done(struct document *document);

static inline uint32_t document_frame(const struct document *document, size_t node)
{
	return document->tree->scopes.at[node].frame;
}
/* NO_NODE for the root. */
static inline uint32_t document_parent(const struct document *document, size_t node)
{
	return node ? document->tree->scopes.at[node].parent : NO_NODE;
}
static inline const struct scope_call *document_call(const struct document *document, size_t node)
{
	return &document->tree->calls.at[document->tree->scopes.at[node].call];
}
static inline uint64_t document_inclusive(const struct document *document, size_t node, uint32_t metric)
{
	return totals_of(&document->totals, node, metric);
}

/* The values of one node. Those of its lines are in another part of the tree's values than its own. */
struct document_node_values {
	size_t own, line; /* the tree's values after those of the node */
	uint32_t node;
	VEC(struct scope_value) values; /* its own and its lines', sorted by thread and metric, each once */
};
/* Reads values, and remembers the last position. Each reader has its own. */
struct document_cursor {
	const struct document *document;
	struct document_node_values self, value;
	size_t first;              /* number of value.values.at[0] */
	struct scope_value before; /* the value before that one, */
	bool has_before;           /* if it was passed */
};
void document_cursor_init(struct document_cursor *cursor, const struct document *document);
void document_cursor_done(struct document_cursor *cursor);
/* Of all threads, lines included. */
uint64_t document_self(struct document_cursor *cursor, size_t node, uint32_t metric);
/* Value i of n_values, sorted by node, thread, metric; `scope` is the node. */
struct scope_value document_value(struct document_cursor *cursor, size_t i);

/* Point i of n_points, in the order of nodes and lines. */
struct document_point document_point(const struct document *document, size_t point);
/* The tree's values [*ret_from, *ret_to) that belong to a node itself, and those that belong to its lines. */
void document_own_values(const struct document *document, uint32_t node, size_t *ret_from, size_t *ret_to);
void document_line_values(const struct document *document, uint32_t node, size_t *ret_from, size_t *ret_to);

/* The label of a frame in formats that have only names: "f", "[loop file.c:12]", "<unknown>", "<other>".
 * Valid until the next call. */
const char *document_frame_label(const struct document *document, uint32_t frame, char *text, size_t size);
/* "root", "function", ... and "none", "call", "inline", "lexical". */
const char *scope_kind_name(unsigned kind);
const char *scope_relation_name(unsigned relation);
/* Last component of an image's path; "" if there is no image. */
const char *profile_image_name(const struct profile *profile, image_id image);
/* A string of the profile. */
static inline const char *profile_text(const struct profile *profile, uint32_t id)
{
	return intern_text(&profile->strings, id);
}
