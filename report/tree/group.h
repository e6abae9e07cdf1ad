/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group: which scopes are the same thing, seen apart from where they were called.
 *
 * A function and its inlined copies are one function; its loops and lines belong to it. Functions
 * of the same name are told apart by their declaration, or by their address where that is unknown.
 */
#pragma once

#include "report/tree/outermost.h"
#include "structure/scope.h"

enum group_by { GROUP_FUNCTION, GROUP_MODULE, GROUP_FILE, GROUP_LOOP, GROUP_LINE };

/* "function", "module", ... */
const char *group_name(enum group_by by);

struct groups {
	uint32_t *of;         /* by scope; GROUP_NONE = in none */
	VEC(uint32_t) scopes; /* by group: the first scope in it stands for all */
};

void groups_init(struct groups *groups, const struct scope_tree *tree, enum group_by by);
void groups_done(struct groups *groups);
/*
 * What a scope without a group of its own is part of: of the same function, at most. To a loop, what was
 * inlined into it is its own code. The group of its parent is known already.
 */
uint32_t groups_inherited(const struct groups *groups, const struct scope_tree *tree, uint32_t scope,
			  enum group_by by);
