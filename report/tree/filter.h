/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter: a smaller tree with only the selected part.
 *
 * Focusing keeps the costs of stacks that contain a chosen scope and drops all others. Hiding removes scopes
 * from the paths: their self costs are added to the scope above, and their callees become its callees.
 */
#pragma once

#include <stdbool.h>

#include "base/diag.h"
#include "profile/profile.h"
#include "structure/scope.h"

struct filter {
	const bool *is_focus;  /* by scope; NULL = everything */
	const bool *is_hidden; /* by scope; NULL = nothing. Includes a function's loops and lines */
	const bool *is_place;  /* by scope: whether its self costs are kept; NULL = all */
};

/* Fills ret; scope_tree_done it. Scopes 0 and 1 are unchanged. */
void scope_tree_filter(const struct scope_tree *tree, const struct filter *filter, struct scope_tree *ret);

/*
 * Which functions and inlined calls have a name that the extended regular expression matches: by scope,
 * free() it. -EINVAL if the expression is not valid.
 */
int scope_tree_match(const struct scope_tree *tree, const struct profile *profile, const char *regex,
		     bool **ret, struct diag *diag);
