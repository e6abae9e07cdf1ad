/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place: the source lines of a loop, by the bbranch-max heuristic (Tallent et al. 2009, 3.3): the backward
 * branch has the line of the loop's test, and so of its head; the loop ends at the last line of its own
 * procedure context. The test of a do-while or of a loop made of gotos is at the end or in the middle: then
 * the first line is the lowest one, or the one where control enters. A head of several lines may start a
 * little above the test, but not on the line that opens the procedure: compilers put various code there.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "structure/nest.h"

#define MAX_BEHIND 3 /* blocks after a vector loop, up to the test whether there is a remainder */
#define TOLERANCE 2  /* lines that a head may extend above its test: a `for` over several lines */

struct native_line nest_native_line(const struct nest *nest, uint32_t context, const struct atom *atom)
{
	const struct contexts *contexts = nest->contexts;

	if (atom->context == context)
		return (struct native_line){ atom->file, atom->line };
	if (contexts_common(contexts, atom->context, context) != context)
		return (struct native_line){ 0, 0 };
	const struct context *call = &contexts->list.at[contexts_below(contexts, context, atom->context)];
	return (struct native_line){ call->call_file, call->call_line };
}

struct extent {
	uint32_t file, test;   /* of the backward branch; test 0 = none seen */
	uint32_t least, most;  /* lines of the same file, 0 = none */
	uint32_t least_inside; /* the lowest after the procedure's name: code on that line was moved here */
	uint32_t least_own; /* the lowest after the line that opens the procedure or tests the loop around */
	uint32_t head;      /* line of the code where control enters the loop, 0 = unknown */
	uint32_t head_behind;  /* line of the head of a vector loop, found after it; 0 = none */
	uint32_t above, below; /* bytes of code on lines above and below the test */
	bool is_lineless;
};

/* A test at the position of the procedure's name, or of the pragma that a region was made from, is written
 * elsewhere. */
static void add_tests(const struct nest *nest, struct extent *extents)
{
	for (uint32_t i = 0; i < nest->machine->loops.n; i++) {
		uint32_t source = nest->source.at[i];
		struct extent *extent = &extents[source];
		if (nest->test.at[i] == UINT32_MAX || nest->atoms->list.at[nest->test.at[i]].is_blurred)
			continue;
		struct native_line line = nest_native_line(nest, nest->loops.at[source].context,
							   &nest->atoms->list.at[nest->test.at[i]]);
		if (line.line && (!extent->test || (line.file == extent->file && line.line < extent->test))) {
			extent->file = line.file;
			extent->test = line.line;
			extent->is_lineless = false;
		}
	}
}

static uint32_t lesser(uint32_t known, uint32_t line)
{
	return !known || line < known ? line : known;
}

static void place_widen(struct extent *extent, uint32_t line, uint32_t len, uint32_t opening, uint32_t floor,
			bool is_moved)
{
	extent->most = line > extent->most ? line : extent->most;
	extent->least = lesser(extent->least, line);
	if (line + 1 > opening)
		extent->least_inside = lesser(extent->least_inside, line);
	if (line > floor && !is_moved)
		extent->least_own = lesser(extent->least_own, line);
	extent->above += line < extent->test ? len : 0;
	extent->below += line > extent->test ? len : 0;
}

/* The procedure's opening brace is on the line of its name or, in most styles, on the next. */
static uint32_t opening_line(const struct nest *nest, uint32_t loop)
{
	const struct context *context = &nest->contexts->list.at[nest->loops.at[loop].context];

	return context->line ? context->line + 1 : 0;
}

/* The line above which a head cannot extend: that of the procedure's opening, or of the test of the loop
 * around it. */
static uint32_t floor_line(const struct nest *nest, const struct extent *extents, uint32_t loop)
{
	const struct source_loop *l = &nest->loops.at[loop];
	uint32_t opening = opening_line(nest, loop);

	if (l->parent == LOOP_NONE || nest->loops.at[l->parent].context != l->context ||
	    extents[l->parent].file != extents[loop].file || extents[l->parent].test >= extents[loop].test)
		return opening;
	return extents[l->parent].test > opening ? extents[l->parent].test : opening;
}

/* A small part of a statement that is not the test: it may have been moved into the loop, and says nothing
 * about its head. */
