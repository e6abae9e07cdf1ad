/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence: which code in a loop was written there, and which was only moved there.
 *
 * A statement whose code is all in a loop belongs to the loop. One that also occurs outside certainly belongs
 * to it if one of its branches or calls is inside, because these are not moved; if it loads or stores there
 * in every iteration; or if most of it, or enough, is inside: code that is moved into a loop is a constant or
 * a single instruction. For other statements control flow and lines decide together: code written between two
 * certain lines of a loop belongs to that loop, however little of it is there; more precisely, to the
 * innermost loop that contains all of it in the nest.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "structure/nest.h"

#define SINGLE 8 /* bytes: more than most instructions */

static uint32_t evidence_loop_of(const struct nest *nest, const struct atom *atom)
{
	return atom->loop == LOOP_NONE ? LOOP_NONE : nest->source.at[atom->loop];
}

/* All places where one statement occurs. */
struct spread {
	uint32_t some;          /* a loop that contains part of it */
	uint32_t common;        /* innermost loop that contains all of it */
	uint32_t home;          /* the loop that contains most of it ... */
	uint64_t home_len, len; /* ... and how much; in total */
	bool is_seen;
};

struct spreads {
	struct spread *list; /* per statement */
	struct map places;   /* (statement, loop that is not its home) -> bytes */
};

/* Code of a statement in a loop that is not its home so far. */
static void spread_further(struct spreads *spreads, const struct atom *atom, uint32_t loop)
{
	struct spread *spread = &spreads->list[atom->statement];
	uint32_t known = map_find(&spreads->places, nest_key(atom, loop));
	uint32_t here = (known == MAP_NONE ? 0 : known) + atom->weight;

	if (here <= spread->home_len) {
		map_put(&spreads->places, nest_key(atom, loop), here);
		return;
	}
	map_put(&spreads->places, nest_key(atom, spread->home), (uint32_t)spread->home_len);
	spread->home = loop;
	spread->home_len = here;
}

static void spread_atom(struct spreads *spreads, struct nest *nest, const struct atom *atom)
{
	uint32_t loop = evidence_loop_of(nest, atom);
	struct spread *spread = &spreads->list[atom->statement];

	if (!spread->is_seen)
		*spread = (struct spread){ loop, loop, loop, 0, 0, true };
	spread->len += atom->weight;
	if (spread->some == LOOP_NONE)
		spread->some = loop;
	if (loop != spread->some && loop != LOOP_NONE)
		nest->is_shared.at[atom->statement] = true;
	if (loop == spread->home) {
		spread->home_len += atom->weight;
		return;
	}
	spread->common = nest_common(nest, spread->common, loop);
	spread_further(spreads, atom, loop);
}

/* How much of an atom's statement is in its block. Single instructions are not added up: in an unrolled loop,
 * an instruction that was moved into it occurs just as often. */
static uint32_t evidence_weight(const struct nest *nest, const struct atom *atom)
{
	uint32_t weight = 0;

	for (uint32_t i = nest->atoms->first.at[atom->block]; i < nest->atoms->first.at[atom->block + 1]; i++)
		if (nest->atoms->list.at[i].statement == atom->statement &&
		    nest->atoms->list.at[i].weight >= SINGLE)
			weight += nest->atoms->list.at[i].weight;
	return weight;
}

/* Does the block end with a branch of this atom? */
static bool is_branch(const struct nest *nest, const struct atom *atom)
{
	const struct cfg_block *block = &nest->cfg->blocks[atom->block];

	return block->end_kind == BLOCK_BRANCHES && block->last - atom->start < atom->len;
}

/* Does it load or store in every iteration of a loop of one block? Code that is moved into a loop does
 * neither. */
static bool is_access(const struct nest *nest, const struct atom *atom)
{
	const struct cfg_block *block = &nest->cfg->blocks[atom->block];

	for (uint32_t i = 0; i < block->n_accesses; i++)
		if (nest->cfg->accesses[block->first_access + i].vaddr - atom->start < atom->len)
			return true;
	return false;
}

/* Does it call a function? Calls are not moved into loops. */
static bool is_call(const struct nest *nest, const struct atom *atom)
{
	const struct cfg_block *block = &nest->cfg->blocks[atom->block];

	for (uint32_t i = 0; i < block->n_calls; i++)
		if (nest->cfg->calls[block->first_call + i].vaddr - atom->start < atom->len)
			return true;
	return false;
}

/* Is this statement certainly written where this part of it is, even if there is more of it elsewhere? */
static bool is_native(const struct nest *nest, const struct atom *atom)
{
	return is_branch(nest, atom) || is_access(nest, atom) || is_call(nest, atom) ||
	       evidence_weight(nest, atom) >= EVIDENCE_WEIGHTY;
}

