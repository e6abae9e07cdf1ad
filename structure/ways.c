/* SPDX-License-Identifier: Apache-2.0 */
#include "structure/ways.h"

#include <errno.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"

#define BLOCKS_MAX 65536u

static int ways_refuse(struct diag *diag, const char *why)
{
	diag_set(diag, -ENOTSUP, "its paths cannot be counted");
	diag_why(diag, "%s", why);
	return -ENOTSUP;
}

/* ---- the graph -------------------------------------------------------------------------------------- */

static void ways_add_edge(struct ways *ways, uint32_t block, uint32_t to, uint8_t kind)
{
	vec_push(&ways->edges, ((struct way_edge){ .to = to, .kind = kind }));
	ways->blocks[block].n_edges++;
}

/* A branch may leave the function on one of its sides: then it has one edge less. */
static void ways_add_leaving(struct ways *ways, uint32_t block)
{
	const struct way_block *from = &ways->blocks[block];
	bool is_taken = false;

	for (uint32_t i = 0; i < from->n_edges; i++)
		is_taken |= ways->edges.at[from->first_edge + i].kind == EDGE_TAKEN;
	ways_add_edge(ways, block, WAYS_NONE, is_taken ? EDGE_NOT_TAKEN : EDGE_TAKEN);
}

static void ways_add_block(struct ways *ways, uint32_t block)
{
	const struct cfg_block *from = &ways->cfg->blocks[block];

	ways->blocks[block] = (struct way_block){ .first_edge = (uint32_t)ways->edges.n, .start = WAYS_NONE };
	for (uint32_t i = 0; i < from->n_edges; i++) {
		const struct cfg_edge *edge = &ways->cfg->edges[from->first_edge + i];
		if (edge->kind != EDGE_LANDING_PAD)
			ways_add_edge(ways, block, edge->to, edge->kind);
	}
	if (from->end_kind == BLOCK_BRANCHES && ways->blocks[block].n_edges == 1)
		ways_add_leaving(ways, block);
}

static void ways_find_pads(struct ways *ways)
{
	for (size_t i = 0; i < ways->cfg->n_edges; i++)
		if (ways->cfg->edges[i].kind == EDGE_LANDING_PAD)
			ways->blocks[ways->cfg->edges[i].to].is_pad = true;
}

/* ---- order ------------------------------------------------------------------------------------------ */

/* A depth-first search: blocks finished last come first in `order`, and every edge except back edges leads to
 * an earlier block in it. */
struct ways_visit {
	uint32_t block, next; /* next: the edge to be visited */
};
struct ways_search {
	struct ways *ways;
	uint8_t *state; /* by block: 0 = not seen, 1 = active, 2 = done */
	VEC(struct ways_visit) stack;
	VEC(uint32_t) order;
};

static void ways_visit(struct ways_search *s, uint32_t block)
{
	vec_push(&s->stack, ((struct ways_visit){ block, 0 }));
	s->state[block] = 1;
	while (s->stack.n) {
		struct ways_visit *top = &s->stack.at[s->stack.n - 1];
		const struct way_block *at = &s->ways->blocks[top->block];
		if (top->next == at->n_edges) {
			s->state[top->block] = 2;
			vec_push(&s->order, top->block);
			s->stack.n--;
			continue;
		}
		struct way_edge *edge = &s->ways->edges.at[at->first_edge + top->next++];
		if (edge->to == WAYS_NONE)
			continue;
		edge->is_cut = s->state[edge->to] == 1;
		if (!s->state[edge->to]) {
			s->state[edge->to] = 1;
			vec_push(&s->stack, ((struct ways_visit){ edge->to, 0 }));
		}
	}
}

/* ---- numbers ---------------------------------------------------------------------------------------- */

static uint32_t ways_number_edges(struct ways *ways, struct way_block *block, bool cuts)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < block->n_edges; i++) {
		struct way_edge *edge = &ways->edges.at[block->first_edge + i];
		if (cuts && !edge->is_cut && edge->to != WAYS_NONE) {
			edge->is_cut = true;
			ways->n_cuts++;
		}
		edge->add = (uint32_t)n;
		n += edge->is_cut || edge->to == WAYS_NONE ? 1 : ways->blocks[edge->to].n_ways;
		if (n > WAYS_MAX)
			return WAYS_NONE;
	}
	return n ? (uint32_t)n : 1;
}

/* False if too many ways start at a block; they are cut only in the second attempt. */
static bool ways_number(struct ways *ways, const uint32_t *order, size_t n, bool cuts)
{
	for (size_t i = 0; i < n; i++) {
		struct way_block *block = &ways->blocks[order[i]];
		block->n_ways = ways_number_edges(ways, block, false);
		if (block->n_ways == WAYS_NONE && !cuts)
			return false;
		if (block->n_ways == WAYS_NONE)
			block->n_ways = ways_number_edges(ways, block, true);
	}
	return true;
}

/* Ways end at the headers of all loops. */
static void ways_cut_at_loops(struct ways *ways)
{
	CLEANUP(freep) bool *is_header = alloc_zero(ways->cfg->n_blocks, sizeof(*is_header));

	for (size_t i = 0; i < ways->edges.n; i++)
		if (ways->edges.at[i].is_cut)
			is_header[ways->edges.at[i].to] = true;
	for (size_t i = 0; i < ways->edges.n; i++) {
		struct way_edge *edge = &ways->edges.at[i];
		if (edge->is_cut || edge->to == WAYS_NONE || !is_header[edge->to])
			continue;
		edge->is_cut = true;
		ways->n_cuts++;
	}
}

