/* SPDX-License-Identifier: Apache-2.0 */
/*
 * behind: derives the recipe for an address by looking backward for the instruction that set up the frame.
 *
 * For code whose exit is not visible (such as a runtime's stub that ends in a jump through a register): if
 * there is only straight-line code between here and the instruction that set the frame pointer to the saved
 * frame pointer and return address, it still points there.
 *
 * Instructions of any size (x86-64) cannot be decoded backwards: there, the bytes of a prologue are looked
 * for, and the code is decoded from it on. Only for a function that was interrupted. Its caller's sp is not
 * told: generated functions (V8's, HotSpot's) may give back their arguments, too.
 *
 * No side effects: code is read through a callback, and the recipe is added to the caller's pool.
 */
#pragma once

#include "recipes/ahead.h"

/*
 * The recipe at pc, RECIPE_NONE if the setup of the frame is not found. is_return: a call was made here, so
 * the function has a frame; an interrupted function may have none, and may follow a call of the preceding
 * function that does not return.
 */
uint32_t behind_recipe(const struct isa *isa, ahead_code code, void *context, uint64_t pc, bool is_return,
		       struct recipes *recipes);

/*
 * Whether the function at pc sets its frame pointer to the saved frame pointer and return address, judged by
 * the nearest preceding code that saves a return address. For code whose entry is not known, if a recipe
 * gives their distance from sp.
 */
bool behind_points_to_frame(const struct isa *isa, ahead_code code, void *context, uint64_t pc);