static bool place_is_moved(const struct nest *nest, uint32_t index)
{
	const struct atom *atom = &nest->atoms->list.at[index];
	const struct cfg_block *block = &nest->cfg->blocks[atom->block];

	return !nest->is_whole.at[index] && atom->weight < EVIDENCE_WEIGHTY &&
	       (block->end_kind != BLOCK_BRANCHES || block->last - atom->start >= atom->len);
}

/* Extends every loop around an atom by its line. */
static void place_add_line(const struct nest *nest, struct extent *extents, uint32_t index)
{
	const struct atom *atom = &nest->atoms->list.at[index];

	for (uint32_t loop = nest->evidence.at[index]; loop != LOOP_NONE;
	     loop = nest->loops.at[loop].parent) {
		struct extent *extent = &extents[loop];
		struct native_line line = nest_native_line(nest, nest->loops.at[loop].context, atom);
		if (!line.line)
			continue;
		extent->is_lineless = false;
		if (!extent->file)
			extent->file = line.file;
		if (line.file == extent->file)
			place_widen(extent, line.line, atom->weight, opening_line(nest, loop),
				    floor_line(nest, extents, loop), place_is_moved(nest, index));
	}
}

/* Where control enters: the first code of the header that was written in the loop. */
static void add_heads(const struct nest *nest, struct extent *extents)
{
	for (uint32_t i = 0; i < nest->machine->loops.n; i++) {
		uint32_t source = nest->source.at[i], block = nest->machine->loops.at[i].header;
		uint32_t at = nest->atoms->first.at[block], end = nest->atoms->first.at[block + 1];
		while (at < end && (!nest->atoms->list.at[at].line || nest->evidence.at[at] == LOOP_NONE ||
				    !nest_holds(nest, source, nest->evidence.at[at])))
			at++;
		if (at == end)
			continue;
		struct native_line line =
			nest_native_line(nest, nest->loops.at[source].context, &nest->atoms->list.at[at]);
		if (line.line > floor_line(nest, extents, source) && line.file == extents[source].file)
			extents[source].head = lesser(extents[source].head, line.line);
	}
}

/* Does the block jump back in the loops of this source loop, or leave them? Then it is their test. */
static bool place_decides(const struct nest *nest, uint32_t source, uint32_t block)
{
	const struct cfg_block *b = &nest->cfg->blocks[block];
	uint32_t loop = nest->machine->innermost.at[block];

	while (loop != LOOP_NONE && nest->source.at[loop] != source)
		loop = nest->machine->loops.at[loop].parent;
	for (uint32_t e = 0; loop != LOOP_NONE && e < b->n_edges; e++) {
		uint32_t to = nest->cfg->edges[b->first_edge + e].to;
		if (to == nest->machine->loops.at[loop].header || !loops_contain(nest->machine, loop, to))
			return true;
	}
	return loop == LOOP_NONE;
}

static void add_remainder_head(const struct nest *nest, struct extent *extents, uint32_t source,
			       const struct atom *atom)
{
	const struct source_loop *loop = &nest->loops.at[source];
	struct extent *extent = &extents[source];

	if (atom->context != loop->context || atom->file != extent->file || atom->line >= extent->least ||
	    extent->least - atom->line > TOLERANCE || atom->line <= opening_line(nest, source))
		return;
	/* gfortran may give two loops of a nest one line; code that does not decide on the outer one belongs
	 * to the inner one. */
	if (loop->parent != LOOP_NONE && nest->loops.at[loop->parent].context == loop->context &&
	    (atom->line < extents[loop->parent].test ||
	     (atom->line == extents[loop->parent].test && place_decides(nest, loop->parent, atom->block))))
		return;
	extent->head_behind = lesser(extent->head_behind, atom->line);
}

/*
 * gfortran gives a vector loop only the line of its statement. The branch after it, which tests whether there
 * is a remainder, has that of its head; or the code before the statement where the statement is repeated.
 */
static void add_remainder_test(const struct nest *nest, struct extent *extents, uint32_t source,
			       uint32_t block)
{
	const struct atom *atom = atoms_at(nest->atoms, block, nest->cfg->blocks[block].last);
	uint32_t first = nest->atoms->first.at[block];

	if (nest->cfg->blocks[block].end_kind == BLOCK_BRANCHES && atom)
		add_remainder_head(nest, extents, source, atom);
	if (first == nest->atoms->first.at[block + 1] || first + 1 == nest->atoms->list.n)
		return;
	atom = &nest->atoms->list.at[first];
	if (atom->line && atom[1].start == atom->start + atom->len && atom[1].loop == atom->loop &&
	    atom[1].line == extents[source].least && atom[1].context == atom->context)
		add_remainder_head(nest, extents, source, atom);
}

