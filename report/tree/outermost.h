/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outermost: recursion is counted once. The total cost of a group of scopes (a function, a file) is the
 * inclusive cost of those of its scopes that have no other scope of the group above them.
 */
#pragma once

#include "structure/scope.h"

#define GROUP_NONE UINT32_MAX

struct outermost {
	void *context;
	uint32_t n_groups;
	uint32_t (*group)(void *context, uint32_t scope); /* GROUP_NONE = in none */
	void (*count)(void *context, uint32_t scope, uint32_t group);
};

/* Calls count for each such scope among the first n. */
void outermost_visit(const struct outermost *outermost, const struct scope_tree *tree, size_t n);
