/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fold: nested machine loops that are one loop in the source.
 *
 * A region with several entries becomes a nest of loops, one for each entry. A loop with a `switch` or a
 * `goto` in it has several back edges, some of which lead to a copy of its head: that also becomes a nest.
 * Most rules apply only to loops that start on one line, but that alone is not enough: array syntax and
 * macros generate whole nests on one line, and `for (;;)` has no code. Two loops are one if:
 *
 * - control enters both from outside, at different places;
 * - both have the same test, the inner loop's leaves them both, and there is no cycle without it;
 * - the test on the outer loop's first line, which leaves it, is in the inner loop (these may start on any
 *   line);
 * - the outer loop does not restart the inner one, and its back edge comes from a statement that is written
 *   between the inner loop's lines, but is not in it;
 * - the outer loop's back edges and exits are all inside the inner one, and everything else that it does is
 *   written below the first line: a part of the body that is an entry, and that may be skipped;
 * - the statement that decides on the inner loop leads to three or more places in the outer one: it is a
 *   `switch`;
 * - after the inner loop, before its back edge, the outer one does something that is written between the
 *   inner loop's lines but is not in it, or the rest of the statement that decides on it, and then something
 *   that is in it: if the outer test need not be evaluated, the body starts again at once (these may start on
 *   any line).
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "structure/nest.h"

#define MANY 3 /* targets of a `switch`; the condition of a loop has fewer */

/* Where the statement that decides on a loop leads to. */
struct targets {
	uint32_t outer; /* machine loop */
	uint32_t n, lines[MANY];
	bool is_above; /* it also occurs in the outer loop, outside the inner one */
};

struct folding {
	struct nest *nest;
	uint32_t *
		inner; /* per machine loop: a loop directly inside it that starts on its line, or LOOP_NONE */
	struct map
		within; /* (statement of the outer loop, such an inner loop) -> does it also occur there? */
	struct map deciding; /* statement -> index of its targets */
	VEC(struct targets) targets;
	VEC(uint32_t) stack, seen; /* blocks; per block: the last walk that reached it */
	uint32_t n_walks;
};

static const struct atom *fold_last(const struct nest *nest, uint32_t block)
{
	const struct atom *atom = atoms_at(nest->atoms, block, nest->cfg->blocks[block].last);

	return atom && atom->line ? atom : NULL;
}

static bool starts_with(const struct nest *nest, uint32_t inner, uint32_t outer)
{
	const struct source_loop *i = &nest->loops.at[nest->source.at[inner]],
				 *o = &nest->loops.at[nest->source.at[outer]];

	return i->line && i->line <= o->line && i->file == o->file && i->context == o->context;
}

/* Is there a cycle in the loop without that test? Then it is not a copy of a loop that has the test. */
static bool has_way_round(struct folding *f, uint32_t loop, uint32_t test)
{
	const struct nest *nest = f->nest;
	uint32_t header = nest->machine->loops.at[loop].header;

	while (f->seen.n < nest->cfg->n_blocks)
		vec_push(&f->seen, 0);
	f->n_walks++;
	vec_clear(&f->stack);
	vec_push(&f->stack, header);
	while (f->stack.n) {
		uint32_t from = f->stack.at[--f->stack.n];
		const struct cfg_block *block = &nest->cfg->blocks[from];
		const struct atom *atom = block->end_kind == BLOCK_BRANCHES ? fold_last(nest, from) : NULL;
		for (uint32_t e = 0; (!atom || atom->statement != test) && e < block->n_edges; e++) {
			uint32_t to = nest->cfg->edges[block->first_edge + e].to;
			if (to == header &&
			    loop_test_around(nest->machine, nest->machine->innermost.at[to], from) == loop)
				return true;
			if (to == header || f->seen.at[to] == f->n_walks ||
			    !loops_contain(nest->machine, loop, to))
				continue;
			f->seen.at[to] = f->n_walks;
			vec_push(&f->stack, to);
		}
	}
	return false;
}

