/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recipe: the rows of a function, and the pool of recipes that they refer to.
 *
 * A function's recipes are rows (start, number of the recipe) sorted by start. A pool contains each recipe
 * once; all images that a walk may encounter share one pool.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/slots.h"
#include "base/vec.h"
#include "binary/isa/isa.h"
#include "recipes/packed.h"
#include "recipes/rule.h"

struct recipe_row {
	uint32_t start;  /* offset from the function's start; valid up to the next row */
	uint32_t recipe; /* index; RECIPE_NONE = nothing known here */
};
#define RECIPE_NONE UINT32_MAX

/* One function's rows, sorted by start; the first has start 0. */
struct recipe_rows {
	VEC(struct recipe_row) rows;
};
/* The recipe at an offset from the function's start; RECIPE_NONE if there is none. */
uint32_t recipe_rows_find(const struct recipe_row *rows, size_t n, uint64_t offset);
/* Appends a row. It is merged with the last one if the recipe is the same, and replaces it if the start is
 * the same. */
void recipe_rows_add(struct recipe_rows *rows, uint32_t start, uint32_t recipe);

/* A pool: recipes of any number of images, each once. */
struct recipes {
	VEC(struct recipe) recipes;
	VEC(struct packed_rule)
	packed; /* the packed form of each recipe; PACKED_WHOLE refers to the recipe itself */
	VEC(struct rule) rules;
	VEC(struct bytes) exprs;
	size_t n_expr_bytes;
	struct arena expr_bytes; /* a copy of them: recipes outlive images */
	struct map expr_index;   /* hash of the bytes -> exprs */
	struct slots slots;      /* of recipes */
};

void recipes_init(struct recipes *recipes);
void recipes_done(struct recipes *recipes);
/* Adds a recipe with its rules (r->rules is ignored), or finds the same one again. */
uint32_t recipes_add(struct recipes *recipes, const struct recipe *r, const struct rule *rules);
/* An expression for cfa_expr or rule.expr. */
uint32_t recipes_add_expr(struct recipes *recipes, struct bytes expr);
/* The rule for a register; NULL if it has the default one. */
const struct rule *recipe_rule(const struct recipes *recipes, const struct recipe *recipe, unsigned reg);

/* Mask of the registers of the current frame that the recipe reads, except those that it leaves unchanged. */
uint64_t recipe_reads(const struct recipes *recipes, const struct recipe *recipe);

/* Mask of the registers that it restores from memory. */
uint64_t recipe_saved(const struct recipes *recipes, const struct recipe *recipe);
/* Mask of the registers whose values in the caller are lost: overwritten, and not saved anywhere. */
uint64_t recipe_lost(const struct recipes *recipes, const struct recipe *recipe);

/* One line, as `cpprof inspect recipes` prints it: "cfa=rsp+16 ra=c-8 rbp=c-16". */
size_t recipe_format(const struct recipes *recipes, uint32_t index, const struct isa *isa, char *text,
		     size_t size);

const char *witness_name(enum witness witness);
const char *trust_name(enum trust trust);
