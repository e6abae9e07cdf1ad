/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inner: functions inside code that is covered by a single unwind entry.
 *
 * Interpreters written in assembly have such entries: the row describes the interpreter's own frame, but its
 * subroutines, and the entry points that set up the frame, are in the same range. There the row would skip a
 * caller. The starts of these functions are found by calls to them and by their addresses being taken; each
 * is analysed up to the next.
 */
#pragma once

#include "base/hash.h"
#include "binary/functions/function.h"
#include "recipes/table.h"

/* Per image; zeroed, it is ready to use. */
struct inner {
	struct recipe_table table;
	struct map by_start; /* start of an analysed function -> span */
	uint64_t n_analysed; /* bytes of code so far */
	uint64_t taken;      /* of the image's memory budget */
};
void inner_done(struct inner *inner, struct image *image);

/*
 * Whether a direct call from within [start, start + size) leads into its middle. Decodes each instruction
 * once. *left: how many more bytes may be decoded; if there are too few, the answer is no.
 */
bool inner_is_there(const struct isa *isa, struct image *image, uint64_t start, uint64_t size,
		    uint64_t *left);

/*
 * The recipe from the analysis of the inner function that contains vaddr; RECIPE_NONE if there is no such
 * function, or its start does not lead there; a recipe without CFA if the return address is known to be lost.
 * [start, end): the range of the unwind entry. flow: initialised for the functions.
 */
struct inner_range {
	uint64_t start, end;
};
uint32_t inner_recipe(struct inner *inner, struct functions *functions, struct flow *flow,
		      struct recipes *recipes, struct inner_range range, uint64_t vaddr);
