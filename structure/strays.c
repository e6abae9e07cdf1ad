/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strays: copies of an inner loop that are outside the outer one.
 *
 * If an iteration of the outer loop was peeled off, or remains after its vector code, the inner loop of that
 * iteration has no outer loop around it. A statement occurs in the source once: a loop that shares one with a
 * loop deeper in a neighbouring nest, and starts on the same line, is a copy of that.
 */
#include <stdlib.h>

#include "base/hash.h"
#include "structure/nest.h"

struct strays {
	struct nest *nest;
	uint32_t *member; /* per source loop: one of its machine loops */
	struct map homes; /* (statement, line that the loop starts on) -> the deepest such loop so far */
	bool any;
};

static bool is_stray(const struct nest *nest, uint32_t stray, uint32_t home)
{
	const struct source_loop *s = &nest->loops.at[stray], *h = &nest->loops.at[home];

	return s->parent != h->parent && nest_holds(nest, s->parent, home) &&
	       !nest_holds(nest, stray, home) && !nest_holds(nest, home, stray);
}

/* Is the nest that the stray would belong to a different one on its line? */
static bool strays_are_apart(const struct strays *strays, uint32_t stray, uint32_t home)
{
	struct nest *nest = strays->nest;

	while (nest->loops.at[home].parent != nest->loops.at[stray].parent)
		home = nest->loops.at[home].parent;
	return apart_are(nest, strays->member[stray], strays->member[home]);
}

static void strays_see(struct strays *strays, const struct atom *atom, uint32_t loop)
{
	const struct nest *nest = strays->nest;
	uint64_t key = nest_key(atom, nest->loops.at[loop].line);
	uint32_t home = map_find(&strays->homes, key);
	bool is_deeper = home == MAP_NONE || is_stray(nest, home, loop);

	if (is_deeper)
		map_put(&strays->homes, key, loop);
	if (home == MAP_NONE || home == loop || (!is_deeper && !is_stray(nest, loop, home)))
		return;
	uint32_t a = strays->member[home], b = strays->member[loop];
	if (nest_leader(strays->nest, a) == nest_leader(strays->nest, b) ||
	    (is_deeper ? strays_are_apart(strays, home, loop) : strays_are_apart(strays, loop, home)))
		return;
	nest_unite(strays->nest, a, b);
	strays->any = true;
}

/* The innermost loop that an atom is evidence for, if it is written between its lines. */
static uint32_t strays_loop(const struct nest *nest, size_t index)
{
	const struct atom *atom = &nest->atoms->list.at[index];
	uint32_t loop = nest->evidence.at[index];
	const struct source_loop *l = loop == LOOP_NONE ? NULL : &nest->loops.at[loop];

	return l && nest->is_shared.at[atom->statement] && atom->context == l->context &&
			       atom->file == l->file && atom->line >= l->line && atom->line <= l->end_line
		       ? loop
		       : LOOP_NONE;
}

bool normalize_strays(struct nest *nest)
{
	bool is_nested = false;

	for (size_t i = 0; i < nest->loops.n && !is_nested; i++)
		is_nested = nest->loops.at[i].parent != LOOP_NONE;
	if (!is_nested || nest->loops.n < 3)
		return false;
	struct strays strays = { .nest = nest, .member = nest_members(nest) };
	for (size_t i = 0; i < nest->atoms->list.n; i++) {
		uint32_t loop = strays_loop(nest, i);
		if (loop != LOOP_NONE)
			strays_see(&strays, &nest->atoms->list.at[i], loop);
	}
	map_done(&strays.homes);
	free(strays.member);
	return strays.any;
}
