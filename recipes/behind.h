/* SPDX-License-Identifier: Apache-2.0 */
/*
 * behind: how a frame will be left, found by looking back at how it was made.
 *
 * For code whose way out is not seen (a runtime's stub that ends in a jump through a register): if nothing
 * but straight code lies between here and the instruction that made the frame pointer point to the caller's
 * and the return address, then it still does.
 *
 * Pure: code comes through a callback, the recipe goes into the caller's pool. Only for machines whose
 * instructions are all of one size: others cannot be read backwards.
 */
#pragma once

#include "recipes/ahead.h"

/*
 * The recipe at pc, RECIPE_NONE if the making of the frame is not seen. is_return: something was called from
 * here, so that the function has a frame; one that was interrupted may have none, and stand behind a call of
 * the function before it that does not come back.
 */
uint32_t behind_recipe(const struct isa *isa, ahead_code code, void *context, uint64_t pc, bool is_return,
		       struct recipes *recipes);

/*
 * Does the function that pc is in point its frame pointer to the caller's and the return address? Told from
 * the nearest code above that saves a return address. For code whose entry is not known, where a recipe says
 * how far these lie from sp.
 */
bool behind_points_to_frame(const struct isa *isa, ahead_code code, void *context, uint64_t pc);
