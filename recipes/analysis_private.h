/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Common declarations of analysis.c (functions) and analysis_near.c (images that are too large to search
 * completely).
 */
#pragma once

#include "base/hash.h"
#include "binary/flow/flow.h"
#include "binary/functions/function.h"
#include "recipes/analysis.h"
#include "recipes/inner.h"

#define MAX_NEAR 256

/* A piece of a large text, analysed as if there were no more of it. */
struct analysis_piece {
	uint64_t number;           /* of the piece in the image */
	uint64_t used;             /* when: the number of the question */
	struct analysis *analysis; /* NULL = none */
};

struct analysis {
	struct image *image;
	const struct frames *frames;
	struct symbols *symbols;     /* NULL before they are needed */
	struct functions *functions; /* NULL before the first question */
	struct bytes given;          /* their index, packed */
	struct writer index;         /* the same, made here */
	bool packs_index;
	struct flow flow;
	struct recipes *recipes;
	struct recipe_table table;
	VEC(uint32_t) pieces; /* spans that functions took in from elsewhere, sorted by start */
	struct map by_start;  /* start -> span */
	struct map tried;     /* starts of functions that were analysed */
	struct inner inner;
	struct analysis_piece near[MAX_NEAR]; /* pieces of a large text, the ones used last */
	uint64_t n_near;                      /* pieces made so far */
	uint64_t n_analysed;
};

/* Reads or makes the index of functions. */
void analysis_open_index(struct analysis *analysis);
/* Of a part of what the flow has analysed last. */
void analysis_keep_rows(struct analysis *analysis, size_t part);
/*
 * The recipe at vaddr, given where the function or part that holds it starts. What a function takes in
 * need not start where the index says that something does.
 */
uint32_t analysis_find_row(const struct analysis *analysis, uint64_t start, uint64_t vaddr);
