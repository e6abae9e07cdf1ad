/* SPDX-License-Identifier: Apache-2.0 */
#include "structure/split.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "structure/predecessors.h"

/* The role of a block in the innermost loop around it. */
enum split_mark {
	MARK_NONE,
	MARK_ASKS,    /* it tests what is written above the header, and may leave the loop */
	MARK_REACHED, /* reachable from the header, but not through such a block or an inner loop */
	MARK_ROUND,   /* ... and leads back to the header in the same way */
};

/* A loop with several back edges. */
struct candidate {
	const struct atom *top; /* the highest line of its header; NULL = not a candidate */
	uint32_t test;          /* a testing block, if there is one outside inner loops; LOOP_NONE = none */
	uint32_t asked;         /* the lowest line of a test */
};

struct splitting {
	const struct cfg *cfg;
	struct loop_forest *forest;
	struct atoms *atoms;
	const struct contexts *contexts;
	struct predecessors before;
	struct candidate *candidates; /* per loop */
	uint8_t *mark;                /* per block: enum split_mark */
	VEC(uint32_t) stack, round;
};

static bool split_is_above(const struct atom *a, const struct atom *b)
{
	return a->context == b->context && a->file == b->file && a->line < b->line;
}

/* The highest line of a block, in the outermost of its procedures. */
static const struct atom *split_top(const struct splitting *s, uint32_t block)
{
	const struct context *contexts = s->contexts->list.at;
	const struct atom *top = NULL;

	for (uint32_t i = s->atoms->first.at[block]; i < s->atoms->first.at[block + 1]; i++) {
		const struct atom *atom = &s->atoms->list.at[i];
		if (atom->line && (!top || contexts[atom->context].depth < contexts[top->context].depth ||
				   split_is_above(atom, top)))
			top = atom;
	}
	return top;
}

/* Finds loops with several back edges; true if there are any. */
static bool split_choose(struct splitting *s)
{
	const struct loop_forest *forest = s->forest;
	uint32_t *n_back = alloc_zero(forest->loops.n, sizeof(uint32_t));
	bool any = false;

	for (uint32_t b = 0; b < s->cfg->n_blocks; b++) {
		const struct cfg_block *block = &s->cfg->blocks[b];
		for (uint32_t e = 0; forest->innermost.at[b] != LOOP_NONE && e < block->n_edges; e++) {
			uint32_t to = s->cfg->edges[block->first_edge + e].to,
				 loop = forest->innermost.at[to];
			if (loop != LOOP_NONE && forest->loops.at[loop].header == to &&
			    loops_contain(forest, loop, b))
				n_back[loop]++;
		}
	}
	for (size_t i = 0; i < forest->loops.n; i++) {
		s->candidates[i].test = LOOP_NONE;
		s->candidates[i].top = n_back[i] > 1 ? split_top(s, forest->loops.at[i].header) : NULL;
		any |= s->candidates[i].top != NULL;
	}
	free(n_back);
	return any;
}

/* A branch that leaves some loops: is it written above their headers? */
static void split_ask(struct splitting *s, uint32_t block, const struct atom *atom, uint32_t to)
{
	const struct loop_forest *forest = s->forest;
	uint32_t own = forest->innermost.at[block];
	uint32_t end = loops_common(forest, own, forest->innermost.at[to]);

	for (uint32_t loop = own; loop != end; loop = forest->loops.at[loop].parent) {
		struct candidate *c = &s->candidates[loop];
		if (!c->top || !split_is_above(atom, c->top))
			continue;
		if (c->test == LOOP_NONE || loop == own)
			c->test = block;
		c->asked = atom->line > c->asked ? atom->line : c->asked;
		if (loop == own)
			s->mark[block] = MARK_ASKS;
	}
}

static void split_ask_all(struct splitting *s)
{
	for (uint32_t b = 0; b < s->cfg->n_blocks; b++) {
		const struct cfg_block *block = &s->cfg->blocks[b];
		const struct atom *atom =
			block->end_kind == BLOCK_BRANCHES && s->forest->innermost.at[b] != LOOP_NONE
				? atoms_at(s->atoms, b, block->last)
				: NULL;
		for (uint32_t e = 0; atom && atom->line && e < block->n_edges; e++)
			split_ask(s, b, atom, s->cfg->edges[block->first_edge + e].to);
	}
}

