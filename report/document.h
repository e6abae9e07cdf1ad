/* SPDX-License-Identifier: Apache-2.0 */
/*
 * document: the profile as the exporters see it: static frames, each once, contexts (nodes) that refer
 * to them, and the costs of single lines (points).
 *
 * Nodes are the scopes that are no lines; node i's parent is a node before it. The values of a line
 * belong to the node around it and are told a second time as a point.
 */
#pragma once

#include "profile/profile.h"
#include "structure/scope.h"

#define NO_NODE UINT32_MAX

/* A static thing: a function, an inlined function, a loop. */
struct document_frame {
	uint8_t kind; /* enum scope_kind */
	uint16_t flags;
	uint32_t name, linkage, file, line, end_line;
	image_id image;
	uint64_t vaddr;
};

struct document_point {
	uint32_t node, file, line;
	image_id image;
	uint64_t vaddr;
	uint32_t metric, thread;
	uint64_t value;
};

struct document {
	const struct profile *profile;
	const struct scope_tree *tree;
	VEC(struct document_frame) frames; /* 0 is the root's */
	VEC(uint32_t) scope;               /* node -> scope */
	VEC(uint32_t) frame;               /* node -> frame */
	VEC(uint32_t) parent;              /* node -> node, NO_NODE for the root */
	VEC(struct scope_value) values;    /* sorted by node, thread, metric; `scope` is the node */
	VEC(uint32_t) points;              /* costs of single lines: each is one of the tree's values; document_point */
	uint32_t *node_of;                 /* scope -> the node its costs belong to */
	uint64_t *self, *inclusive;        /* [node * n_metrics + metric] */
	uint32_t n_metrics;
};

void document_init(struct document *document, const struct profile *profile, const struct scope_tree *tree);
void document_done(struct document *document);
struct document_point document_point(const struct document *document, size_t point);

/* What a frame is called in formats that have only names: "f", "[loop file.c:12]", "<unknown>", "<other>". Valid until the next call. */
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
