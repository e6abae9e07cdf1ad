/* SPDX-License-Identifier: Apache-2.0 */
/*
 * growth: the part of a profile that grows with each stack: the tree, its values, and why stacks ended.
 */
#pragma once

#include "base/hash.h"
#include "collector/event.h"
#include "unwinder/cct.h"

struct growth {
	struct cct *cct;    /* borrowed */
	struct map path_of; /* tid -> paths */
	VEC(struct cct_path) paths;
	uint64_t by_end[STACK_END_N];
};

void growth_done(struct growth *growth);
/*
 * A sample of the thread, which is the caller's own index; n_events: of the source. Allocates nothing in the
 * steady state.
 */
void growth_add(struct growth *growth, const struct event *event, uint32_t thread, size_t n_events,
		const struct stack *stack);
