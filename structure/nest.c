/* SPDX-License-Identifier: Apache-2.0 */
#include "structure/nest.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/hash.h"

#define UNSEEN UINT32_MAX

bool nest_holds(const struct nest *nest, uint32_t outer, uint32_t loop)
{
	if (outer == LOOP_NONE)
		return true;
	while (loop != LOOP_NONE && loop != outer)
		loop = nest->loops.at[loop].parent;
	return loop == outer;
}

uint32_t nest_common(const struct nest *nest, uint32_t a, uint32_t b)
{
	while (a != LOOP_NONE && !nest_holds(nest, a, b))
		a = nest->loops.at[a].parent;
	return a;
}

uint32_t nest_leader(struct nest *nest, uint32_t loop)
{
	uint32_t *leader = nest->leader.at;

	while (leader[loop] != loop)
		loop = leader[loop] = leader[leader[loop]];
	return loop;
}

/* Headers are numbered in the order in which the code is entered: the first of two leads. */
void nest_unite(struct nest *nest, uint32_t a, uint32_t b)
{
	a = nest_leader(nest, a);
	b = nest_leader(nest, b);
	uint32_t leader = a < b ? a : b, other = a < b ? b : a;
	nest->leader.at[other] = leader;
	apart_join(nest, leader, other);
}

bool nest_stands_in(const struct nest *nest, const struct atom *atom, uint32_t loop)
{
	for (size_t i = 0; i < nest->atoms->list.n; i++)
		if (nest->atoms->list.at[i].loop == loop &&
		    nest->atoms->list.at[i].statement == atom->statement)
			return true;
	return false;
}

uint32_t *nest_members(const struct nest *nest)
{
	uint32_t *member = alloc_resize(NULL, nest->loops.n, sizeof(uint32_t));

	for (uint32_t i = (uint32_t)nest->source.n; i-- > 0;)
		member[nest->source.at[i]] = i;
	return member;
}

/* ---- groups ------------------------------------------------------------------------------------- */

/*
 * Siblings with the same test are versions of one loop. Parents come first, so theirs are known. A part of a
 * region with several entries is not a version of an ordinary loop: the test that leads back into it may be
 * the one with which that loop is entered.
 */
static void group_versions(struct nest *nest)
{
	struct map seen = { 0 };

	for (uint32_t i = 0; i < nest->machine->loops.n; i++)
		vec_push(&nest->leader, i);
	for (uint32_t i = 0; i < nest->machine->loops.n; i++) {
		if (nest->test.at[i] == UNSEEN)
			continue;
		uint32_t parent = nest->machine->loops.at[i].parent;
		uint32_t around = parent == LOOP_NONE ? 0 : nest_leader(nest, parent) + 1;
		bool is_part = nest->is_way_in.at[i] || nest->machine->loops.at[i].is_irreducible;
		around = around << 3 | (uint32_t)is_part << 2 |
			 (uint32_t)loop_test_is_below_head(nest, i) << 1 | loop_test_is_jump(nest, i);
		uint64_t key = nest_key(&nest->atoms->list.at[nest->test.at[i]], around);
		uint32_t other = map_find(&seen, key);
		if (other == MAP_NONE || apart_are(nest, i, other))
			map_put(&seen, key, i);
		else
			nest_unite(nest, i, other);
	}
	map_done(&seen);
}

/*
 * A region with several entries becomes a nest of loops, and the inner ones contain entries of the outer one.
 * A loop that is only entered from the one around it is really nested, however many entries it has.
 */
