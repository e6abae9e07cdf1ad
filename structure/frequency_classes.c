/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frequency_classes: which blocks and edges of a function are executed equally often.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "structure/frequency.h"

/* ---- classes ----------------------------------------------------------------------------------------- */

/*
 * If every edge of a graph is on a cycle, two edges are on the same cycles if and only if removing both
 * disconnects the graph. Each edge outside a spanning tree gets a random number; an edge of the tree gets the
 * exclusive or of the numbers of all edges whose cycle contains it. Edges with the same number are in one
 * class.
 */
struct classified {
	uint32_t a, b; /* nodes */
	uint64_t sum;
	bool is_tree;
};
struct classifier {
	uint32_t n_nodes; /* two for each block, its start and its end; the last one is the outside */
	VEC(struct classified) edges;
	uint32_t *first, *at; /* edges by node */
	uint64_t *sums;       /* by node: of the edges that lead up from below it */
	uint32_t *order, *up; /* by node: order of the search; the edge to its parent */
};

static uint64_t classify_random(uint64_t seed)
{
	seed += 0x9e3779b97f4a7c15u;
	seed = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9u;
	seed = (seed ^ seed >> 27) * 0x94d049bb133111ebu;
	return seed ^ seed >> 31;
}

static void classify_index(struct classifier *c)
{
	c->first = alloc_zero(c->n_nodes + 1, sizeof(*c->first));
	c->at = alloc_zero(2 * c->edges.n + 1, sizeof(*c->at));
	for (size_t i = 0; i < c->edges.n; i++) {
		c->first[c->edges.at[i].a + 1]++;
		c->first[c->edges.at[i].b + 1]++;
	}
	for (uint32_t i = 0; i < c->n_nodes; i++)
		c->first[i + 1] += c->first[i];
	CLEANUP(freep) uint32_t *next = alloc_zero(c->n_nodes, sizeof(*next));
	for (uint32_t i = 0; i < c->edges.n; i++) {
		const struct classified *edge = &c->edges.at[i];
		c->at[c->first[edge->a] + next[edge->a]++] = i;
		c->at[c->first[edge->b] + next[edge->b]++] = i;
	}
}

/* A spanning tree, breadth first: every node after its parent. */
static uint32_t classify_span(struct classifier *c, uint32_t root)
{
	CLEANUP(freep) bool *seen = alloc_zero(c->n_nodes, sizeof(*seen));
	uint32_t n = 0;

	c->order = alloc_zero(c->n_nodes, sizeof(*c->order));
	c->up = alloc_zero(c->n_nodes, sizeof(*c->up));
	c->order[n++] = root;
	c->up[root] = FREQUENCY_NONE;
	seen[root] = true;
	for (uint32_t k = 0; k < n; k++) {
		uint32_t node = c->order[k];
		for (uint32_t i = c->first[node]; i < c->first[node + 1]; i++) {
			struct classified *edge = &c->edges.at[c->at[i]];
			uint32_t other = edge->a == node ? edge->b : edge->a;
			if (seen[other])
				continue;
			seen[other] = edge->is_tree = true;
			c->up[other] = c->at[i];
			c->order[n++] = other;
		}
	}
	return n;
}

static void classify_sum(struct classifier *c, uint32_t n)
{
	c->sums = alloc_zero(c->n_nodes, sizeof(*c->sums));
	for (uint32_t i = 0; i < c->edges.n; i++) {
		struct classified *edge = &c->edges.at[i];
		if (edge->is_tree)
			continue;
		edge->sum = classify_random(i);
		c->sums[edge->a] ^= edge->sum;
		c->sums[edge->b] ^= edge->sum;
	}
	while (n-- > 1) {
		uint32_t node = c->order[n];
		struct classified *edge = &c->edges.at[c->up[node]];
		edge->sum = c->sums[node];
		c->sums[edge->a == node ? edge->b : edge->a] ^= edge->sum;
	}
}