/* Finds what is certain; returns how many atoms are evidence for less than the loop that contains them. */
static size_t find_sure(struct nest *nest, const struct spreads *spreads)
{
	size_t n_doubtful = 0;

	vec_clear(&nest->evidence);
	vec_clear(&nest->is_whole);
	vec_clear(&nest->is_sure);
	for (size_t i = 0; i < nest->atoms->list.n; i++) {
		const struct atom *atom = &nest->atoms->list.at[i];
		const struct spread *spread = &spreads->list[atom->statement];
		uint32_t own = evidence_loop_of(nest, atom), loop = own;
		bool is_most = spread->home == loop && spread->home_len * 2 > spread->len;
		bool is_sure = loop == spread->common || is_native(nest, atom);
		if (!is_most && !is_sure)
			loop = spread->common;
		vec_push(&nest->evidence, atom->line ? loop : LOOP_NONE);
		vec_push(&nest->is_whole, nest_holds(nest, loop, spread->common));
		vec_push(&nest->is_sure, is_sure);
		n_doubtful += atom->line && loop != own;
	}
	return n_doubtful;
}

/* ---- uncertain code: between certain lines ------------------------------------------------------- */

/* The certain lines of a loop in one procedure context. */
struct sure_lines {
	uint32_t file, first, last;
};

struct between {
	struct map known; /* (loop, context) -> index of its lines */
	VEC(struct sure_lines) lines;
	struct map commons; /* (statement, outermost loop) -> innermost loop that contains all of it there */
};

static uint64_t between_key(uint32_t loop, uint32_t context)
{
	return (uint64_t)loop << 32 | context;
}

static void add_sure_line(struct between *between, uint32_t loop, const struct atom *atom)
{
	uint64_t key = between_key(loop, atom->context);
	uint32_t at = map_find(&between->known, key);

	if (at == MAP_NONE) {
		map_put(&between->known, key, (uint32_t)between->lines.n);
		vec_push(&between->lines, (struct sure_lines){ atom->file, atom->line, atom->line });
		return;
	}
	struct sure_lines *lines = &between->lines.at[at];
	if (lines->file != atom->file)
		return;
	lines->first = atom->line < lines->first ? atom->line : lines->first;
	lines->last = atom->line > lines->last ? atom->line : lines->last;
}

static uint32_t outermost(const struct nest *nest, uint32_t loop)
{
	while (nest->loops.at[loop].parent != LOOP_NONE)
		loop = nest->loops.at[loop].parent;
	return loop;
}

static void collect_between(const struct nest *nest, struct between *between)
{
	for (size_t i = 0; i < nest->atoms->list.n; i++) {
		const struct atom *atom = &nest->atoms->list.at[i];
		uint32_t own = evidence_loop_of(nest, atom);
		for (uint32_t loop = nest->evidence.at[i]; loop != LOOP_NONE;
		     loop = nest->loops.at[loop].parent)
			add_sure_line(between, loop, atom);
		if (own == LOOP_NONE || !atom->line)
			continue;
		uint64_t key = nest_key(atom, outermost(nest, own));
		uint32_t known = map_find(&between->commons, key);
		map_put(&between->commons, key, known == MAP_NONE ? own : nest_common(nest, known, own));
	}
}

static bool is_between(const struct between *between, uint32_t loop, const struct atom *atom)
{
	uint32_t at = map_find(&between->known, between_key(loop, atom->context));

	return at != MAP_NONE && between->lines.at[at].file == atom->file &&
	       between->lines.at[at].first <= atom->line && atom->line <= between->lines.at[at].last;
}

static void settle_doubtful(struct nest *nest, const struct between *between)
{
	for (size_t i = 0; i < nest->atoms->list.n; i++) {
		const struct atom *atom = &nest->atoms->list.at[i];
		uint32_t sure = nest->evidence.at[i], own = evidence_loop_of(nest, atom), loop = own;
		if (!atom->line || own == sure)
			continue;
		while (loop != sure && !is_between(between, loop, atom))
			loop = nest->loops.at[loop].parent;
		uint32_t common = loop == LOOP_NONE
					  ? LOOP_NONE
					  : map_find(&between->commons, nest_key(atom, outermost(nest, own)));
		nest->evidence.at[i] = loop != LOOP_NONE && nest_holds(nest, loop, common) ? common : loop;
	}
}

void evidence_find(struct nest *nest)
{
	struct spreads spreads = { .list = alloc_zero(nest->atoms->n_statements, sizeof(struct spread)) };
	struct between between = { 0 };

	vec_clear(&nest->is_shared);
	for (uint32_t i = 0; i < nest->atoms->n_statements; i++)
		vec_push(&nest->is_shared, false);
	for (size_t i = 0; i < nest->atoms->list.n; i++)
		spread_atom(&spreads, nest, &nest->atoms->list.at[i]);
	if (find_sure(nest, &spreads)) {
		collect_between(nest, &between);
		settle_doubtful(nest, &between);
	}
	free(spreads.list);
	map_done(&spreads.places);
	map_done(&between.known);
	map_done(&between.commons);
	vec_done(&between.lines);
}