static void find_ways_in(struct nest *nest)
{
	const struct loop *loops = nest->machine->loops.at;
	const uint32_t *innermost = nest->machine->innermost.at;

	for (size_t i = 0; i < nest->machine->loops.n; i++)
		vec_push(&nest->is_way_in, false);
	for (uint32_t b = 0; b < nest->cfg->n_blocks; b++)
		for (uint32_t e = 0; e < nest->cfg->blocks[b].n_edges; e++) {
			uint32_t from = innermost[b],
				 to = innermost[nest->cfg->edges[nest->cfg->blocks[b].first_edge + e].to];
			while (to != LOOP_NONE && to != from) { /* up to the loop that contains both */
				uint32_t around = loops[to].parent;
				while (from != LOOP_NONE && loops[from].depth > loops[to].depth - 1)
					from = loops[from].parent;
				if (around != LOOP_NONE && around != from &&
				    loops[around].header != loops[to].header)
					nest->is_way_in.at[to] = true;
				to = around;
			}
		}
}

/* What the own blocks of a machine loop contain. */
struct vector_code {
	uint32_t n_blocks, n_calls, n_packed, n_numbers;
	uint8_t packed_width, stored_width;
	bool is_outer;
};

/*
 * Only an innermost loop is vectorised: around it is code that prepares its vectors. A single operation on
 * half a register is one on a scalar that happens to be in a vector register; so are operations whose results
 * are taken out again one by one (GCC computes the maximum of two integers in vector registers). A loop that
 * only copies or fills has no arithmetic at all: if it is one block that stores whole registers, it is also
 * vectorised; in larger loops such a store may be the copy of a structure.
 */
static bool is_vectorised(const struct vector_code *code)
{
	bool computes = (code->packed_width > 8 || code->n_packed > 1) && code->n_packed > code->n_numbers;
	bool copies = code->stored_width && code->n_blocks == 1 && code->n_calls == 0;

	return !code->is_outer && (computes || copies);
}

static void find_flags(struct nest *nest)
{
	const struct loop_forest *machine = nest->machine;
	struct vector_code *codes = alloc_zero(machine->loops.n + 1, sizeof(*codes));

	for (uint32_t b = 0; b < nest->cfg->n_blocks; b++) {
		const struct cfg_block *block = &nest->cfg->blocks[b];
		if (machine->innermost.at[b] == LOOP_NONE)
			continue;
		struct vector_code *code = &codes[machine->innermost.at[b]];
		code->n_blocks++;
		code->n_calls += block->n_calls;
		code->n_packed += block->n_packed;
		code->n_numbers += block->n_numbers;
		if (block->packed_width > code->packed_width)
			code->packed_width = block->packed_width;
		code->stored_width |= block->stored_width;
	}
	for (size_t i = 0; i < machine->loops.n; i++)
		if (machine->loops.at[i].parent != LOOP_NONE)
			codes[machine->loops.at[i].parent].is_outer = true;
	for (size_t i = 0; i < machine->loops.n; i++) {
		unsigned flags = (machine->loops.at[i].is_irreducible ? SCOPE_IRREDUCIBLE : 0u) |
				 (is_vectorised(&codes[i]) ? SCOPE_VECTOR : 0u);
		vec_push(&nest->flags, (uint16_t)flags);
	}
	free(codes);
}

#define UNMADE UINT32_MAX
#define IN_HAND (UINT32_MAX - 1)

/* The machine loop around one that is not part of the same source loop. */
static uint32_t nest_around(struct nest *nest, uint32_t loop)
{
	uint32_t leader = nest_leader(nest, loop);

	do
		loop = nest->machine->loops.at[loop].parent;
	while (loop != LOOP_NONE && nest_leader(nest, loop) == leader);
	return loop;
}

/*
 * Creates a leader's source loop, those around it first. A copy may be outside the loop that contains the
 * others, in a peeled iteration of the outer loop: the deepest copy, its home, determines the nesting.
 */
