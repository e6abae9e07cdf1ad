/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limit: a smaller tree with the same totals. The most expensive scopes are kept, with all their ancestors;
 * everything removed below a scope becomes one child of it named "other" (SCOPE_UNKNOWN, name 0, end_line =
 * how many were folded).
 */
#pragma once

#include "base/text.h"
#include "profile/profile.h"
#include "structure/scope.h"

/* At most max_scopes are kept, "other" scopes and lines not counted: lines stay with the scopes they are in.
 */
void scope_tree_limit(struct scope_tree *tree, uint32_t metric, uint32_t max_scopes);

/* Is this what was folded? */
bool limit_is_other(const struct scope_frame *frame);
/* How many scopes were. */
uint64_t limit_count(const struct scope_tree *tree);
/* In words, for whoever reads the output: "1,234 contexts, 0.5% of cpu-clock, are folded into <other>";
 * nothing if none is. */
void limit_note(const struct scope_tree *tree, const struct profile *profile, struct text *ret);
