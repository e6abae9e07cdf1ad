/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ahead: how a frame will be left, found by running ahead from where it stands to its return.
 *
 * For code without bounds, such as a JIT compiler's: where the function began is not known, but where it
 * goes is. From the present instruction every path is followed, with values told in terms of the
 * registers and the stack as they are now. At a return, what is in the return address's place is the
 * caller's pc, and sp is the CFA. Two exits must agree. An indirect jump says nothing (it may be an
 * interpreter's next instruction), unless the frame was given back on the way there. Where no exit is found,
 * code that was entered a few instructions before has its return address in the register still.
 *
 * Pure: code comes through a callback, the recipe goes into the caller's pool.
 */
#pragma once

#include "binary/isa/isa.h"
#include "recipes/recipe.h"

/* Code at a run-time address: at least an instruction's worth if there is any, empty if there is none. */
typedef struct bytes (*ahead_code)(void *context, uint64_t pc);

struct ahead;
/* kept: registers that what is called leaves alone, beyond what the calling convention says. */
struct ahead *ahead_new(const struct isa *isa, uint64_t kept);
void ahead_free(struct ahead *ahead);

/*
 * The recipe at pc, RECIPE_NONE if no exit was found or two disagree. is_return: what was called from
 * here has not returned yet, so that only sp, the callee-saved and the kept registers count.
 */
uint32_t ahead_recipe(struct ahead *ahead, ahead_code code, void *context, uint64_t pc, bool is_return,
		      struct recipes *recipes);