static void classify_done(struct classifier *c)
{
	vec_done(&c->edges);
	free(c->first);
	free(c->at);
	free(c->sums);
	free(c->order);
	free(c->up);
}

/* ---- the graph --------------------------------------------------------------------------------------- */

/* Blocks that are reachable. */
static void frequency_mark(const struct cfg *cfg, bool *comes)
{
	VEC(uint32_t) list = { 0 };

	comes[cfg->entry] = true;
	vec_push(&list, cfg->entry);
	for (size_t i = 0; i < cfg->n_edges; i++)
		if (cfg->edges[i].kind == EDGE_LANDING_PAD && !comes[cfg->edges[i].to]) {
			comes[cfg->edges[i].to] = true;
			vec_push(&list, cfg->edges[i].to);
		}
	while (list.n) {
		const struct cfg_block *from = &cfg->blocks[list.at[--list.n]];
		for (uint32_t i = 0; i < from->n_edges; i++) {
			uint32_t to = cfg->edges[from->first_edge + i].to;
			if (!comes[to]) {
				comes[to] = true;
				vec_push(&list, to);
			}
		}
	}
	vec_done(&list);
}

/* From which blocks the function can be left; adds to what is already known. */
static void frequency_find_exits(const struct cfg *cfg, bool *leaves)
{
	for (bool grows = true; grows;) {
		grows = false;
		for (uint32_t i = (uint32_t)cfg->n_blocks; i-- > 0;) {
			const struct cfg_block *from = &cfg->blocks[i];
			bool can = from->n_edges == 0 || from->end_kind == BLOCK_UNRESOLVED;
			for (uint32_t k = 0; k < from->n_edges; k++)
				can |= leaves[cfg->edges[from->first_edge + k].to];
			grows |= can && !leaves[i];
			leaves[i] = leaves[i] || can;
		}
	}
}

/* An endless loop is assumed to be left by one of its blocks: every edge has to be on a cycle. */
static void frequency_open_loops(const struct cfg *cfg, const bool *comes, bool *leaves, bool *is_opened)
{
	frequency_find_exits(cfg, leaves);
	for (uint32_t i = (uint32_t)cfg->n_blocks; i-- > 0;) { /* its end is probably the last one */
		if (!comes[i] || leaves[i])
			continue;
		is_opened[i] = leaves[i] = true;
		frequency_find_exits(cfg, leaves);
	}
}

static void frequency_add_edge(struct frequency *f, struct classifier *c, uint32_t from, uint32_t to)
{
	uint32_t outside = 2 * f->n_blocks;

	vec_push(&f->edges, ((struct frequency_edge){ from, to, 0 }));
	vec_push(&c->edges, ((struct classified){ .a = from == FREQUENCY_NONE ? outside : 2 * from + 1,
						  .b = to == FREQUENCY_NONE ? outside : 2 * to }));
}

/* A branch with one edge leaves the function on its other side; a block without edges leaves it. */
static bool frequency_is_left(const struct cfg_block *block, uint32_t n_own)
{
	return n_own == 0 || block->end_kind == BLOCK_UNRESOLVED ||
	       (block->end_kind == BLOCK_BRANCHES && n_own == 1);
}

static void frequency_add_block(struct frequency *f, struct classifier *c, const struct cfg *cfg,
				uint32_t block, bool is_opened)
{
	const struct cfg_block *from = &cfg->blocks[block];
	uint32_t n_own = 0;

	for (uint32_t i = 0; i < from->n_edges; i++) {
		const struct cfg_edge *edge = &cfg->edges[from->first_edge + i];
		if (edge->kind == EDGE_LANDING_PAD)
			continue;
		frequency_add_edge(f, c, block, edge->to);
		n_own++;
	}
	if (frequency_is_left(from, n_own) || is_opened)
		frequency_add_edge(f, c, block, FREQUENCY_NONE);
}

static uint32_t frequency_class_of(struct frequency *f, struct map *classes, uint64_t sum)
{
	uint32_t class = map_find(classes, sum);

	if (class == MAP_NONE) {
		class = (uint32_t)f->classes.n;
		map_put(classes, sum, class);
		vec_push(&f->classes, ((struct frequency_class){ 0 }));
	}
	return class;
}