static void make_loop(struct nest *nest, const uint32_t *home, uint32_t *made, uint32_t leader)
{
	VEC(uint32_t) path = { 0 };
	uint32_t at = leader, around;

	while (at != LOOP_NONE && made[at] == UNMADE) {
		made[at] = IN_HAND;
		vec_push(&path, at);
		around = nest_around(nest, home[at]);
		at = around == LOOP_NONE ? LOOP_NONE : nest_leader(nest, around);
	}
	uint32_t parent = at == LOOP_NONE || made[at] == IN_HAND ? LOOP_NONE : made[at];
	while (path.n) {
		at = path.at[--path.n];
		const struct loop *loop = &nest->machine->loops.at[at];
		made[at] = (uint32_t)nest->loops.n;
		vec_push(&nest->loops,
			 (struct source_loop){ .parent = parent,
					       .vaddr = nest->cfg->blocks[loop->known_by].start });
		parent = made[at];
	}
	vec_done(&path);
}

/* The source loops of the leaders, without contexts and lines. */
static void make_loops(struct nest *nest)
{
	const struct loop_forest *machine = nest->machine;
	uint32_t n = (uint32_t)machine->loops.n;
	uint32_t *home = alloc_resize(NULL, n, sizeof(uint32_t));
	uint32_t *made = alloc_resize(NULL, n, sizeof(uint32_t));

	vec_clear(&nest->loops);
	vec_clear(&nest->source);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t leader = nest_leader(nest, i);
		made[i] = UNMADE;
		home[i] = i;
		if (machine->loops.at[i].depth > machine->loops.at[home[leader]].depth)
			home[leader] = i;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t leader = nest_leader(nest, i);
		make_loop(nest, home, made, leader);
		vec_push(&nest->source, made[leader]);
		nest->loops.at[made[leader]].flags |= nest->flags.at[i];
	}
	free(home);
	free(made);
}

/* ---- contexts -------------------------------------------------------------------------------------- */

static void add_context(struct nest *nest, uint32_t loop, uint32_t context)
{
	uint32_t *known = &nest->loops.at[loop].context;

	*known = *known == UNSEEN ? context : contexts_common(nest->contexts, *known, context);
}

/* Code that is evidence for a loop, and so for all loops around it. */
static void see_context(struct nest *nest, uint32_t loop, uint32_t context)
{
	add_context(nest, loop, context);
	for (; context == 0 && loop != LOOP_NONE && !nest->loops.at[loop].has_own;
	     loop = nest->loops.at[loop].parent)
		nest->loops.at[loop].has_own = true;
}

/* Is the atom's line in another file than the procedure of its context, or after the start of the other
 * procedure? Compilers share a constant among several inlined calls, with the context of one and the line of
 * another. */
static bool is_of_other(const struct contexts *contexts, const struct atom *atom, uint32_t other)
{
	const struct context *own = &contexts->list.at[atom->context], *of = &contexts->list.at[other];

	if (own->file && atom->file != own->file)
		return true;
	return atom->file == of->file && own->line < of->line && of->line <= atom->line;
}

/*
 * Code that does not move a loop out of the procedure that its test is in. Of an enclosing procedure: code
 * that may have been moved there, or that compilers leave at the position of the call, on the brace that
 * opens the procedure, or on its last line, where it returns. Of a call beside it: code that also occurs
 * outside the loop, and was shared, or that is not written in the called procedure.
 */
static bool is_left_behind(const struct nest *nest, uint32_t test, uint32_t index)
{
	const struct contexts *contexts = nest->contexts;
	const struct atom *atom = &nest->atoms->list.at[index];
	uint32_t common = contexts_common(contexts, atom->context, test);

	if (common == test)
		return false;
	const struct context *own = &contexts->list.at[atom->context];
	if (common != atom->context)
		return !nest->is_whole.at[index] || is_of_other(contexts, atom, test);
	if (!nest->is_sure.at[index])
		return true;
	bool is_opening = atom->is_blurred || (own->line && atom->line == own->line + 1 && atom->column == 1);
	bool is_closing = atom->context == 0 && atom->line == contexts->end_line;
	if ((is_opening || is_closing) && atom->file == own->file)
		return true;
	const struct context *call = &contexts->list.at[contexts_below(contexts, atom->context, test)];
	return call->call_column && atom->line == call->call_line && atom->column == call->call_column &&
	       atom->file == call->call_file;
}

