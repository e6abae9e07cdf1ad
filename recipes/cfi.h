/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfi: compiles the unwind program of one FDE into recipe rows.
 *
 * Rows are keyed by the place they start at, never by the instruction that made them: a restored
 * state starts where it is restored. Pure.
 */
#pragma once

#include "binary/cfi/frames.h"
#include "recipes/recipe.h"

/*
 * Appends the FDE's rows (offsets from fde->start) to ret. -EBADMSG if the program is damaged: rows
 * before the damage are good, from there on a row says that nothing is known.
 */
int cfi_compile(const struct fde *fde, const struct isa *isa, struct recipes *recipes,
		struct recipe_rows *ret);
