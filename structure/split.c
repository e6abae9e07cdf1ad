/* SPDX-License-Identifier: Apache-2.0 */
#include "structure/split.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "structure/predecessors.h"

/* What a block is to the loop that is looked at. */
enum split_mark {
	MARK_ASKS = 1,    /* it asks what is written above the header, and may leave the loop */
	MARK_REACHED = 2, /* from the header, and not by way of such a block */
	MARK_ROUND = 3,   /* ... and goes back to the header in the same way */
};

struct splitting {
	const struct cfg *cfg;
	struct loop_forest *forest;
	struct atoms *atoms;
	const struct contexts *contexts;
	struct predecessors before;
	uint64_t *mark; /* per block: its enum split_mark, and for which loop */
	VEC(uint32_t) stack, round;
	uint32_t loop, header;  /* that is looked at */
	const struct atom *top; /* the header's highest line */
	uint32_t test;          /* a block that asks, if there is one in no loop in it; LOOP_NONE = none */
	uint32_t asked;         /* the lowest line that is asked on */
};

static uint64_t split_mark(const struct splitting *s, enum split_mark mark)
{
	return ((uint64_t)s->loop + 1) << 2 | mark;
}

static bool split_is_above(const struct atom *a, const struct atom *b)
{
	return a->context == b->context && a->file == b->file && a->line < b->line;
}

/* Of the procedure that holds the others. */
static bool split_find_top(struct splitting *s)
{
	const struct context *contexts = s->contexts->list.at;

	s->top = NULL;
	for (uint32_t i = s->atoms->first.at[s->header]; i < s->atoms->first.at[s->header + 1]; i++) {
		const struct atom *atom = &s->atoms->list.at[i];
		if (atom->line &&
		    (!s->top || contexts[atom->context].depth < contexts[s->top->context].depth ||
		     split_is_above(atom, s->top)))
			s->top = atom;
	}
	return s->top;
}

/* The way out that is written above the header; false if the block is none. */
static bool split_asks(struct splitting *s, uint32_t block)
{
	const struct cfg_block *b = &s->cfg->blocks[block];
	const struct atom *atom = b->end_kind == BLOCK_BRANCHES ? atoms_at(s->atoms, block, b->last) : NULL;

	if (!atom || !atom->line || !split_is_above(atom, s->top))
		return false;
	for (uint32_t e = 0; e < b->n_edges; e++)
		if (!loops_contain(s->forest, s->loop, s->cfg->edges[b->first_edge + e].to)) {
			s->asked = atom->line > s->asked ? atom->line : s->asked;
			bool is_own = s->forest->innermost.at[block] == s->loop;
			if (s->test == LOOP_NONE || is_own)
				s->test = block;
			return true;
		}
	return false;
}

/* Blocks that control comes to from the header without being asked. */
static void split_reach(struct splitting *s)
{
	vec_clear(&s->stack);
	vec_push(&s->stack, s->header);
	while (s->stack.n) {
		const struct cfg_block *b = &s->cfg->blocks[s->stack.at[--s->stack.n]];
		for (uint32_t e = 0; e < b->n_edges; e++) {
			uint32_t to = s->cfg->edges[b->first_edge + e].to;
			if (to == s->header || s->mark[to] >> 2 == split_mark(s, 0) >> 2 ||
			    !loops_contain(s->forest, s->loop, to))
				continue;
			bool asks = split_asks(s, to);
			s->mark[to] = split_mark(s, asks ? MARK_ASKS : MARK_REACHED);
			if (!asks)
				vec_push(&s->stack, to);
		}
	}
}

/* Those of them that go back to the header; true if there are any. */
static bool split_go_back(struct splitting *s)
{
	bool any = false;

	vec_clear(&s->round);
	vec_push(&s->round, s->header);
	for (size_t i = 0; i < s->round.n; i++)
		for (uint32_t e = s->before.first[s->round.at[i]]; e < s->before.first[s->round.at[i] + 1];
		     e++) {
			uint32_t from = s->before.blocks[e];
			any |= from == s->header;
			if (s->mark[from] != split_mark(s, MARK_REACHED))
				continue;
			any = true;
			s->mark[from] = split_mark(s, MARK_ROUND);
			vec_push(&s->round, from);
		}
	return any;
}