static bool has_same_test(struct folding *f, uint32_t inner, uint32_t outer)
{
	const struct nest *nest = f->nest;
	const struct source_loop *o = &nest->loops.at[nest->source.at[outer]];
	uint32_t a = nest->test.at[inner], b = nest->test.at[outer];

	if (a == UINT32_MAX || b == UINT32_MAX || o->end_line == o->line ||
	    nest->atoms->list.at[a].statement != nest->atoms->list.at[b].statement)
		return false;
	const struct cfg_block *block = &nest->cfg->blocks[nest->atoms->list.at[a].block];
	for (uint32_t e = 0; e < block->n_edges; e++)
		if (!loops_contain(nest->machine, outer, nest->cfg->edges[block->first_edge + e].to))
			return !has_way_round(f, outer, nest->atoms->list.at[a].statement);
	return false;
}

/* Is the branch, which leaves the outer loop, written on that loop's first line? */
static bool is_head_test(const struct nest *nest, uint32_t outer, uint32_t block, const struct atom *atom)
{
	const struct source_loop *o = &nest->loops.at[nest->source.at[outer]];
	const struct cfg_block *b = &nest->cfg->blocks[block];

	if (atom->line != o->line || atom->file != o->file || atom->context != o->context)
		return false;
	for (uint32_t e = 0; e < b->n_edges; e++)
		if (!loops_contain(nest->machine, outer, nest->cfg->edges[b->first_edge + e].to))
			return true;
	return false;
}

/*
 * The test of the outer loop is evaluated in every iteration of the inner one: so that is not a separate
 * loop, but a shorter path through the same one. For loops that start on one line this says nothing, unless
 * there is also no cycle without that very statement.
 */
static bool asks_head_test(struct folding *f, uint32_t inner, uint32_t outer, uint32_t block,
			   const struct atom *atom)
{
	const struct source_loop *loops = f->nest->loops.at;
	uint32_t line = loops[f->nest->source.at[inner]].line,
		 outer_line = loops[f->nest->source.at[outer]].line;

	if (line < outer_line || !is_head_test(f->nest, outer, block, atom))
		return false;
	return line > outer_line || (atom->column && !has_way_round(f, inner, atom->statement) &&
				     !has_way_round(f, outer, atom->statement));
}

static void find_head_tests(struct folding *f, bool *ret)
{
	const struct nest *nest = f->nest;

	for (uint32_t b = 0; b < nest->cfg->n_blocks; b++) {
		uint32_t inner = nest->machine->innermost.at[b], outer;
		const struct atom *atom =
			inner == LOOP_NONE || nest->machine->loops.at[inner].parent == LOOP_NONE ||
					nest->cfg->blocks[b].end_kind != BLOCK_BRANCHES
				? NULL
				: fold_last(nest, b);
		for (; atom && (outer = nest->machine->loops.at[inner].parent) != LOOP_NONE; inner = outer)
			ret[inner] = ret[inner] || asks_head_test(f, inner, outer, b, atom);
	}
}

/* Candidates: one inner loop for each outer one; the next is considered in the next round. */
static bool fold_choose(struct folding *f)
{
	struct nest *nest = f->nest;
	bool any = false;

	for (uint32_t i = 0; i < nest->machine->loops.n; i++)
		f->inner[i] = LOOP_NONE;
	for (uint32_t i = 0; i < nest->machine->loops.n; i++) {
		uint32_t outer = nest->machine->loops.at[i].parent;
		if (outer == LOOP_NONE || nest_leader(nest, i) == nest_leader(nest, outer) ||
		    !starts_with(nest, i, outer))
			continue;
		f->inner[outer] = i;
		any = true;
		if (nest->test.at[i] == UINT32_MAX)
			continue;
		map_put(&f->deciding, nest->atoms->list.at[nest->test.at[i]].statement,
			(uint32_t)f->targets.n);
		vec_push(&f->targets, (struct targets){ .outer = outer });
	}
	return any;
}

