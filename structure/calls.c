/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls: copies of a loop, one of which contains only the code of a call inlined into it.
 *
 * `for (...) f(i);` with f inlined leaves a vector body that has only lines of f, and a remainder that also
 * has those of the `for`. Alone, the vector body looks like a loop in f. But an inlined call, like a
 * statement, occurs in the source once: siblings that contain the same call are one loop, which is written
 * where the call is. The exception is a call that contains a loop of its own, which is inside one sibling and
 * was copied out of it.
 */
#include <stdlib.h>

#include "base/hash.h"
#include "structure/nest.h"

struct holders {
	struct map direct; /* (loop around, call) -> the loop that has code of that call, in the call's
			      context */
	struct map nested; /* (loop, call): there is a loop of that call in it */
};

static uint64_t holders_key(uint32_t loop, uint32_t call)
{
	return (uint64_t)(uint32_t)(loop + 1) << 32 | call;
}

/* The inlined call in the loop's own procedure that contains `inner`; 0 if it is not inlined there. */
static uint32_t calls_below(const struct nest *nest, uint32_t context, uint32_t inner)
{
	const struct contexts *contexts = nest->contexts;

	if (inner == context || contexts_common(contexts, context, inner) != context)
		return 0;
	return contexts_below(contexts, context, inner);
}

static void find_holders(const struct nest *nest, struct holders *holders)
{
	for (size_t i = 0; i < nest->atoms->list.n; i++) {
		uint32_t loop = nest->evidence.at[i];
		if (loop == LOOP_NONE || nest->source.at[nest->atoms->list.at[i].loop] != loop)
			continue;
		const struct source_loop *l = &nest->loops.at[loop];
		uint32_t call = calls_below(nest, l->context, nest->atoms->list.at[i].context);
		if (call)
			map_put(&holders->direct, holders_key(l->parent, call), loop);
	}
	for (uint32_t i = 0; i < nest->loops.n; i++) {
		uint32_t parent = nest->loops.at[i].parent;
		uint32_t call = parent == LOOP_NONE ? 0
						    : calls_below(nest, nest->loops.at[parent].context,
								  nest->loops.at[i].context);
		if (call)
			map_put(&holders->nested, holders_key(parent, call), i);
	}
}

/* The sibling that contains a call which contains all of the loop; the loop itself if there is none. */
static uint32_t find_sibling(const struct nest *nest, const struct holders *holders, uint32_t loop)
{
	const struct source_loop *l = &nest->loops.at[loop];
	uint32_t end = l->parent == LOOP_NONE ? 0 : nest->loops.at[l->parent].context;

	for (uint32_t call = l->context; call && call != end; call = nest->contexts->list.at[call].parent) {
		uint32_t other = map_find(&holders->direct, holders_key(l->parent, call));
		if (other != MAP_NONE && other != loop &&
		    map_find(&holders->nested, holders_key(other, call)) == MAP_NONE)
			return other;
	}
	return loop;
}

bool normalize_calls(struct nest *nest)
{
	struct holders holders = { 0 };
	uint32_t *member = nest_members(nest);
	bool any = false;

	find_holders(nest, &holders);
	for (uint32_t i = 0; i < nest->loops.n; i++) {
		uint32_t other = find_sibling(nest, &holders, i);
		if (nest_leader(nest, member[other]) == nest_leader(nest, member[i]))
			continue;
		nest_unite(nest, member[other], member[i]);
		any = true;
	}
	map_done(&holders.direct);
	map_done(&holders.nested);
	free(member);
	return any;
}
