/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recover: unwind recipes of one function, from the states of its analysis (binary/flow).
 *
 * The recipe of a state says where the CFA, the return address and the callee-saved registers are. Of several
 * correct recipes, the one that stays valid longest is used, so that there are few rows: a conventional frame
 * pointer is preferred to sp, and a save slot on the live stack to the register itself. No side effects.
 */
#pragma once

#include "binary/flow/flow.h"
#include "recipes/recipe.h"

/* The trust of recipes from the function's real states; those from guessed states are always TRUST_GUESS. */
enum trust recover_trust(const struct flow *flow);

/* RECIPE_NONE if the state does not say where the CFA or the return address is. */
uint32_t recover_recipe(const struct state *state, const struct isa *isa, enum trust trust,
			struct recipes *recipes);

/* The distance from the frame pointer to sp at the instruction that contains vaddr; false if that is not
 * certain. */
bool recover_sp_from_fp(struct flow *flow, uint64_t vaddr, int64_t *ret);

/* Appends the rows of one part of the function, offsets from the part's start. */
void recover_rows(struct flow *flow, size_t part, struct recipes *recipes, struct recipe_rows *ret);
