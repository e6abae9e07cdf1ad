/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop_test: the statement that decides whether a loop continues.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "structure/nest.h"

#define UNSEEN UINT32_MAX
#define MAX_BEHIND 4 /* blocks after a vector loop, up to the test after the first remaining iteration */

static uint32_t atom_with_line(const struct nest *nest, uint32_t block)
{
	const struct atom *atom = atoms_at(nest->atoms, block, nest->cfg->blocks[block].last);

	return atom && atom->line ? (uint32_t)(atom - nest->atoms->list.at) : UNSEEN;
}

/* Does the block decide whether to leave the loop? */
static bool is_exit(const struct nest *nest, uint32_t loop, uint32_t block)
{
	const struct cfg_block *b = &nest->cfg->blocks[block];

	for (uint32_t e = 0; b->end_kind == BLOCK_BRANCHES && e < b->n_edges; e++)
		if (!loops_contain(nest->machine, loop, nest->cfg->edges[b->first_edge + e].to))
			return true;
	return false;
}

/* Is atom a written above atom b, in the same procedure? */
static bool is_higher(const struct nest *nest, uint32_t a, uint32_t b)
{
	const struct atom *atoms = nest->atoms->list.at;

	return a != UNSEEN && atoms[a].context == atoms[b].context && atoms[a].file == atoms[b].file &&
	       atoms[a].line < atoms[b].line;
}

uint32_t loop_test_around(const struct loop_forest *machine, uint32_t loop, uint32_t block)
{
	while (loop != LOOP_NONE && !loops_contain(machine, loop, block)) {
		uint32_t outer = machine->loops.at[loop].parent;
		bool is_shared = outer != LOOP_NONE &&
				 machine->loops.at[outer].header == machine->loops.at[loop].header;
		loop = is_shared ? outer : LOOP_NONE;
	}
	return loop;
}

/* The block that a block without a line leads to; the block itself if it has a line. */
static uint32_t loop_test_leads_to(const struct nest *nest, uint32_t block)
{
	const struct cfg_block *b = &nest->cfg->blocks[block];

	if (b->end_kind == BLOCK_BRANCHES || b->n_edges != 1 || b->n_calls)
		return block;
	for (uint32_t i = nest->atoms->first.at[block]; i < nest->atoms->first.at[block + 1]; i++)
		if (nest->atoms->list.at[i].line)
			return block;
	return nest->cfg->edges[b->first_edge].to;
}

/* The back edge to a loop's head may go through a separate block: the branch before it is the test. */
static void loop_test_find_split(struct nest *nest, const uint32_t *loop_at)
{
	const struct cfg *cfg = nest->cfg;

	for (uint32_t b = 0; b < cfg->n_blocks; b++) {
		uint32_t atom = nest->machine->innermost.at[b] != LOOP_NONE &&
						cfg->blocks[b].end_kind == BLOCK_BRANCHES
					? atom_with_line(nest, b)
					: UNSEEN;
		for (uint32_t e = 0; atom != UNSEEN && e < cfg->blocks[b].n_edges; e++) {
			uint32_t to = cfg->edges[cfg->blocks[b].first_edge + e].to;
			uint32_t head = loop_test_leads_to(nest, to);
			uint32_t loop = head == to ? LOOP_NONE : loop_at[head];
			if (loop != LOOP_NONE && nest->test.at[loop] == UNSEEN &&
			    loop_test_around(nest->machine, loop, to) == loop &&
			    loops_contain(nest->machine, loop, b) && is_exit(nest, loop, b))
				nest->test.at[loop] = atom;
		}
	}
}

/*
 * A conditional backward branch; otherwise the head's own exit; otherwise the backward jump. A jump that is
 * written above the others goes back to the head: it is the only trace of the line of `for (;;)`.
 */