/* The first edges of the classifier are blocks; the graph's edges follow. */
static void frequency_number(struct frequency *f, const struct classifier *c, const bool *comes)
{
	struct map classes = { 0 };

	for (uint32_t i = 0; i < f->n_blocks; i++) {
		if (!comes[i])
			continue;
		f->class_of[i] = frequency_class_of(f, &classes, c->edges.at[i].sum);
		f->classes.at[f->class_of[i]].n_blocks++;
	}
	for (size_t i = 0; i < f->edges.n; i++)
		f->edges.at[i].class = frequency_class_of(f, &classes, c->edges.at[f->n_blocks + i].sum);
	map_done(&classes);
}

/* Edges by the block at one of their ends. */
static void frequency_index(const struct frequency *f, bool is_in, struct frequency_sides *ret)
{
	ret->first = alloc_zero(f->n_blocks + 2, sizeof(*ret->first));
	ret->at = alloc_zero(f->edges.n + 1, sizeof(*ret->at));
	for (size_t i = 0; i < f->edges.n; i++) {
		uint32_t block = is_in ? f->edges.at[i].to : f->edges.at[i].from;
		if (block != FREQUENCY_NONE)
			ret->first[block + 2]++;
	}
	for (uint32_t i = 0; i < f->n_blocks; i++)
		ret->first[i + 2] += ret->first[i + 1];
	for (uint32_t i = 0; i < f->edges.n; i++) {
		uint32_t block = is_in ? f->edges.at[i].to : f->edges.at[i].from;
		if (block != FREQUENCY_NONE)
			ret->at[ret->first[block + 1]++] = i;
	}
}

void frequency_init(struct frequency *f, const struct cfg *cfg)
{
	struct classifier c = { .n_nodes = 2 * (uint32_t)cfg->n_blocks + 1 };
	CLEANUP(freep) bool *comes = alloc_zero(cfg->n_blocks + 1, sizeof(*comes));
	CLEANUP(freep) bool *leaves = alloc_zero(cfg->n_blocks + 1, sizeof(*leaves));
	CLEANUP(freep) bool *is_opened = alloc_zero(cfg->n_blocks + 1, sizeof(*is_opened));

	*f = (struct frequency){ .n_blocks = (uint32_t)cfg->n_blocks };
	f->class_of = alloc_zero(cfg->n_blocks + 1, sizeof(*f->class_of));
	if (!cfg->n_blocks)
		return;
	frequency_mark(cfg, comes);
	frequency_open_loops(cfg, comes, leaves, is_opened);
	for (uint32_t i = 0; i < f->n_blocks; i++) {
		f->class_of[i] = FREQUENCY_NONE;
		vec_push(&c.edges, ((struct classified){ .a = 2 * i, .b = 2 * i + 1 }));
	}
	frequency_add_edge(f, &c, FREQUENCY_NONE, cfg->entry);
	for (size_t i = 0; i < cfg->n_edges;
	     i++) /* an exception comes from a call, in a sense from outside */
		if (cfg->edges[i].kind == EDGE_LANDING_PAD)
			frequency_add_edge(f, &c, FREQUENCY_NONE, cfg->edges[i].to);
	for (uint32_t i = 0; i < f->n_blocks; i++)
		if (comes[i])
			frequency_add_block(f, &c, cfg, i, is_opened[i]);
	classify_index(&c);
	classify_sum(&c, classify_span(&c, 2 * f->n_blocks));
	frequency_number(f, &c, comes);
	frequency_index(f, true, &f->in);
	frequency_index(f, false, &f->out);
	classify_done(&c);
}

void frequency_done(struct frequency *f)
{
	free(f->class_of);
	free(f->in.first);
	free(f->in.at);
	free(f->out.first);
	free(f->out.at);
	vec_done(&f->edges);
	vec_done(&f->classes);
	*f = (struct frequency){ 0 };
}