static uint32_t line_at(const struct nest *nest, uint32_t block)
{
	for (uint32_t i = nest->atoms->first.at[block]; i < nest->atoms->first.at[block + 1]; i++)
		if (nest->atoms->list.at[i].line)
			return nest->atoms->list.at[i].line;
	return 0;
}

static void add_target(struct targets *targets, uint32_t line)
{
	for (uint32_t i = 0; i < targets->n; i++)
		if (targets->lines[i] == line)
			return;
	if (targets->n < MANY)
		targets->lines[targets->n++] = line;
}

/* Finds where the deciding statements lead to. */
static void find_targets(struct folding *f)
{
	const struct nest *nest = f->nest;

	for (uint32_t b = 0; b < nest->cfg->n_blocks; b++) {
		const struct cfg_block *block = &nest->cfg->blocks[b];
		const struct atom *atom =
			block->end_kind == BLOCK_BRANCHES || block->end_kind == BLOCK_SWITCHES
				? fold_last(nest, b)
				: NULL;
		uint32_t at = atom ? map_find(&f->deciding, atom->statement) : MAP_NONE;
		if (at == MAP_NONE || !loops_contain(nest->machine, f->targets.at[at].outer, b))
			continue;
		f->targets.at[at].is_above |= nest->machine->innermost.at[b] == f->targets.at[at].outer;
		for (uint32_t e = 0; e < block->n_edges; e++) {
			uint32_t to = nest->cfg->edges[block->first_edge + e].to;
			uint32_t line = line_at(nest, to);
			if (line && line != atom->line &&
			    loops_contain(nest->machine, f->targets.at[at].outer, to))
				add_target(&f->targets.at[at], line);
		}
	}
}

/* Collects the statements around the inner loop that are written between its lines. */
static void ask_within(struct folding *f, bool *ret_asked)
{
	const struct nest *nest = f->nest;

	for (size_t i = 0; i < nest->atoms->list.n; i++) {
		const struct atom *atom = &nest->atoms->list.at[i];
		uint32_t inner = atom->loop == LOOP_NONE ? LOOP_NONE : f->inner[atom->loop];
		const struct source_loop *l =
			inner == LOOP_NONE ? NULL : &nest->loops.at[nest->source.at[inner]];
		if (!l || atom->context != l->context || atom->file != l->file || atom->line < l->line ||
		    (atom->line >= l->end_line && atom->line != l->line))
			continue;
		map_put(&f->within, nest_key(atom, inner), false);
		ret_asked[inner] = true;
	}
}

static void find_within(struct folding *f)
{
	const struct nest *nest = f->nest;
	bool *asked = alloc_zero(nest->machine->loops.n, sizeof(bool));

	ask_within(f, asked);
	for (size_t i = 0; i < nest->atoms->list.n; i++) {
		const struct atom *atom = &nest->atoms->list.at[i];
		for (uint32_t loop = atom->loop; loop != LOOP_NONE && atom->line;
		     loop = nest->machine->loops.at[loop].parent)
			if (asked[loop] && map_find(&f->within, nest_key(atom, loop)) != MAP_NONE)
				map_put(&f->within, nest_key(atom, loop), true);
	}
	free(asked);
}

/* Is a statement in the block written between the inner loop's lines, but not in it? */
static bool is_across(const struct folding *f, uint32_t block, uint32_t inner)
{
	const struct nest *nest = f->nest;
	const struct source_loop *l = &nest->loops.at[nest->source.at[inner]];

	for (uint32_t i = nest->atoms->first.at[block]; i < nest->atoms->first.at[block + 1]; i++) {
		const struct atom *atom = &nest->atoms->list.at[i];
		if (atom->context == l->context && atom->file == l->file && atom->line > l->line &&
		    atom->line < l->end_line && map_find(&f->within, nest_key(atom, inner)) == false)
			return true;
	}
	return false;
}

