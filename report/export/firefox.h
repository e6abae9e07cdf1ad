/* SPDX-License-Identifier: Apache-2.0 */
/*
 * firefox: shared by the parts of the Firefox Profiler export: the samples in the form of that format.
 */
#pragma once

#include "base/hash.h"
#include "base/intern.h"
#include "base/json.h"
#include "report/tree/document.h"
#include "report/tree/numbering.h"

#define FIREFOX_NONE UINT32_MAX

/* Position in the list that firefox_head.c writes. */
enum firefox_category { CATEGORY_OTHER, CATEGORY_USER, CATEGORY_KERNEL };

/* A function at one place. The function is a document frame. */
struct firefox_place {
	uint32_t function, native; /* native: document frame of the function that contains the inlined code */
	uint32_t line, depth;
	uint64_t vaddr;
};

struct firefox_stack {
	uint32_t frame, prefix;
};

struct firefox_sample {
	uint32_t thread, rank, stack;
	uint64_t weight;
};

struct firefox {
	struct json json;
	const struct document *document;
	uint32_t metric;
	bool is_time;
	uint32_t *rank; /* of each node, depth-first */
	uint32_t n_ranked;
	VEC(struct firefox_place) path;  /* of one sample, leaf first */
	struct numbering frames, stacks; /* of struct firefox_place, struct firefox_stack */
	VEC(struct firefox_sample) samples;
	VEC(uint32_t) files, natives; /* string of a source; document frame of a native symbol */
	struct map file_index, native_index;
	struct intern strings;
};

static inline const struct firefox_place *firefox_frame(const struct firefox *firefox, size_t frame)
{
	return (const struct firefox_place *)firefox->frames.keys + frame;
}
static inline const struct firefox_stack *firefox_stack(const struct firefox *firefox, size_t stack)
{
	return (const struct firefox_stack *)firefox->stacks.keys + stack;
}

/* Fills frames, stacks and samples from the document, for the metric. */
void firefox_collect(struct firefox *firefox);
/* The members "meta" and "libs". */
void firefox_write_head(struct firefox *firefox);