/* The contexts of the tests: the minimum for each loop. */
static void find_test_contexts(struct nest *nest)
{
	for (size_t i = 0; i < nest->loops.n; i++)
		nest->loops.at[i].context = UNSEEN;
	for (uint32_t i = 0; i < nest->machine->loops.n; i++)
		if (nest->test.at[i] != UNSEEN)
			add_context(nest, nest->source.at[i], nest->atoms->list.at[nest->test.at[i]].context);
}

/* The innermost context that contains all evidence for a loop, nested loops included. */
static void find_contexts(struct nest *nest)
{
	find_test_contexts(nest);
	for (size_t i = 0; i < nest->atoms->list.n; i++) {
		const struct atom *atom = &nest->atoms->list.at[i];
		uint32_t loop = nest->evidence.at[i];
		if (loop == LOOP_NONE)
			continue;
		uint32_t known = nest->loops.at[loop].context;
		if (known == UNSEEN || !is_left_behind(nest, known, (uint32_t)i))
			see_context(nest, loop, atom->context);
	}
	for (size_t i = nest->loops.n; i-- > 0;)
		if (nest->loops.at[i].context != UNSEEN && nest->loops.at[i].parent != LOOP_NONE)
			add_context(nest, nest->loops.at[i].parent, nest->loops.at[i].context);
	for (size_t i = 0; i < nest->loops.n; i++) {
		struct source_loop *loop = &nest->loops.at[i];
		if (loop->context == UNSEEN)
			loop->context = loop->parent == LOOP_NONE ? 0 : nest->loops.at[loop->parent].context;
	}
}

/*
 * Alien contexts are all siblings, so a loop with code of two of them would be moved out of both, although it
 * contains no line of the procedure itself. Then it belongs to the context of its test, and the others are
 * flattened into it.
 */
static void place_aliens(struct nest *nest)
{
	for (uint32_t i = (uint32_t)nest->machine->loops.n; i-- > 0;) {
		struct source_loop *loop = &nest->loops.at[nest->source.at[i]];
		uint32_t test =
			nest->test.at[i] == UNSEEN ? 0 : nest->atoms->list.at[nest->test.at[i]].context;
		if (loop->context == 0 && !loop->has_own && test && nest->contexts->list.at[test].is_alien)
			loop->context = test;
	}
}

static void locate(struct nest *nest)
{
	make_loops(nest);
	evidence_find(nest);
	find_contexts(nest);
	place_aliens(nest);
	place_loops(nest);
}

void nest_build(struct nest *nest)
{
	if (nest->machine->loops.n == 0) { /* the case for most functions */
		for (size_t i = 0; i < nest->atoms->list.n; i++)
			vec_push(&nest->loop_of, LOOP_NONE);
		return;
	}
	atoms_number(nest->atoms);
	find_flags(nest);
	loop_test_find(nest);
	find_ways_in(nest);
	apart_find(nest);
	group_versions(nest);
	locate(nest);
	/* Fused loops make siblings of their inner ones: repeated until nothing changes, which takes few
	 * rounds. */
	while (normalize_fold(nest) || normalize_strays(nest) || normalize_fuse(nest) ||
	       normalize_overlap(nest) || normalize_calls(nest))
		locate(nest);
	unroll_find(nest);
	normalize_elide(nest);
	normalize_exits(nest);
}

void nest_done(struct nest *nest)
{
	vec_done(&nest->test);
	vec_done(&nest->leader);
	vec_done(&nest->flags);
	vec_done(&nest->marks);
	vec_done(&nest->deeds);
	vec_done(&nest->is_way_in);
	vec_done(&nest->source);
	vec_done(&nest->loops);
	vec_done(&nest->evidence);
	vec_done(&nest->is_whole);
	vec_done(&nest->is_sure);
	vec_done(&nest->is_shared);
	vec_done(&nest->loop_of);
}