static void loop_test_find_all(struct nest *nest)
{
	const struct cfg *cfg = nest->cfg;
	size_t n = nest->machine->loops.n;
	uint32_t *loop_at = alloc_resize(NULL, cfg->n_blocks, sizeof(uint32_t)); /* header block -> loop */
	uint32_t *jump = alloc_resize(NULL, n, sizeof(uint32_t));

	for (size_t b = 0; b < cfg->n_blocks; b++)
		loop_at[b] = LOOP_NONE;
	for (uint32_t i = 0; i < n; i++) {
		loop_at[nest->machine->loops.at[i].header] = i;
		vec_push(&nest->test, UNSEEN);
		jump[i] = UNSEEN;
	}
	for (uint32_t b = 0; b < cfg->n_blocks; b++)
		for (uint32_t e = 0; e < cfg->blocks[b].n_edges; e++) {
			uint32_t loop = loop_at[cfg->edges[cfg->blocks[b].first_edge + e].to];
			loop = loop_test_around(nest->machine, loop, b);
			if (loop == LOOP_NONE)
				continue;
			uint32_t *found = cfg->blocks[b].end_kind == BLOCK_BRANCHES ? &nest->test.at[loop]
										    : &jump[loop];
			if (*found == UNSEEN)
				*found = atom_with_line(nest, b);
		}
	loop_test_find_split(nest, loop_at);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t header = nest->machine->loops.at[i].header;
		if (nest->test.at[i] == UNSEEN && is_exit(nest, i, header))
			nest->test.at[i] = atom_with_line(nest, header);
		if (nest->test.at[i] == UNSEEN || is_higher(nest, jump[i], nest->test.at[i]))
			nest->test.at[i] = jump[i];
	}
	free(loop_at);
	free(jump);
}

#define SEVERAL (UINT32_MAX - 1)

/* The innermost loop that a branch in the block does not leave; LOOP_NONE if it leaves them all. */
static uint32_t loop_test_outside(const struct nest *nest, uint32_t block)
{
	const struct cfg_block *b = &nest->cfg->blocks[block];
	const uint32_t *innermost = nest->machine->innermost.at;
	uint32_t outside = innermost[block];

	for (uint32_t e = 0; b->end_kind == BLOCK_BRANCHES && outside != LOOP_NONE && e < b->n_edges; e++)
		outside = loops_common(nest->machine, outside,
				       innermost[nest->cfg->edges[b->first_edge + e].to]);
	return outside;
}

/* Of two atoms that leave a loop, the one that is written first; SEVERAL if that is not clear. */
static uint32_t loop_test_choose(const struct nest *nest, uint32_t known, uint32_t atom)
{
	const struct atom *atoms = nest->atoms->list.at;

	if (known == UNSEEN)
		return atom;
	if (atom == UNSEEN || known == SEVERAL || atoms[atom].context != atoms[known].context ||
	    atoms[atom].file != atoms[known].file)
		return SEVERAL;
	return is_higher(nest, atom, known) ? atom : known;
}

/*
 * If control enters at several places, it is arbitrary which of them became the header, and so is what jumps
 * back to it. The test is the statement that leaves the loop; of several, the one written first: a `break` is
 * below the head.
 */
static void loop_test_find_irreducible(struct nest *nest)
{
	const struct loop_forest *machine = nest->machine;
	size_t n = machine->loops.n;
	uint32_t *found = alloc_resize(NULL, n, sizeof(uint32_t));

	for (size_t i = 0; i < n; i++)
		found[i] = UNSEEN;
	for (uint32_t b = 0; b < nest->cfg->n_blocks; b++) {
		uint32_t own = machine->innermost.at[b], atom = UNSEEN;
		uint32_t end = own == LOOP_NONE ? LOOP_NONE : loop_test_outside(nest, b);
		for (uint32_t i = own; i != end; i = machine->loops.at[i].parent) {
			if (!machine->loops.at[i].is_irreducible)
				continue;
			atom = atom == UNSEEN ? atom_with_line(nest, b) : atom;
			found[i] = loop_test_choose(nest, found[i], atom);
		}
	}
	for (size_t i = 0; i < n; i++)
		if (found[i] != UNSEEN && found[i] != SEVERAL)
			nest->test.at[i] = found[i];
	free(found);
}

/*
 * A branch that jumps back or stays in the loop is not its test: it may skip the body if the head was copied
 * to the end. If the statement that leaves the loop is written above, that is the test.
 */