/* Is there a statement on the loops' first line that is not in the inner one? It restarts that. */
static bool has_start(const struct folding *f, uint32_t block, uint32_t inner)
{
	const struct nest *nest = f->nest;
	const struct source_loop *l = &nest->loops.at[nest->source.at[inner]];

	for (uint32_t i = nest->atoms->first.at[block]; i < nest->atoms->first.at[block + 1]; i++) {
		const struct atom *atom = &nest->atoms->list.at[i];
		if (atom->context == l->context && atom->file == l->file && atom->line == l->line &&
		    atom->column && map_find(&f->within, nest_key(atom, inner)) == false)
			return true;
	}
	return false;
}

/* Does the outer loop have a back edge between the inner loop's lines? */
static void find_across(struct folding *f, bool *ret)
{
	const struct nest *nest = f->nest;
	bool *starts = alloc_zero(nest->machine->loops.n, sizeof(bool));

	for (uint32_t b = 0; b < nest->cfg->n_blocks; b++) {
		const struct cfg_block *block = &nest->cfg->blocks[b];
		uint32_t outer = nest->machine->innermost.at[b];
		if (outer == LOOP_NONE || f->inner[outer] == LOOP_NONE || ret[outer])
			continue;
		for (uint32_t e = 0; e < block->n_edges; e++)
			if (nest->cfg->edges[block->first_edge + e].to ==
			    nest->machine->loops.at[outer].header)
				ret[outer] |= is_across(f, b, f->inner[outer]);
	}
	for (uint32_t b = 0; b < nest->cfg->n_blocks; b++) {
		uint32_t outer = nest->machine->innermost.at[b];
		if (outer != LOOP_NONE && ret[outer] && !starts[outer])
			starts[outer] = has_start(f, b, f->inner[outer]);
	}
	for (size_t i = 0; i < nest->machine->loops.n; i++)
		ret[i] &= !starts[i];
	free(starts);
}

static bool is_in_body(const struct nest *nest, uint32_t loop, const struct atom *atom)
{
	const struct source_loop *l = &nest->loops.at[nest->source.at[loop]];

	return atom->line && atom->context == l->context && atom->file == l->file && atom->line >= l->line &&
	       atom->line <= l->end_line;
}

/* Does a block after the inner loop, and only in the outer one, continue with the inner one's body? */
static bool goes_on(const struct nest *nest, uint32_t inner, uint32_t block)
{
	const struct atom *atoms = nest->atoms->list.at;
	uint32_t test = nest->test.at[inner], outer = nest->machine->loops.at[inner].parent;
	bool is_begun = false;

	for (uint32_t i = nest->atoms->first.at[block]; i < nest->atoms->first.at[block + 1]; i++) {
		const struct atom *atom = &atoms[i];
		bool is_test = test != UINT32_MAX && atom->statement == atoms[test].statement;
		bool is_shared = nest->is_shared.at[atom->statement];
		if (is_begun && is_shared && !is_test && is_in_body(nest, outer, atom) &&
		    atom->line >= nest->loops.at[nest->source.at[inner]].line &&
		    nest_stands_in(nest, atom, inner))
			return true;
		is_begun |= (is_test || !is_shared) && is_in_body(nest, inner, atom);
	}
	return false;
}

static bool leads_to(const struct cfg *cfg, uint32_t from, uint32_t to)
{
	const struct cfg_block *block = &cfg->blocks[from];

	for (uint32_t e = 0; e < block->n_edges; e++)
		if (cfg->edges[block->first_edge + e].to == to)
			return true;
	return false;
}

