/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kept: cached answers about one image's code: those of this run in memory, those of earlier runs in the
 * store. kept_save adds new ones to the store.
 */
#pragma once

#include "base/store.h"
#include "recipes/analysis.h"
#include "recipes/place.h"
#include "recipes/recipe_entry.h"

/* A function whose rows will be stored: an address in it, and the kind of query. */
struct kept_function {
	uint64_t vaddr;
	bool is_alone;
};

struct kept {
	struct image *image;
	struct recipes *recipes;
	struct store *store; /* NULL = only memory */
	struct store_key key;
	struct bytes bytes; /* of the entry in the store */
	struct recipe_entry entry;
	struct bytes index; /* of functions, for the analysis */
	uint32_t *numbers;  /* of the entry's recipes in the pool + 1; 0 = not added yet */
	/* Answers of this run; recipes are those of the pool. */
	VEC(struct stored_fact) facts;
	VEC(struct stored_place) places;
	size_t n_saved_facts, n_saved_places; /* how many of them, from the first on, are saved */
	struct map by_question, by_address;   /* index of facts, of places */
	VEC(struct stored_place) early;       /* of return addresses; never saved */
	struct map by_return;                 /* index of early */
	VEC(struct kept_function) functions;
	struct map starts[SPANS_N]; /* of functions that are to be stored */
};

/* All are borrowed; store may be NULL. */
void kept_init(struct kept *kept, struct image *image, struct recipes *recipes, struct store *store);
void kept_done(struct kept *kept);

/* A fact, by its question. False if it is not known. */
bool kept_fact(struct kept *kept, uint32_t kind, uint64_t a, uint64_t b, struct answer *ret);
void kept_add_fact(struct kept *kept, uint32_t kind, uint64_t a, uint64_t b, const struct answer *answer);

/*
 * The recipe of the analysis at vaddr, from the store (in memory, the analysis itself has it). kind: of the
 * question.
 */
bool kept_recipe(struct kept *kept, uint32_t kind, bool is_alone, uint64_t vaddr, struct answer *ret);
/* Adds the rows of the whole function if the recipe is one of them. */
void kept_add_recipe(struct kept *kept, uint32_t kind, bool is_alone, uint64_t vaddr,
		     const struct answer *answer, struct analysis *analysis);

bool kept_place(struct kept *kept, uint64_t vaddr, bool is_return, struct place *ret);
void kept_add_place(struct kept *kept, uint64_t vaddr, bool is_return, const struct place *place);

/* Places that are is_early, of return addresses. */
bool kept_early_place(struct kept *kept, uint64_t vaddr, struct place *ret);
void kept_add_early_place(struct kept *kept, uint64_t vaddr, const struct place *place);

/* The index of functions, for analysis_use_index; empty if there is none. */
struct bytes kept_index(struct kept *kept);
/* Adds new answers to the store. analysis: of the image; NULL if none was needed. */
void kept_save(struct kept *kept, struct analysis *analysis);
