/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scope_calls: lower bounds of the numbers of calls of functions, for exporters; they are not metrics. A
 * number of calls is a count, not a cost: callees do not add to it, and it has no percentage.
 */
#pragma once

#include "base/vec.h"
#include "structure/scope.h"

struct scope_calls {
	VEC(uint64_t) by_scope, by_frame; /* empty if the tree does not have them */
};

/* Takes them from the tree, of which they are the last metric. */
void scope_calls_take(struct scope_tree *tree, struct scope_calls *ret);
void scope_calls_done(struct scope_calls *calls);