/* The blocks after a loop, as long as they fall through or test something on the loop's own line. */
static void add_remainder_tests_behind(const struct nest *nest, struct extent *extents, uint32_t source,
				       uint32_t first)
{
	uint32_t around = nest->machine->innermost.at[first], block = first;

	for (unsigned n = 0; n < MAX_BEHIND; n++) {
		const struct cfg_block *b = &nest->cfg->blocks[block];
		const struct atom *atom = atoms_at(nest->atoms, block, b->last);
		add_remainder_test(nest, extents, source, block);
		bool asks = b->end_kind == BLOCK_BRANCHES && atom && atom->line == extents[source].least;
		if ((!asks && b->end_kind != BLOCK_RUNS_ON) || block + 1 == nest->cfg->n_blocks ||
		    b[1].start != b->end || nest->machine->innermost.at[block + 1] != around)
			return;
		block++;
	}
}

static void add_remainder_tests(const struct nest *nest, struct extent *extents)
{
	for (uint32_t b = 0; b < nest->cfg->n_blocks; b++) {
		const struct cfg_block *block = &nest->cfg->blocks[b];
		uint32_t machine = nest->machine->innermost.at[b];
		if (machine == LOOP_NONE || !(nest->flags.at[machine] & SCOPE_VECTOR))
			continue;
		uint32_t source = nest->source.at[machine], parent = nest->machine->loops.at[machine].parent;
		if (!extents[source].least || extents[source].least != extents[source].most)
			continue;
		for (uint32_t e = 0; e < block->n_edges; e++) {
			uint32_t to = nest->cfg->edges[block->first_edge + e].to;
			if (nest->machine->innermost.at[to] == parent)
				add_remainder_tests_behind(nest, extents, source, to);
		}
	}
}

static uint32_t first_line(const struct extent *extent)
{
	if (extent->head_behind)
		return extent->head_behind;
	if (!extent->least)
		return extent->test;
	if (!extent->test)
		return extent->least_inside ? extent->least_inside : extent->least;
	if (extent->least >= extent->test)
		return extent->test;
	/* Lines above the test: the loop ends with its test, or there is little but the test at the end ...
	 */
	if (extent->most <= extent->test || extent->above > extent->below)
		return extent->least_inside ? extent->least_inside : extent->least;
	/* ... or it has its test in the middle ... */
	if (extent->head && extent->head < extent->test)
		return extent->head;
	/* ... or its head is written over several lines. */
	bool is_near = extent->least_own && extent->least_own < extent->test &&
		       extent->test - extent->least_own <= TOLERANCE;
	return is_near ? extent->least_own : extent->test;
}

/* A loop is between the lines of the loop around it. Children come after their parents: from inner to outer.
 */
static void widen_parents(struct nest *nest)
{
	for (size_t i = nest->loops.n; i-- > 0;) {
		const struct source_loop *loop = &nest->loops.at[i];
		struct source_loop *around = loop->parent == LOOP_NONE ? NULL : &nest->loops.at[loop->parent];
		if (!around || !loop->line || !around->line || around->context != loop->context ||
		    around->file != loop->file)
			continue;
		around->line = lesser(around->line, loop->line);
		around->end_line = around->end_line > loop->end_line ? around->end_line : loop->end_line;
	}
}

void place_loops(struct nest *nest)
{
	struct extent *extents = alloc_zero(nest->loops.n, sizeof(*extents));

	for (size_t i = 0; i < nest->loops.n; i++)
		extents[i].is_lineless = true;
	add_tests(nest, extents);
	for (size_t i = 0; i < nest->atoms->list.n; i++)
		if (nest->atoms->list.at[i].line)
			place_add_line(nest, extents, (uint32_t)i);
	add_heads(nest, extents);
	add_remainder_tests(nest, extents);
	for (size_t i = 0; i < nest->loops.n; i++) {
		struct source_loop *loop = &nest->loops.at[i];
		loop->file = extents[i].file;
		loop->line = first_line(&extents[i]);
		loop->end_line = extents[i].most > loop->line ? extents[i].most : loop->line;
		/* Code with lines around a loop without lines: the compiler made it, to copy or clear memory.
		 */
		if (extents[i].is_lineless && nest->contexts->list.at[0].file)
			loop->flags |= SCOPE_COMPILER_MADE;
	}
	widen_parents(nest);
	free(extents);
}
