/* SPDX-License-Identifier: Apache-2.0 */
/*
 * normalize: undoes the effects of optimisation on loops (Tallent et al. 2009, 3.4). Both rules are based on
 * one fact: a statement occurs in the source once.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "structure/nest.h"

/* Is the statement between the lines of the loop, in the loop's own procedure context? */
static bool normalize_is_between(const struct nest *nest, uint32_t loop, const struct atom *atom)
{
	const struct source_loop *l = &nest->loops.at[loop];

	return atom->context == l->context && atom->file == l->file && atom->line >= l->line &&
	       atom->line <= l->end_line;
}

/* ---- disjoint loops that share a statement are one loop ------------------------------------------ */

struct fusion {
	struct nest *nest;
	uint32_t *member;  /* per source loop */
	struct map seen;   /* a statement in a loop of some kind -> that source loop */
	struct map traces; /* the same for every loop that it was seen in at all */
	struct map pairs;  /* two loops -> a statement that they share */
	bool any;
};

/* The first loop with this key, or united with it. */
static void fuse_by(struct fusion *fusion, uint64_t key, uint32_t loop)
{
	uint32_t other = map_find(&fusion->seen, key);

	if (other == MAP_NONE) {
		map_put(&fusion->seen, key, loop);
		return;
	}
	uint32_t a = fusion->member[other], b = fusion->member[loop];
	if (nest_leader(fusion->nest, a) == nest_leader(fusion->nest, b))
		return;
	if (apart_are(fusion->nest, a, b)) {
		map_put(&fusion->seen, key, loop);
		return;
	}
	nest_unite(fusion->nest, a, b);
	fusion->any = true;
}

/* Two statements between the lines of two siblings, in both of them: they are the same loop. */
static void fuse_by_traces(struct fusion *fusion, const struct atom *atom, uint32_t loop)
{
	const struct source_loop *loops = fusion->nest->loops.at;
	uint64_t key = nest_key(atom, loops[loop].parent);
	uint32_t other = map_find(&fusion->traces, key);

	if (other == MAP_NONE) {
		map_put(&fusion->traces, key, loop);
		return;
	}
	bool is_above = atom->line < loops[loop].line && atom->line < loops[other].line;
	bool is_below = atom->line > loops[loop].end_line && atom->line > loops[other].end_line;
	if (other == loop || is_above || is_below)
		return;
	uint64_t pair = (uint64_t)other << 32 | loop;
	uint32_t known = map_find(&fusion->pairs, pair);
	if (known == MAP_NONE)
		map_put(&fusion->pairs, pair, atom->statement);
	else if (known != atom->statement &&
		 nest_leader(fusion->nest, fusion->member[other]) !=
			 nest_leader(fusion->nest, fusion->member[loop]) &&
		 !apart_are(fusion->nest, fusion->member[other], fusion->member[loop])) {
		nest_unite(fusion->nest, fusion->member[other], fusion->member[loop]);
		fusion->any = true;
	}
}

/*
 * Siblings that share a statement are one loop: if it is evidence for both, in any case; if it is only a
 * trace, when both start on one line, like a vector body and its remainder.
 */
static void fuse_atom(struct fusion *fusion, size_t index)
{
	const struct nest *nest = fusion->nest;
	const struct atom *atom = &nest->atoms->list.at[index];
	bool is_asked = atom->loop != LOOP_NONE && atom->line && nest->is_shared.at[atom->statement];
	uint32_t loop = is_asked ? nest->source.at[atom->loop] : LOOP_NONE;

	for (; loop != LOOP_NONE; loop = nest->loops.at[loop].parent) {
		const struct source_loop *l = &nest->loops.at[loop];
		if (atom->context != l->context || atom->file != l->file)
			continue;
		fuse_by_traces(fusion, atom, loop);
		if (atom->line < l->line)
			continue;
		uint64_t key = hash_u64(nest_key(atom, l->parent));
		if (normalize_is_between(nest, loop, atom) && nest->evidence.at[index] != LOOP_NONE &&
		    nest_holds(nest, loop, nest->evidence.at[index]))
			fuse_by(fusion, key, loop);
		fuse_by(fusion, hash_u64(key + l->line), loop);
	}
}

bool normalize_fuse(struct nest *nest)
{
	struct fusion fusion = { .nest = nest, .member = nest_members(nest) };

	for (size_t i = 0; i < nest->atoms->list.n; i++)
		fuse_atom(&fusion, i);
	map_done(&fusion.seen);
	map_done(&fusion.traces);
	map_done(&fusion.pairs);
	free(fusion.member);
	return fusion.any;
}

/* ---- a statement belongs to its deepest position ---------------------------------------------------- */

struct place {
	uint32_t loop; /* the deepest source loop the statement was seen in */
	bool is_seen;
	bool is_torn; /* it was seen in loops of which neither contains the other: no deeper than what
			 contains both */
};

static void normalize_see(const struct nest *nest, struct place *place, uint32_t loop)
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

	while (loop != LOOP_NONE && nest->loops.at[loop].context == atom->context &&
	       !normalize_is_between(nest, loop, atom))
		loop = nest->loops.at[loop].parent;
	return loop;
}

void normalize_elide(struct nest *nest)
{
	struct place *places = alloc_zero(nest->atoms->n_statements, sizeof(*places));

	vec_clear(&nest->loop_of);
	for (size_t i = 0; i < nest->atoms->list.n; i++) {
		const struct atom *atom = &nest->atoms->list.at[i];
		struct place *place = &places[atom->statement];
		uint32_t loop = rightful_loop(nest, atom);
		vec_push(&nest->loop_of, atom->loop == LOOP_NONE ? LOOP_NONE : nest->source.at[atom->loop]);
		if (!place->is_seen)
			*place = (struct place){ loop, true, false };
		else
			normalize_see(nest, place, loop);
	}
	for (size_t i = 0; i < nest->atoms->list.n; i++) {
		const struct atom *atom = &nest->atoms->list.at[i];
		uint32_t deepest = atom->line ? places[atom->statement].loop : LOOP_NONE;
		/* Only down the same nest. */
		if (deepest != LOOP_NONE && nest_holds(nest, nest->loop_of.at[i], deepest))
			nest->loop_of.at[i] = deepest;
	}
	free(places);
}
