/* SPDX-License-Identifier: Apache-2.0 */
#include "structure/nest.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/hash.h"

#define UNSEEN UINT32_MAX

uint64_t statement_key(const struct atom *atom)
{
	return hash_u64(hash_u64((uint64_t)atom->file << 32 | atom->line) ^
			hash_u64((uint64_t)atom->context << 32 | atom->column));
}

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

/* Headers are numbered in the order the code is entered: the first of two leads. */
void nest_unite(struct nest *nest, uint32_t a, uint32_t b)
{
	a = nest_leader(nest, a);
	b = nest_leader(nest, b);
	if (a < b)
		nest->leader.at[b] = a;
	else
		nest->leader.at[a] = b;
}

uint32_t *nest_members(const struct nest *nest)
{
	uint32_t *member = alloc_resize(NULL, nest->loops.n, sizeof(uint32_t));

	for (uint32_t i = (uint32_t)nest->source.n; i-- > 0;)
		member[nest->source.at[i]] = i;
	return member;
}

/* ---- tests: what decides whether a loop goes round again --------------------------------------- */

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

/*
 * A conditional backward branch; failing that the head's own exit; failing that the backward jump. A jump
 * that is written above the others goes back to the head: `for (;;)` has no other trace of its line.
 */
static void find_tests(struct nest *nest)
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
			if (loop == LOOP_NONE || !loops_contain(nest->machine, loop, b))
				continue;
			uint32_t *found = cfg->blocks[b].end_kind == BLOCK_BRANCHES ? &nest->test.at[loop]
										    : &jump[loop];
			if (*found == UNSEEN)
				*found = atom_with_line(nest, b);
		}
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

/* ---- groups ------------------------------------------------------------------------------------- */

/* Siblings with one test are versions of one loop. Parents come first, so theirs are known. */
static void group_versions(struct nest *nest)
{
	struct map seen = { 0 };

	for (uint32_t i = 0; i < nest->machine->loops.n; i++)
		vec_push(&nest->leader, i);
	for (uint32_t i = 0; i < nest->machine->loops.n; i++) {
		if (nest->test.at[i] == UNSEEN)
			continue;
		uint32_t parent = nest->machine->loops.at[i].parent;
		uint64_t around = parent == LOOP_NONE ? 0 : (uint64_t)nest_leader(nest, parent) + 1;
		uint64_t key = hash_u64(statement_key(&nest->atoms->list.at[nest->test.at[i]]) ^
					around * 0x9e3779b97f4a7c15u);
		uint32_t other = map_find(&seen, key);
		if (other == MAP_NONE)
			map_put(&seen, key, i);
		else
			nest_unite(nest, i, other);
	}
	map_done(&seen);
}

/* What the own blocks of a machine loop hold. */
struct vector_code {
	uint32_t n_blocks, n_calls, n_packed;
	uint8_t packed_width, stored_width;
	bool is_outer;
};

/*
 * Only an innermost loop is vectorised: around it stands what was computed beforehand for its vectors. A
 * single operation on half a register is one on a number that happens to be in it. A loop that only copies or
 * fills has no arithmetic at all: if it is one block that stores whole registers, it is vectorised, too; in
 * larger ones that may be the copy of a structure.
 */
static bool is_vectorised(const struct vector_code *code)
{
	bool computes = code->packed_width > 8 || code->n_packed > 1;
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

/* The source loops that the leaders make, contexts and lines still to be found. */
static void make_loops(struct nest *nest)
{
	vec_clear(&nest->loops);
	vec_clear(&nest->source);
	for (uint32_t i = 0; i < nest->machine->loops.n; i++) {
		const struct loop *loop = &nest->machine->loops.at[i];
		uint32_t leader = nest_leader(nest, i);
		uint16_t flags = nest->flags.at[i];
		if (leader != i) {
			vec_push(&nest->source, nest->source.at[leader]);
			nest->loops.at[nest->source.at[leader]].flags |= flags;
			continue;
		}
		vec_push(&nest->source, (uint32_t)nest->loops.n);
		vec_push(&nest->loops,
			 (struct source_loop){
				 .parent = loop->parent == LOOP_NONE ? LOOP_NONE
								     : nest->source.at[loop->parent],
				 .flags = flags,
				 .vaddr = nest->cfg->blocks[loop->header].start,
			 });
	}
}

/* ---- contexts -------------------------------------------------------------------------------------- */

static void add_context(struct nest *nest, uint32_t loop, uint32_t context)
{
	uint32_t *known = &nest->loops.at[loop].context;

	*known = *known == UNSEEN ? context : contexts_common(nest->contexts, *known, context);
}

/* Code that speaks for a loop, and so for all loops around it. */
static void see_context(struct nest *nest, uint32_t loop, uint32_t context)
{
	add_context(nest, loop, context);
	for (; context == 0 && loop != LOOP_NONE && !nest->loops.at[loop].has_own;
	     loop = nest->loops.at[loop].parent)
		nest->loops.at[loop].has_own = true;
}

/*
 * Code of a procedure around the one that a loop's test is in, and no more than compilers leave there: on the
 * very spot of the call, or on the procedure's last line, where it returns. It does not pull the loop out.
 */
static bool is_left_behind(const struct nest *nest, uint32_t test, const struct atom *atom)
{
	const struct contexts *contexts = nest->contexts;

	if (atom->context == test || contexts_common(contexts, atom->context, test) != atom->context)
		return false;
	if (atom->context == 0 && atom->line == contexts->end_line && atom->file == contexts->list.at[0].file)
		return true;
	const struct context *call = &contexts->list.at[contexts_below(contexts, atom->context, test)];
	return call->call_column && atom->line == call->call_line && atom->column == call->call_column &&
	       atom->file == call->call_file;
}

/* The contexts of the tests: what a loop has at least. */
static void find_test_contexts(struct nest *nest)
{
	for (size_t i = 0; i < nest->loops.n; i++)
		nest->loops.at[i].context = UNSEEN;
	for (uint32_t i = 0; i < nest->machine->loops.n; i++)
		if (nest->test.at[i] != UNSEEN)
			add_context(nest, nest->source.at[i], nest->atoms->list.at[nest->test.at[i]].context);
}

/* The innermost context that holds all that speaks for a loop, nested loops included. */
static void find_contexts(struct nest *nest)
{
	find_test_contexts(nest);
	for (size_t i = 0; i < nest->atoms->list.n; i++) {
		const struct atom *atom = &nest->atoms->list.at[i];
		uint32_t loop = nest->evidence.at[i];
		if (loop == LOOP_NONE)
			continue;
		uint32_t known = nest->loops.at[loop].context;
		if (known == UNSEEN || !is_left_behind(nest, known, atom))
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
 * Alien contexts are all siblings, so a loop with code of two of them falls out of both, though no line of
 * the procedure itself is in it. Then it stands where its test does, and the others are flattened into it.
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
	find_tests(nest);
	find_flags(nest);
	group_versions(nest);
	locate(nest);
	/* Fused loops make siblings of their inner ones: to a fixed point, which is near. */
	while (normalize_fold(nest) || normalize_fuse(nest) || normalize_overlap(nest) ||
	       normalize_calls(nest))
		locate(nest);
	normalize_elide(nest);
	normalize_exits(nest);
}

void nest_done(struct nest *nest)
{
	vec_done(&nest->test);
	vec_done(&nest->leader);
	vec_done(&nest->flags);
	vec_done(&nest->source);
	vec_done(&nest->loops);
	vec_done(&nest->evidence);
	vec_done(&nest->loop_of);
}
