/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/policy.h"

#include <errno.h>
#include <string.h>

int unwind_mode_parse(const char *name, enum unwind_mode *ret)
{
	static const char *const names[] = { [UNWIND_AUTO] = "auto",
					     [UNWIND_ANALYSIS] = "analysis",
					     [UNWIND_CFI] = "cfi",
					     [UNWIND_FP] = "fp" };

	for (unsigned i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(name, names[i]) == 0) {
			*ret = (enum unwind_mode)i;
			return 0;
		}
	return -EINVAL;
}

/* Roots and signal frames: the code does not show them, its unwind entry does. */
static bool policy_is_special(const struct recipes *recipes, const struct isa *isa, uint32_t cfi)
{
	const struct recipe *recipe = &recipes->recipes.at[cfi];
	const struct rule *ra = recipe_rule(recipes, recipe, isa->ra);

	return recipe->is_signal_frame || (ra && ra->kind == RULE_UNDEFINED);
}

/* longjmp of the C library (x86-64) has rows for the frame that it is about to jump to: that frame's sp is
 * already in a register, but not yet in sp. */
static bool policy_is_ahead(const struct recipes *recipes, const struct isa *isa, uint32_t cfi)
{
	const struct recipe *recipe = &recipes->recipes.at[cfi];
	const struct rule *ra = recipe_rule(recipes, recipe, isa->ra);

	return isa->call_pushes_ra && ra && ra->kind == RULE_REG && recipe->cfa_reg != isa->sp;
}

struct recipe_pair recipe_choose(const struct recipes *recipes, const struct isa *isa, enum unwind_mode mode,
				 uint32_t analysis, uint32_t cfi)
{
	if (mode == UNWIND_FP)
		return (struct recipe_pair){ { RECIPE_NONE, RECIPE_NONE } };
	if (mode == UNWIND_ANALYSIS || (mode == UNWIND_AUTO && cfi == RECIPE_NONE))
		return (struct recipe_pair){ { analysis, RECIPE_NONE } };
	if (mode == UNWIND_AUTO && policy_is_ahead(recipes, isa, cfi))
		return (struct recipe_pair){ { analysis, RECIPE_NONE } };
	if (mode == UNWIND_CFI || analysis == RECIPE_NONE || policy_is_special(recipes, isa, cfi))
		return (struct recipe_pair){ { cfi, RECIPE_NONE } };
	if (recipes->recipes.at[analysis].trust == TRUST_PROVEN)
		return (struct recipe_pair){ { analysis, cfi } };
	return (struct recipe_pair){ { cfi, analysis } };
}