/* Inner loops that are a shorter cycle of the outer one. */
static void find_shortcuts(const struct nest *nest, bool *ret)
{
	for (uint32_t b = 0; b < nest->cfg->n_blocks; b++) {
		const struct cfg_block *block = &nest->cfg->blocks[b];
		uint32_t inner = nest->machine->innermost.at[b];
		uint32_t outer = inner == LOOP_NONE ? LOOP_NONE : nest->machine->loops.at[inner].parent;
		if (outer == LOOP_NONE || ret[inner] || (nest->flags.at[inner] & SCOPE_VECTOR))
			continue;
		for (uint32_t e = 0; !ret[inner] && e < block->n_edges; e++) {
			uint32_t to = nest->cfg->edges[block->first_edge + e].to;
			ret[inner] = nest->machine->innermost.at[to] == outer &&
				     leads_to(nest->cfg, to, nest->machine->loops.at[outer].header) &&
				     goes_on(nest, inner, to);
		}
	}
}

/* Does a block of the outer loop, outside the inner one, leave it, or do something that is not written below
 * the first line? */
static bool fold_is_outside(const struct nest *nest, uint32_t outer, uint32_t block, bool *is_below)
{
	const struct source_loop *l = &nest->loops.at[nest->source.at[outer]];
	const struct cfg_block *b = &nest->cfg->blocks[block];

	for (uint32_t e = 0; e < b->n_edges; e++)
		if (!loops_contain(nest->machine, outer, nest->cfg->edges[b->first_edge + e].to))
			return true;
	for (uint32_t i = nest->atoms->first.at[block]; i < nest->atoms->first.at[block + 1]; i++) {
		const struct atom *atom = &nest->atoms->list.at[i];
		struct native_line line = nest_native_line(nest, l->context, atom);
		if (atom->line && (line.file != l->file || line.line <= l->line))
			return true;
		*is_below |= atom->line != 0;
	}
	return false;
}

static bool fold_is_detour(const struct nest *nest, uint32_t inner, uint32_t outer)
{
	bool is_below = false;

	for (uint32_t b = 0; b < nest->cfg->n_blocks; b++) {
		if (!loops_contain(nest->machine, outer, b) || loops_contain(nest->machine, inner, b))
			continue;
		if (leads_to(nest->cfg, b, nest->machine->loops.at[outer].header) &&
		    loop_test_around(nest->machine, outer, b) == outer)
			return false;
		if (nest->machine->innermost.at[b] == outer && fold_is_outside(nest, outer, b, &is_below))
			return false;
	}
	return is_below;
}

static bool is_switch(const struct folding *f, uint32_t inner, uint32_t outer)
{
	uint32_t test = f->nest->test.at[inner];
	uint32_t at = test == UINT32_MAX ? MAP_NONE
					 : map_find(&f->deciding, f->nest->atoms->list.at[test].statement);

	return at != MAP_NONE && f->targets.at[at].outer == outer && f->targets.at[at].is_above &&
	       f->targets.at[at].n == MANY;
}

bool normalize_fold(struct nest *nest)
{
	size_t n = nest->machine->loops.n;
	struct folding f = { .nest = nest, .inner = alloc_resize(NULL, n, sizeof(uint32_t)) };
	bool *across = alloc_zero(n, sizeof(bool)), *asks = alloc_zero(n, sizeof(bool)), any = false;

	if (fold_choose(&f)) {
		find_within(&f);
		find_across(&f, across);
		find_targets(&f);
	}
	find_head_tests(&f, asks);
	find_shortcuts(nest, asks);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t outer = nest->machine->loops.at[i].parent;
		if (outer == LOOP_NONE || nest_leader(nest, i) == nest_leader(nest, outer) ||
		    (!asks[i] && !starts_with(nest, i, outer)))
			continue;
		if (!asks[i] && !nest->is_way_in.at[i] && !has_same_test(&f, i, outer) &&
		    !(f.inner[outer] == i && across[outer]) && !is_switch(&f, i, outer) &&
		    !fold_is_detour(nest, i, outer))
			continue;
		nest_unite(nest, outer, i);
		any = true;
	}
	free(f.inner);
	free(across);
	free(asks);
	map_done(&f.within);
	map_done(&f.deciding);
	vec_done(&f.targets);
	vec_done(&f.stack);
	vec_done(&f.seen);
	return any;
}
