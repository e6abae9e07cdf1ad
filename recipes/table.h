/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table: recipes by address range. The format is the same for unwind entries, for the analysis and for the
 * store.
 *
 * A span is a function or part of one. Its rows say which recipe is valid from an offset on, by number: the
 * index of a packed rule in the pool (recipe.h) if in memory, or in the same entry if in the store.
 */
#pragma once

#include "recipes/recipe.h"

struct table_span {
	uint64_t start; /* vaddr; first, for sorting */
	uint32_t size;
	uint32_t first_row, n_rows;
	/* In memory only, 0 in the store: */
	bool is_part;    /* absorbed by a function that starts elsewhere */
	uint8_t state;   /* what the table's owner found out about the span */
	uint8_t inner;   /* the same about functions inside it */
	uint8_t n_looks; /* how often it was requested */
};
_Static_assert(sizeof(struct table_span) == 24 && sizeof(struct recipe_row) == 8, "they are stored");

/* Only grows: a span keeps its number. */
struct recipe_table {
	VEC(struct table_span) spans;
	VEC(struct recipe_row) rows;
};
/* Adds a copy of a function's rows. Returns the number of the span. */
uint32_t table_add(struct recipe_table *table, uint64_t start, uint64_t size, const struct recipe_rows *rows);
void table_done(struct recipe_table *table);

/* A read-only table, in memory or in the store. Its bytes are not trusted: anything out of bounds is treated
 * as absent. */
struct table_view {
	const struct table_span *spans;
	const struct recipe_row *rows;
	uint32_t n_spans, n_rows;
};
struct table_view table_view_of(const struct recipe_table *table);
/* The rows of a span; NULL if they are out of bounds. */
const struct recipe_row *table_rows(const struct table_view *view, const struct table_span *span);
/* The number of the recipe of a span at vaddr; RECIPE_NONE if vaddr is outside the span, or there is no
 * recipe. */
uint32_t table_span_recipe(const struct table_view *view, const struct table_span *span, uint64_t vaddr);
/* The same for spans that are sorted and do not overlap. ret_function: the start of the span, if there is
 * one. */
uint32_t table_recipe(const struct table_view *view, uint64_t vaddr, uint64_t *ret_function);
