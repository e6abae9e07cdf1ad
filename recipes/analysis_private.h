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

/* A piece of a large text, analysed as if there were no other text. */
struct analysis_piece {
	uint64_t number; /* of the piece in the image */
	uint64_t used;   /* when it was last used: the number of the query */
	uint64_t size;   /* its memory in bytes, roughly */
	struct analysis *analysis;
};

struct analysis {
	struct image *image;
	const struct frames *frames;
	struct symbols *symbols;     /* NULL before they are needed */
	struct functions *functions; /* NULL before the first query */
	struct bytes given;          /* their packed index, from the caller */
	struct writer index;         /* the same, created here */
	bool packs_index;
	struct flow flow;
	struct recipes *recipes;
	struct recipe_table table;
	VEC(uint32_t) pieces; /* spans of parts that functions absorbed from elsewhere, sorted by start */
	struct map by_start;  /* start -> span */
	struct map tried;     /* starts of functions that were analysed */
	struct inner inner;
	VEC(struct analysis_piece) near; /* the most recently used pieces of a large text */
	uint64_t n_near;                 /* queries so far */
	uint64_t near_size;              /* the memory of these pieces */
	uint64_t n_analysed;
};

/* Reads or creates the index of functions. */
void analysis_open_index(struct analysis *analysis);
/* Stores the rows of one part of the function that was analysed last. */
void analysis_keep_rows(struct analysis *analysis, size_t part);
/*
 * The recipe at vaddr, given the start of the function or part that contains it. Code that a function
 * absorbed need not start where the index has a start.
 */
uint32_t analysis_find_row(const struct analysis *analysis, uint64_t start, uint64_t vaddr);
