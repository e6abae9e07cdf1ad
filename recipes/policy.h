/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy: which witness is used if two describe the same code.
 */
#pragma once

#include "recipes/recipe.h"

enum unwind_mode { UNWIND_AUTO, UNWIND_ANALYSIS, UNWIND_CFI, UNWIND_FP };
/* -EINVAL for a name that is none of auto, analysis, cfi, fp. */
int unwind_mode_parse(const char *name, enum unwind_mode *ret);

/* Recipes to try, in this order; RECIPE_NONE ends the list. */
struct recipe_pair {
	uint32_t recipe[2];
};

/*
 * A function that passed its self-check: analysis first, because where CFI differs there, CFI was wrong
 * or both were right. One that did not, or a guess: CFI first. What CFI says of roots and signal
 * frames no analysis can know. Forced modes know one witness.
 */
struct recipe_pair recipe_choose(const struct recipes *recipes, const struct isa *isa, enum unwind_mode mode,
				 uint32_t analysis, uint32_t cfi);
