/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ahead: derives the recipe for an address by following the code forward to the function's return.
 *
 * For code without known function bounds, such as JIT code: the start of the function is not known, but the
 * code ahead is. From the current instruction all paths are followed, with values expressed relative to the
 * current registers and stack. At a return instruction, the value in the place of the return address is the
 * caller's pc, and sp is the CFA. All exits must agree. An indirect jump is ignored (it may lead to an
 * interpreter's next instruction), unless the frame was released before it. If no exit is found, code that
 * was entered a few instructions ago still has its return address in the register, or on top of the stack.
 *
 * No side effects: code is read through a callback, and the recipe is added to the caller's pool.
 */
#pragma once

#include "binary/isa/isa.h"
#include "recipes/recipe.h"

/* Code at a run-time address: at least an instruction's worth if there is any, empty if there is none. */
typedef struct bytes (*ahead_code)(void *context, uint64_t pc);

struct ahead;
/* kept: registers that callees preserve, in addition to those of the calling convention. */
struct ahead *ahead_new(const struct isa *isa, uint64_t kept);
void ahead_free(struct ahead *ahead);

/*
 * The recipe at pc, RECIPE_NONE if no exit was found or two disagree. is_return: a call made here has not
 * returned yet, so only sp, the callee-saved and the kept registers are known.
 */
uint32_t ahead_recipe(struct ahead *ahead, ahead_code code, void *context, uint64_t pc, bool is_return,
		      struct recipes *recipes);
