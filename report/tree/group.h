/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group: which scopes are the same thing, independent of their calling contexts.
 *
 * A function and its inlined copies are one function; its loops and lines belong to it. Functions of the same
 * name are distinguished by their declaration, or by their address if that is unknown.
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
 * The group that a scope without its own group belongs to, within the same function. Code that was inlined
 * into a loop belongs to the loop. The group of its parent must be known.
 */
uint32_t groups_inherited(const struct groups *groups, const struct scope_tree *tree, uint32_t scope,
			  enum group_by by);
