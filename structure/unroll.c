/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unroll: copies of a loop that execute several iterations at once.
 *
 * Unrolling leaves a copy for the remaining iterations. If every statement that loads or stores in such a
 * copy does so at least twice as often in another one, and in one block, so that all of it is executed in
 * each iteration, that one is unrolled. Loops of several blocks, and those without a remainder, are not
 * recognised.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "structure/nest.h"

/* The loads and stores of one statement in one machine loop. */
struct repeated {
	uint32_t statement, n;
};

/* The statements of a machine loop: a range of the list. */
struct body {
	uint32_t first, n_statements;
	uint32_t n; /* loads and stores of all of them */
};

struct unrolling {
	struct nest *nest;
	struct map known; /* (statement, machine loop) -> index */
	VEC(struct repeated) list;
	struct body *bodies; /* per machine loop */
	uint32_t *least;     /* per source loop: the machine loop with the fewest of them, LOOP_NONE */
};

static uint64_t unroll_key(uint32_t statement, uint32_t loop)
{
	return (uint64_t)statement << 32 | loop;
}

static void unroll_add(struct unrolling *u, uint32_t loop, const struct atom *atom, uint32_t n)
{
	uint64_t key = unroll_key(atom->statement, loop);
	uint32_t at = map_find(&u->known, key);

	if (at == MAP_NONE) {
		at = (uint32_t)u->list.n;
		map_put(&u->known, key, at);
		vec_push(&u->list, (struct repeated){ atom->statement, 0 });
		u->bodies[loop].n_statements++;
	}
	u->list.at[at].n += n;
	u->bodies[loop].n += n;
}

static void unroll_count(struct unrolling *u)
{
	const struct nest *nest = u->nest;

	for (uint32_t b = 0; b < nest->cfg->n_blocks; b++) {
		const struct cfg_block *block = &nest->cfg->blocks[b];
		uint32_t loop = nest->machine->innermost.at[b];
		if (loop == LOOP_NONE || nest->machine->loops.at[loop].header != b)
			continue;
		u->bodies[loop].first = (uint32_t)u->list.n;
		for (uint32_t i = 0; i < block->n_accesses; i++) {
			const struct cfg_access *access = &nest->cfg->accesses[block->first_access + i];
			const struct atom *atom = atoms_at(nest->atoms, b, access->vaddr);
			if (atom && atom->line)
				unroll_add(u, loop, atom, access->n);
		}
	}
}

static void unroll_find_least(struct unrolling *u)
{
	const struct nest *nest = u->nest;

	for (size_t i = 0; i < nest->loops.n; i++)
		u->least[i] = LOOP_NONE;
	for (uint32_t i = 0; i < nest->machine->loops.n; i++) {
		uint32_t *least = &u->least[nest->source.at[i]];
		if (u->bodies[i].n && (*least == LOOP_NONE || u->bodies[i].n < u->bodies[*least].n))
			*least = i;
	}
}

/* Does the loop do at least twice what the smallest of its copies does once? */
static bool is_unrolled(const struct unrolling *u, uint32_t loop)
{
	uint32_t least = u->least[u->nest->source.at[loop]];

	if (least == LOOP_NONE || u->bodies[loop].n < 2 * u->bodies[least].n)
		return false;
	for (uint32_t i = 0; i < u->bodies[least].n_statements; i++) {
		const struct repeated *rest = &u->list.at[u->bodies[least].first + i];
		uint32_t at = map_find(&u->known, unroll_key(rest->statement, loop));
		if (at == MAP_NONE || u->list.at[at].n < 2 * rest->n)
			return false;
	}
	return true;
}

void unroll_find(struct nest *nest)
{
	size_t n = nest->machine->loops.n;

	if (nest->cfg->n_accesses == 0 || nest->loops.n == n)
		return; /* no loop has a copy */
	struct unrolling u = { .nest = nest,
			       .bodies = alloc_zero(n, sizeof(struct body)),
			       .least = alloc_resize(NULL, nest->loops.n, sizeof(uint32_t)) };
	unroll_count(&u);
	unroll_find_least(&u);
	for (uint32_t i = 0; i < n; i++) {
		if (!is_unrolled(&u, i))
			continue;
		nest->flags.at[i] |= SCOPE_UNROLLED;
		nest->loops.at[nest->source.at[i]].flags |= SCOPE_UNROLLED;
	}
	map_done(&u.known);
	vec_done(&u.list);
	free(u.bodies);
	free(u.least);
}
