/* SPDX-License-Identifier: Apache-2.0 */
#include "structure/nest.h"

#define UNSEEN UINT32_MAX

/* The innermost context that holds all code of each machine loop, nested loops included. */
static void find_contexts(struct nest *nest)
{
	size_t n = nest->machine->loops.n;

	vec_clear(&nest->context);
	for (size_t i = 0; i < n; i++)
		vec_push(&nest->context, UNSEEN);
	for (size_t i = 0; i < nest->atoms->list.n; i++) {
		const struct atom *atom = &nest->atoms->list.at[i];
		if (atom->loop == LOOP_NONE || !atom->line) /* code of no line says nothing of its place */
			continue;
		uint32_t *context = &nest->context.at[atom->loop];
		*context = *context == UNSEEN ? atom->context : contexts_common(nest->contexts, *context, atom->context);
	}
	for (size_t i = n; i-- > 0;) {
		uint32_t parent = nest->machine->loops.at[i].parent, mine = nest->context.at[i];
		if (mine == UNSEEN || parent == LOOP_NONE)
			continue;
		uint32_t *outer = &nest->context.at[parent];
		*outer = *outer == UNSEEN ? mine : contexts_common(nest->contexts, *outer, mine);
	}
	for (size_t i = 0; i < n; i++) {
		uint32_t parent = nest->machine->loops.at[i].parent;
		if (nest->context.at[i] == UNSEEN)
			nest->context.at[i] = parent == LOOP_NONE ? 0 : nest->context.at[parent];
	}
}

void nest_build(struct nest *nest)
{
	find_contexts(nest);
	normalize_fuse(nest);
	normalize_elide(nest);
	place_loops(nest);
}

void nest_done(struct nest *nest)
{
	vec_done(&nest->context);
	vec_done(&nest->source);
	vec_done(&nest->loops);
	vec_done(&nest->loop_of);
}

bool nest_holds(const struct nest *nest, uint32_t outer, uint32_t loop)
{
	if (outer == LOOP_NONE)
		return true;
	while (loop != LOOP_NONE && loop != outer)
		loop = nest->loops.at[loop].parent;
	return loop == outer;
}