static void ways_add_start(struct ways *ways, uint32_t block, uint64_t *n)
{
	struct way_block *at = &ways->blocks[block];

	if (!at->n_ways || at->start != WAYS_NONE)
		return;
	at->start = (uint32_t)*n;
	*n += at->n_ways;
	vec_push(&ways->starts, block);
}

static int ways_number_starts(struct ways *ways, struct diag *diag)
{
	uint64_t n = 0;

	ways_add_start(ways, ways->cfg->entry, &n);
	for (uint32_t i = 0; i < ways->cfg->n_blocks && n < UINT32_MAX; i++) {
		const struct way_block *block = &ways->blocks[i];
		if (block->is_pad)
			ways_add_start(ways, i, &n);
		for (uint32_t k = 0; block->n_ways && k < block->n_edges; k++)
			if (ways->edges.at[block->first_edge + k].is_cut)
				ways_add_start(ways, ways->edges.at[block->first_edge + k].to, &n);
	}
	if (n >= UINT32_MAX)
		return ways_refuse(diag, "it has too many paths to be numbered");
	ways->n = (uint32_t)n;
	return 0;
}

/* Is there code that nothing is known to lead to? */
static bool ways_has_strays(const struct cfg *cfg)
{
	for (uint32_t i = 0; i < cfg->n_blocks; i++)
		if (cfg->blocks[i].is_guess)
			return true;
	return false;
}

static int ways_check(const struct ways *ways, const uint32_t *order, size_t n, struct diag *diag)
{
	bool has_strays = ways_has_strays(ways->cfg);

	for (size_t i = 0; i < n; i++) {
		const struct cfg_block *block = &ways->cfg->blocks[order[i]];
		bool is_odd = block->end_kind == BLOCK_BRANCHES && ways->blocks[order[i]].n_edges != 2;
		/* In a function without a frame, a jump through labels looks like a tail call. */
		bool may_stay = has_strays && block->end_kind == BLOCK_TAIL_CALLS && !block->tail_target;
		if (block->end_kind != BLOCK_UNRESOLVED && !is_odd && !may_stay)
			continue;
		diag_set(diag, -ENOTSUP, "its paths cannot be counted");
		diag_why(diag, "the targets of the jump at 0x%llx are not known",
			 (unsigned long long)block->last);
		return -ENOTSUP;
	}
	return 0;
}

int ways_init(struct ways *ways, const struct cfg *cfg, struct diag *diag)
{
	*ways = (struct ways){ .cfg = cfg };
	if (cfg->n_blocks == 0 || cfg->n_blocks > BLOCKS_MAX)
		return ways_refuse(diag, cfg->n_blocks ? "it is too large" : "its code is not known");
	ways->blocks = alloc_zero(cfg->n_blocks, sizeof(*ways->blocks));
	for (uint32_t i = 0; i < cfg->n_blocks; i++)
		ways_add_block(ways, i);
	ways_find_pads(ways);

	struct ways_search search = { .ways = ways };
	CLEANUP(freep) uint8_t *state = search.state = alloc_zero(cfg->n_blocks, 1);
	ways_visit(&search, cfg->entry);
	for (uint32_t i = 0; i < cfg->n_blocks; i++)
		if (ways->blocks[i].is_pad && !state[i])
			ways_visit(&search, i);
	vec_done(&search.stack);
	int error = ways_check(ways, search.order.at, search.order.n, diag);
	if (!error && !ways_number(ways, search.order.at, search.order.n, false)) {
		ways_cut_at_loops(ways);
		ways_number(ways, search.order.at, search.order.n, true);
	}
	vec_done(&search.order);
	if (!error)
		error = ways_number_starts(ways, diag);
	if (error)
		ways_done(ways);
	return error;
}

void ways_done(struct ways *ways)
{
	free(ways->blocks);
	vec_done(&ways->edges);
	vec_done(&ways->starts);
	*ways = (struct ways){ 0 };
}

/* ---- back from a number ----------------------------------------------------------------------------- */

bool ways_find(const struct ways *ways, uint32_t number, struct way *ret)
{
	uint32_t block = WAYS_NONE;

	vec_clear(&ret->blocks);
	ret->n_insns = 0;
	ret->to = WAYS_NONE;
	if (number >= ways->n)
		return false;
	for (size_t i = 0; i < ways->starts.n && ways->blocks[ways->starts.at[i]].start <= number; i++)
		block = ways->starts.at[i];
	for (number -= ways->blocks[block].start; block != WAYS_NONE;) {
		const struct way_block *at = &ways->blocks[block];
		const struct way_edge *edge = NULL;
		vec_push(&ret->blocks, block);
		ret->n_insns += ways->cfg->blocks[block].n_insns;
		for (uint32_t i = 0; i < at->n_edges && ways->edges.at[at->first_edge + i].add <= number; i++)
			edge = &ways->edges.at[at->first_edge + i];
		block = edge && !edge->is_cut ? edge->to : WAYS_NONE;
		number -= edge ? edge->add : 0;
		if (edge && edge->is_cut)
			ret->to = edge->to;
	}
	return true;
}

void way_done(struct way *way)
{
	vec_done(&way->blocks);
}