/* Blocks that are reachable from the header without a test. */
static void split_reach(struct splitting *s, uint32_t loop)
{
	uint32_t header = s->forest->loops.at[loop].header;

	vec_clear(&s->stack);
	vec_push(&s->stack, header);
	while (s->stack.n) {
		const struct cfg_block *b = &s->cfg->blocks[s->stack.at[--s->stack.n]];
		for (uint32_t e = 0; e < b->n_edges; e++) {
			uint32_t to = s->cfg->edges[b->first_edge + e].to;
			if (to == header || s->forest->innermost.at[to] != loop || s->mark[to] != MARK_NONE)
				continue;
			s->mark[to] = MARK_REACHED;
			vec_push(&s->stack, to);
		}
	}
}

/* Those of them that lead back to the header; true if there are any. */
static bool split_go_back(struct splitting *s, uint32_t loop)
{
	uint32_t header = s->forest->loops.at[loop].header;
	bool any = false;

	vec_clear(&s->round);
	vec_push(&s->round, header);
	for (size_t i = 0; i < s->round.n; i++)
		for (uint32_t e = s->before.first[s->round.at[i]]; e < s->before.first[s->round.at[i] + 1];
		     e++) {
			uint32_t from = s->before.blocks[e];
			any |= from == header;
			if (s->forest->innermost.at[from] != loop || s->mark[from] != MARK_REACHED)
				continue;
			any = true;
			s->mark[from] = MARK_ROUND;
			vec_push(&s->round, from);
		}
	return any;
}

/* Is it entered only at the header, and written below the test? And is there another cycle? */
static bool split_is_loop(const struct splitting *s, uint32_t loop)
{
	const struct candidate *c = &s->candidates[loop];
	uint32_t header = s->forest->loops.at[loop].header;
	bool is_left = false;

	for (size_t i = 0; i < s->round.n; i++) {
		uint32_t block = s->round.at[i];
		for (uint32_t e = s->before.first[block]; e < s->before.first[block + 1]; e++) {
			uint32_t from = s->before.blocks[e];
			bool is_inside = from == header || (s->forest->innermost.at[from] == loop &&
							    s->mark[from] == MARK_ROUND);
			if (!is_inside && block != header)
				return false;
			is_left |= !is_inside && loops_contain(s->forest, loop, from);
		}
		for (uint32_t a = s->atoms->first.at[block]; a < s->atoms->first.at[block + 1]; a++) {
			const struct atom *atom = &s->atoms->list.at[a];
			if (atom->line && atom->context == c->top->context && atom->file == c->top->file &&
			    atom->line <= c->asked)
				return false;
		}
	}
	return is_left;
}

static void split_add(struct splitting *s, uint32_t loop)
{
	struct loop *outer = &s->forest->loops.at[loop];
	uint32_t added = (uint32_t)s->forest->loops.n, header = outer->header, depth = outer->depth + 1;

	outer->known_by = s->candidates[loop].test;
	vec_push(&s->forest->loops, (struct loop){ header, header, loop, depth, false });
	for (size_t i = 0; i < s->round.n; i++) {
		uint32_t block = s->round.at[i];
		s->forest->innermost.at[block] = added;
		for (uint32_t a = s->atoms->first.at[block]; a < s->atoms->first.at[block + 1]; a++)
			s->atoms->list.at[a].loop = added;
	}
}

void split_loops(const struct cfg *cfg, struct loop_forest *forest, struct atoms *atoms,
		 const struct contexts *contexts)
{
	uint32_t n = (uint32_t)forest->loops.n;
	struct splitting s = { .cfg = cfg, .forest = forest, .atoms = atoms, .contexts = contexts };

	if (n == 0)
		return;
	s.candidates = alloc_zero(n, sizeof(*s.candidates));
	if (split_choose(&s)) {
		s.mark = alloc_zero(cfg->n_blocks, sizeof(*s.mark));
		predecessors_find(cfg, &s.before);
		split_ask_all(&s);
		for (uint32_t loop = 0; loop < n; loop++) {
			if (s.candidates[loop].test == LOOP_NONE)
				continue;
			split_reach(&s, loop);
			if (split_go_back(&s, loop) && split_is_loop(&s, loop))
				split_add(&s, loop);
		}
		predecessors_done(&s.before);
	}
	free(s.candidates);
	free(s.mark);
	vec_done(&s.stack);
	vec_done(&s.round);
}