/* Is it entered at the header only, without loops in it, and written below what is asked? And is there
 * another way round? */
static bool split_is_loop(const struct splitting *s)
{
	bool is_left = false;

	for (size_t i = 0; i < s->round.n; i++) {
		uint32_t block = s->round.at[i];
		if (s->forest->innermost.at[block] != s->loop)
			return false;
		for (uint32_t e = s->before.first[block]; e < s->before.first[block + 1]; e++) {
			uint32_t from = s->before.blocks[e];
			bool is_inside = from == s->header || s->mark[from] == split_mark(s, MARK_ROUND);
			if (!is_inside && block != s->header)
				return false;
			is_left |= !is_inside && loops_contain(s->forest, s->loop, from);
		}
		for (uint32_t a = s->atoms->first.at[block]; a < s->atoms->first.at[block + 1]; a++) {
			const struct atom *atom = &s->atoms->list.at[a];
			if (atom->line && atom->context == s->top->context && atom->file == s->top->file &&
			    atom->line <= s->asked)
				return false;
		}
	}
	return is_left;
}

static void split_add(struct splitting *s)
{
	uint32_t added = (uint32_t)s->forest->loops.n;
	struct loop *outer = &s->forest->loops.at[s->loop];
	uint32_t depth = outer->depth + 1;

	outer->known_by = s->test;
	vec_push(&s->forest->loops, (struct loop){ s->header, s->header, s->loop, depth, false });
	for (size_t i = 0; i < s->round.n; i++) {
		uint32_t block = s->round.at[i];
		s->forest->innermost.at[block] = added;
		for (uint32_t a = s->atoms->first.at[block]; a < s->atoms->first.at[block + 1]; a++)
			s->atoms->list.at[a].loop = added;
	}
}

/* Ways back to each loop's header. */
static uint32_t *split_count(const struct cfg *cfg, const struct loop_forest *forest, bool *ret_any)
{
	uint32_t *n_back = alloc_zero(cfg->n_blocks, sizeof(uint32_t)); /* per block */

	*ret_any = false;
	for (uint32_t b = 0; b < cfg->n_blocks; b++)
		for (uint32_t e = 0; forest->innermost.at[b] != LOOP_NONE && e < cfg->blocks[b].n_edges;
		     e++) {
			uint32_t to = cfg->edges[cfg->blocks[b].first_edge + e].to;
			uint32_t loop = forest->innermost.at[to];
			if (loop != LOOP_NONE && forest->loops.at[loop].header == to &&
			    loops_contain(forest, loop, b))
				*ret_any |= ++n_back[to] > 1;
		}
	return n_back;
}

void split_loops(const struct cfg *cfg, struct loop_forest *forest, struct atoms *atoms,
		 const struct contexts *contexts)
{
	uint32_t n = (uint32_t)forest->loops.n;
	bool any = false;
	uint32_t *n_back = n ? split_count(cfg, forest, &any) : NULL;
	struct splitting s = { .cfg = cfg, .forest = forest, .atoms = atoms, .contexts = contexts };

	if (any) {
		predecessors_find(cfg, &s.before);
		s.mark = alloc_zero(cfg->n_blocks, sizeof(uint64_t));
	}
	for (s.loop = 0; any && s.loop < n; s.loop++) {
		s.header = forest->loops.at[s.loop].header;
		s.asked = 0;
		s.test = LOOP_NONE;
		if (n_back[s.header] < 2 || !split_find_top(&s))
			continue;
		split_reach(&s);
		if (s.test != LOOP_NONE && split_go_back(&s) && split_is_loop(&s))
			split_add(&s);
	}
	predecessors_done(&s.before);
	free(s.mark);
	free(n_back);
	vec_done(&s.stack);
	vec_done(&s.round);
}
