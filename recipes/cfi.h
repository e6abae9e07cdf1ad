/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfi: compiles the unwind program of one FDE into recipe rows.
 *
 * Rows are keyed by the address where they become valid, not by the instruction that created them: a restored
 * state is valid from where it is restored. No side effects.
 */
#pragma once

#include "binary/cfi/frames.h"
#include "recipes/recipe.h"

/*
 * Appends the FDE's rows (offsets from fde->start) to ret. -EBADMSG if the program is damaged: rows before
 * the damage are valid; a final row says that nothing is known from there on.
 */
int cfi_compile(const struct fde *fde, const struct isa *isa, struct recipes *recipes,
		struct recipe_rows *ret);
