/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/paths_silent.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "structure/loops.h"

struct silence {
	const struct cfg *cfg;
	const struct ways *ways;
	const bool *is_probed;
	bool *is_silent; /* the result */
	bool *is_needed; /* by block: its probe tells which way a silent branch went */
	bool *is_near;   /* by block: there is a call between the previous probe and this one */
};

static bool silence_is_branch(const struct silence *s, uint32_t block)
{
	return s->ways->blocks[block].n_edges == 2 && s->cfg->blocks[block].end_kind == BLOCK_BRANCHES;
}

uint32_t paths_silent_next(const struct cfg *cfg, const struct ways *ways, const bool *is_probed,
			   const struct way_edge *edge)
{
	while (edge->to != WAYS_NONE && !edge->is_cut) {
		const struct way_block *at = &ways->blocks[edge->to];
		if (cfg->blocks[edge->to].n_calls)
			break;
		if (is_probed[edge->to])
			return edge->to;
		if (at->n_edges != 1)
			break;
		edge = &ways->edges.at[at->first_edge];
	}
	return PATHS_SILENT_NONE;
}

/* After a call, up to the next decision: the probe there is near the call. */
static void silence_note_call(struct silence *s, uint32_t block)
{
	for (;;) {
		const struct way_block *at = &s->ways->blocks[block];
		s->is_near[block] = true;
		if (s->is_probed[block] || at->n_edges != 1)
			return;
		uint32_t to = s->ways->edges.at[at->first_edge].to;
		if (to == WAYS_NONE || s->is_near[to])
			return;
		block = to;
	}
}

/* Can this probe tell? It can on a branch, or where a way is passed, but not on a jump through a table. */
static bool silence_can_tell(const struct silence *s, uint32_t block)
{
	return block != PATHS_SILENT_NONE && block != s->cfg->entry && !s->is_silent[block] &&
	       (s->ways->blocks[block].n_edges < 2 || silence_is_branch(s, block));
}

static void silence_try(struct silence *s, uint32_t block)
{
	const struct way_block *at = &s->ways->blocks[block];
	uint32_t next[2];

	if (!at->n_ways || !silence_is_branch(s, block) || s->is_needed[block] || s->is_near[block])
		return;
	for (int i = 0; i < 2; i++)
		next[i] = paths_silent_next(s->cfg, s->ways, s->is_probed,
					    &s->ways->edges.at[at->first_edge + (uint32_t)i]);
	if (next[0] == next[1] || !silence_can_tell(s, next[0]) || !silence_can_tell(s, next[1]))
		return;
	s->is_silent[block] = s->is_needed[next[0]] = s->is_needed[next[1]] = true;
}

/* A block, and what is gained by leaving out its probe. */
struct silence_choice {
	double rate;
	uint32_t depth, block;
};

static int silence_compare(const void *left, const void *right)
{
	const struct silence_choice *a = left, *b = right;

	if (a->rate != b->rate)
		return a->rate > b->rate ? -1 : 1;
	if (a->depth != b->depth)
		return a->depth > b->depth ? -1 : 1;
	return a->block < b->block ? -1 : a->block > b->block;
}

/* All blocks, the most worthwhile first. */
static struct silence_choice *silence_choices(const struct cfg *cfg, const double *rates)
{
	struct silence_choice *choices = alloc_zero(cfg->n_blocks + 1, sizeof(*choices));
	struct loop_forest forest = { 0 };

	loops_find_in(cfg, &forest);
	for (uint32_t i = 0; i < cfg->n_blocks; i++) {
		uint32_t loop = forest.innermost.at[i];
		choices[i] =
			(struct silence_choice){ rates ? rates[i] : 0,
						 loop == LOOP_NONE ? 0 : forest.loops.at[loop].depth, i };
	}
	loop_forest_done(&forest);
	qsort(choices, cfg->n_blocks, sizeof(*choices), silence_compare);
	return choices;
}

void paths_silent_find(const struct cfg *cfg, const struct ways *ways, const bool *is_probed,
		       const double *rates, bool *ret_is_silent)
{
	CLEANUP(freep) bool *is_needed = alloc_zero(cfg->n_blocks, sizeof(*is_needed));
	CLEANUP(freep) bool *is_near = alloc_zero(cfg->n_blocks, sizeof(*is_near));
	CLEANUP(freep) struct silence_choice *choices = silence_choices(cfg, rates);
	struct silence s = { cfg, ways, is_probed, ret_is_silent, is_needed, is_near };

	for (uint32_t i = 0; i < cfg->n_blocks; i++)
		if (cfg->blocks[i].n_calls && ways->blocks[i].n_ways)
			silence_note_call(&s, i);
	for (uint32_t i = 0; i < cfg->n_blocks; i++)
		silence_try(&s, choices[i].block);
}
