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

/* At most max_scopes are kept, not counting "other" scopes and lines: lines stay with their scopes. */
void scope_tree_limit(struct scope_tree *tree, uint32_t metric, uint32_t max_scopes);

/* Does this frame stand for folded scopes? */
bool limit_is_other(const struct scope_frame *frame);
/* The number of folded scopes. */
uint64_t limit_count(const struct scope_tree *tree);
/* As text for the user: "1,234 contexts, 0.5% of cpu-clock, are folded into <other>"; nothing if there are
 * none. */
void limit_note(const struct scope_tree *tree, const struct profile *profile, struct text *ret);