static void loop_test_find_above(struct nest *nest)
{
	const struct loop_forest *machine = nest->machine;
	size_t n = machine->loops.n;
	bool *stays = alloc_zero(n, sizeof(bool)), any = false;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t block =
			nest->test.at[i] == UNSEEN ? 0 : nest->atoms->list.at[nest->test.at[i]].block;
		stays[i] = nest->test.at[i] != UNSEEN &&
			   nest->cfg->blocks[block].end_kind == BLOCK_BRANCHES && !is_exit(nest, i, block);
		any |= stays[i];
	}
	for (uint32_t b = 0; any && b < nest->cfg->n_blocks; b++) {
		uint32_t i = machine->innermost.at[b];
		if (i == LOOP_NONE || !stays[i] || !is_exit(nest, i, b))
			continue;
		uint32_t atom = atom_with_line(nest, b);
		if (is_higher(nest, atom, nest->test.at[i]))
			nest->test.at[i] = atom;
	}
	free(stays);
}

bool loop_test_is_below_head(const struct nest *nest, uint32_t loop)
{
	uint32_t header = nest->machine->loops.at[loop].header;
	uint32_t head =
		nest->cfg->blocks[header].end_kind == BLOCK_BRANCHES ? atom_with_line(nest, header) : UNSEEN;

	return is_higher(nest, head, nest->test.at[loop]);
}

bool loop_test_is_jump(const struct nest *nest, uint32_t loop)
{
	const struct atom *test = &nest->atoms->list.at[nest->test.at[loop]];

	return nest->cfg->blocks[test->block].end_kind != BLOCK_BRANCHES;
}

/* Does the block contain another copy of the code of that call in the loop? */
static bool loop_test_has_copy(const struct nest *nest, uint32_t loop, uint32_t call, uint32_t block)
{
	for (uint32_t i = nest->atoms->first.at[block]; i < nest->atoms->first.at[block + 1]; i++)
		if (nest->atoms->list.at[i].context == call &&
		    nest_stands_in(nest, &nest->atoms->list.at[i], loop))
			return true;
	return false;
}

/* Follows the blocks after a loop, one after the other, up to a test of the caller after such a copy. */
static uint32_t loop_test_behind(const struct nest *nest, uint32_t loop, uint32_t call, uint32_t block)
{
	const struct cfg *cfg = nest->cfg;
	uint32_t around = nest->machine->innermost.at[block];

	for (unsigned n = 0; n < MAX_BEHIND; n++, block++) {
		uint32_t atom =
			cfg->blocks[block].end_kind == BLOCK_BRANCHES ? atom_with_line(nest, block) : UNSEEN;
		if (atom != UNSEEN &&
		    nest->atoms->list.at[atom].context == nest->contexts->list.at[call].parent &&
		    loop_test_has_copy(nest, loop, call, block))
			return atom;
		if (block + 1 == cfg->n_blocks || cfg->blocks[block + 1].start != cfg->blocks[block].end ||
		    nest->machine->innermost.at[block + 1] != around)
			return UNSEEN;
	}
	return UNSEEN;
}

/*
 * The vector body of a loop around an inlined call may contain only the code of the call. If its remainder is
 * not a loop, the test is the caller's branch after each copy of the call.
 */
static void loop_test_find_behind(struct nest *nest)
{
	for (uint32_t b = 0; b < nest->cfg->n_blocks; b++) {
		const struct cfg_block *block = &nest->cfg->blocks[b];
		uint32_t loop = nest->machine->innermost.at[b];
		if (loop == LOOP_NONE || !(nest->flags.at[loop] & SCOPE_VECTOR) ||
		    nest->test.at[loop] == UNSEEN)
			continue;
		uint32_t call = nest->atoms->list.at[nest->test.at[loop]].context;
		for (uint32_t e = 0; call && e < block->n_edges; e++) {
			uint32_t to = nest->cfg->edges[block->first_edge + e].to;
			if (nest->machine->innermost.at[to] != nest->machine->loops.at[loop].parent)
				continue;
			uint32_t behind = loop_test_behind(nest, loop, call, to);
			if (behind != UNSEEN)
				nest->test.at[loop] = behind;
		}
	}
}

void loop_test_find(struct nest *nest)
{
	loop_test_find_all(nest);
	loop_test_find_above(nest);
	loop_test_find_irreducible(nest);
	loop_test_find_behind(nest);
}
