/* SPDX-License-Identifier: Apache-2.0 */
/*
 * normalize: undoes what optimisation did to loops (Tallent et al. 2009, 3.4). Both rules rest on one
 * fact: a statement stands in the source once.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "structure/nest.h"

/* Does the statement stand between the lines of the loop, in the loop's own procedure context? */
static bool is_between(const struct nest *nest, uint32_t loop, const struct atom *atom)
{
	const struct source_loop *l = &nest->loops.at[loop];

	return atom->context == l->context && atom->file == l->file && atom->line >= l->line && atom->line <= l->end_line;
}

/* ---- disjoint loops that share a statement are one loop ------------------------------------------ */

/* Some machine loop of each source loop. */
static uint32_t *members(const struct nest *nest)
{
	uint32_t *member = alloc_resize(NULL, nest->loops.n, sizeof(uint32_t));

	for (uint32_t i = (uint32_t)nest->source.n; i-- > 0;)
		member[nest->source.at[i]] = i;
	return member;
}

bool normalize_fuse(struct nest *nest)
{
	uint32_t *member = members(nest);
	struct map seen = { 0 };
	bool any = false;

	for (size_t i = 0; i < nest->atoms->list.n; i++) {
		const struct atom *atom = &nest->atoms->list.at[i];
		for (uint32_t loop = nest->evidence.at[i]; loop != LOOP_NONE; loop = nest->loops.at[loop].parent) {
			if (!is_between(nest, loop, atom))
				continue;
			uint64_t around = nest->loops.at[loop].parent + 1ull;
			uint64_t key = hash_u64(statement_key(atom) ^ around * 0x9e3779b97f4a7c15u);
			uint32_t other = map_find(&seen, key);
			if (other == MAP_NONE)
				map_put(&seen, key, loop);
			else if (other != loop && nest_leader(nest, member[other]) != nest_leader(nest, member[loop])) {
				nest_unite(nest, member[other], member[loop]);
				any = true;
			}
		}
	}
	map_done(&seen);
	free(member);
	return any;
}

/* ---- a statement stands at its deepest place ------------------------------------------------------ */

struct place {
	uint32_t loop;  /* the deepest source loop the statement was seen in */
	bool is_torn;   /* it was seen in loops of which neither holds the other: no deeper than what holds both */
};

static void see(const struct nest *nest, struct place *place, uint32_t loop)
{
	if (nest_holds(nest, place->loop, loop)) {
		if (!place->is_torn)
			place->loop = loop;
	} else if (!nest_holds(nest, loop, place->loop)) {
		place->loop = nest_common(nest, place->loop, loop);
		place->is_torn = true;
	}
}

/* The innermost loop around the atom that its statement belongs in by its line. */
static uint32_t rightful_loop(const struct nest *nest, const struct atom *atom)
{
	uint32_t loop = atom->loop == LOOP_NONE ? LOOP_NONE : nest->source.at[atom->loop];

	while (loop != LOOP_NONE && nest->loops.at[loop].context == atom->context && !is_between(nest, loop, atom))
		loop = nest->loops.at[loop].parent;
	return loop;
}

void normalize_elide(struct nest *nest)
{
	struct map seen = { 0 };
	VEC(struct place) places = { 0 };
	VEC(uint32_t) place_of = { 0 };

	vec_clear(&nest->loop_of);
	for (size_t i = 0; i < nest->atoms->list.n; i++) {
		const struct atom *atom = &nest->atoms->list.at[i];
		uint32_t loop = rightful_loop(nest, atom);
		uint32_t at = atom->line ? map_find(&seen, statement_key(atom)) : MAP_NONE;
		vec_push(&nest->loop_of, atom->loop == LOOP_NONE ? LOOP_NONE : nest->source.at[atom->loop]);
		if (at == MAP_NONE) {
			at = (uint32_t)places.n;
			vec_push(&places, (struct place){ loop, false });
			if (atom->line)
				map_put(&seen, statement_key(atom), at);
		} else {
			see(nest, &places.at[at], loop);
		}
		vec_push(&place_of, at);
	}
	for (size_t i = 0; i < nest->atoms->list.n; i++) {
		uint32_t deepest = places.at[place_of.at[i]].loop;
		/* Only down the same nest. */
		if (deepest != LOOP_NONE && nest_holds(nest, nest->loop_of.at[i], deepest))
			nest->loop_of.at[i] = deepest;
	}
	map_done(&seen);
	vec_done(&places);
	vec_done(&place_of);
}
