/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain: the recipes that nearly all steps of a walk use, prepared for making them quickly (walk_plain.c).
 *
 * A plain recipe finds the CFA at a register plus an offset, and what it restores in slots at fixed distances
 * from the CFA.
 */
#pragma once

#include "recipes/recipe.h"

struct plain_step {
	uint8_t kind; /* enum plain_kind */
	uint8_t cfa_reg, n_rules, witness;
	int32_t cfa_offset;
	bool has_ra_slot; /* else the return address is still in its register */
	int32_t ra_offset;
	int32_t low, high; /* of the slots, from the CFA: the first byte, and the one behind the last */
	uint32_t rules;
	uint64_t restored; /* mask of registers */
};

/* By recipe, compiled on first use. */
struct plain_steps {
	VEC(struct plain_step) by_recipe;
};

/* NULL if the recipe is not plain. Valid until the next call. */
const struct plain_step *plain_step_of(struct plain_steps *steps, const struct recipes *recipes,
				       const struct isa *isa, uint32_t recipe);
void plain_steps_done(struct plain_steps *steps);
