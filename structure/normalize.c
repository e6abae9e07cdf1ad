/* SPDX-License-Identifier: Apache-2.0 */
/*
 * normalize: undoes what optimisation did to loops (Tallent et al. 2009, 3.4). Both rules rest on one
 * fact: a statement stands in the source once.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "structure/nest.h"

/* ---- loops that share a statement are one loop ----------------------------------------------- */

static uint32_t leader_of(uint32_t *leader, uint32_t loop)
{
	while (leader[loop] != loop)
		loop = leader[loop] = leader[leader[loop]];
	return loop;
}

/* The first of two loops leads: headers are numbered in the order the code is entered. */
static void unite(uint32_t *leader, uint32_t a, uint32_t b)
{
	a = leader_of(leader, a);
	b = leader_of(leader, b);
	if (a < b)
		leader[b] = a;
	else
		leader[a] = b;
}

static uint32_t ancestor_at(const struct loop_forest *forest, uint32_t loop, uint32_t depth)
{
	while (loop != LOOP_NONE && forest->loops.at[loop].depth > depth)
		loop = forest->loops.at[loop].parent;
	return loop != LOOP_NONE && forest->loops.at[loop].depth == depth ? loop : LOOP_NONE;
}

static uint64_t statement_key(const struct atom *atom, uint32_t column)
{
	return hash_u64(hash_u64((uint64_t)atom->file << 32 | atom->line) ^ hash_u64((uint64_t)atom->context << 32 | column));
}

/*
 * Fuses loops of one depth. Depths go outside in, because fused outer loops make siblings of their
 * inner ones. Only a statement of the loop's own procedure context counts.
 */
static bool fuse_depth(struct nest *nest, uint32_t *leader, uint32_t depth)
{
	struct map seen = { 0 };
	bool any = false;

	for (size_t i = 0; i < nest->atoms->list.n; i++) {
		const struct atom *atom = &nest->atoms->list.at[i];
		uint32_t loop = ancestor_at(nest->machine, atom->loop, depth);
		if (loop == LOOP_NONE)
			continue;
		any = true;
		if (!atom->line || nest->context.at[loop] != atom->context)
			continue;
		uint32_t parent = nest->machine->loops.at[loop].parent;
		uint64_t around = parent == LOOP_NONE ? 0 : leader_of(leader, parent) + 1;
		uint64_t key = hash_u64(statement_key(atom, atom->column) ^ around * 0x9e3779b97f4a7c15u);
		uint32_t other = map_find(&seen, key);
		if (other == MAP_NONE)
			map_put(&seen, key, loop);
		else if (other != loop)
			unite(leader, loop, other);
	}
	map_done(&seen);
	return any;
}

void normalize_fuse(struct nest *nest)
{
	const struct loop_forest *machine = nest->machine;
	uint32_t *leader = alloc_resize(NULL, machine->loops.n, sizeof(uint32_t));

	for (uint32_t i = 0; i < machine->loops.n; i++)
		leader[i] = i;
	for (uint32_t depth = 1; fuse_depth(nest, leader, depth); depth++)
		;
	vec_clear(&nest->loops);
	vec_clear(&nest->source);
	for (uint32_t i = 0; i < machine->loops.n; i++) {
		const struct loop *loop = &machine->loops.at[i];
		uint64_t header = nest->cfg->blocks[loop->header].start;
		uint32_t first = leader_of(leader, i);
		uint16_t flags = loop->is_irreducible ? SCOPE_IRREDUCIBLE : 0;
		if (first != i) {
			struct source_loop *source = &nest->loops.at[nest->source.at[first]];
			source->context = contexts_common(nest->contexts, source->context, nest->context.at[i]);
			source->flags |= flags;
			vec_push(&nest->source, nest->source.at[first]);
			continue;
		}
		vec_push(&nest->source, (uint32_t)nest->loops.n);
		vec_push(&nest->loops, (struct source_loop){
					       .parent = loop->parent == LOOP_NONE ? LOOP_NONE : nest->source.at[loop->parent],
					       .context = nest->context.at[i],
					       .flags = flags,
					       .vaddr = header,
				       });
	}
	free(leader);
}

/* ---- a statement stands at its deepest place -------------------------------------------------- */

struct place {
	uint32_t loop;  /* the deepest source loop the statement was seen in */
	bool is_torn;   /* it was seen in loops of which neither holds the other: no deeper than what holds both */
};

static uint32_t holder_of_both(const struct nest *nest, uint32_t a, uint32_t b)
{
	while (a != LOOP_NONE && !nest_holds(nest, a, b))
		a = nest->loops.at[a].parent;
	return a;
}

static void see(const struct nest *nest, struct place *place, uint32_t loop)
{
	if (nest_holds(nest, place->loop, loop)) {
		if (!place->is_torn)
			place->loop = loop;
	} else if (!nest_holds(nest, loop, place->loop)) {
		place->loop = holder_of_both(nest, place->loop, loop);
		place->is_torn = true;
	}
}

void normalize_elide(struct nest *nest)
{
	struct map seen = { 0 };
	VEC(struct place) places = { 0 };
	VEC(uint32_t) place_of = { 0 };

	vec_clear(&nest->loop_of);
	for (size_t i = 0; i < nest->atoms->list.n; i++) {
		const struct atom *atom = &nest->atoms->list.at[i];
		uint32_t loop = atom->loop == LOOP_NONE ? LOOP_NONE : nest->source.at[atom->loop];
		/* By line and column: the parts of a loop's own head (first, test, step) share a line, not a place. */
		uint64_t key = statement_key(atom, atom->column);
		uint32_t at = atom->line ? map_find(&seen, key) : MAP_NONE;
		vec_push(&nest->loop_of, loop);
		if (at == MAP_NONE) {
			at = (uint32_t)places.n;
			vec_push(&places, (struct place){ loop, false });
			if (atom->line)
				map_put(&seen, key, at);
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
