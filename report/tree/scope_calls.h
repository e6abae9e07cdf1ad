/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scope_calls: how many different calls of functions were seen, at least, for exporters: beside the metrics,
 * not among them. It is a count, not a cost: what is below a function does not add to it, and it has no
 * percentage.
 */
#pragma once

#include "base/vec.h"
#include "structure/scope.h"

struct scope_calls {
	VEC(uint64_t) by_scope, by_frame; /* none, if the tree does not count them */
};

/* Takes them out of the tree, whose last metric they are. */
void scope_calls_take(struct scope_tree *tree, struct scope_calls *ret);
void scope_calls_done(struct scope_calls *calls);
