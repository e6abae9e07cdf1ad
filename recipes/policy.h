/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy: which witness is used if two describe the same code.
 */
#pragma once

#include "recipes/recipe.h"

enum unwind_mode { UNWIND_AUTO, UNWIND_ANALYSIS, UNWIND_CFI, UNWIND_FP };
/* -EINVAL unless the name is auto, analysis, cfi or fp. */
int unwind_mode_parse(const char *name, enum unwind_mode *ret);

/* Recipes to try, in this order; RECIPE_NONE ends the list. */
struct recipe_pair {
	uint32_t recipe[2];
};

/*
 * If the function passed its self-check, analysis is used first: in all cases where CFI differed, CFI was
 * wrong or both were right. If it did not, or for a guess, CFI is used first. Roots and signal frames are
 * only known from CFI. Forced modes use one witness.
 */
struct recipe_pair recipe_choose(const struct recipes *recipes, const struct isa *isa, enum unwind_mode mode,
				 uint32_t analysis, uint32_t cfi);
