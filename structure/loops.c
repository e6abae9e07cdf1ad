/* SPDX-License-Identifier: Apache-2.0 */
#include "structure/loops.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "binary/flow/cfg.h"

#define NOT_REACHED UINT32_MAX

/*
 * Everything below works on preorder numbers of one depth-first search: number 0 is reached first. A
 * node w is an ancestor of v in the search tree when w <= v <= last[w].
 */
struct search {
	const struct loop_graph *graph;
	uint32_t n;       /* numbers assigned */
	uint32_t *number; /* block -> number */
	uint32_t *block;  /* number -> block */
	uint32_t *last;   /* the highest number in a node's subtree */
	uint32_t *header; /* number of the innermost loop header around a node; NOT_REACHED = none */
	uint32_t *leader; /* union-find: the header that has absorbed a node */
	uint32_t *mark;   /* node is in the body being collected for this header */
	bool *is_header, *is_irreducible;
	uint32_t *first_edge, *edges;         /* predecessors by number */
	VEC(uint32_t) extra_next, extra_from; /* entries added to an irreducible header: a list per node */
	uint32_t *extra;                      /* head of that list, NOT_REACHED = empty */
	VEC(uint32_t) body;
};

struct dfs_frame {
	uint32_t block, next;
};

static void search_from(struct search *s, uint32_t root)
{
	const struct loop_graph *graph = s->graph;
	VEC(struct dfs_frame) path = { 0 };

	if (s->number[root] != NOT_REACHED)
		return;
	s->number[root] = s->n;
	s->block[s->n++] = root;
	vec_push(&path, (struct dfs_frame){ root, graph->first[root] });
	while (path.n) {
		struct dfs_frame *top = &path.at[path.n - 1];
		if (top->next == graph->first[top->block + 1]) {
			s->last[s->number[top->block]] = s->n - 1;
			path.n--;
			continue;
		}
		uint32_t to = graph->successors[top->next++];
		if (to >= graph->n_blocks || s->number[to] != NOT_REACHED)
			continue;
		s->number[to] = s->n;
		s->block[s->n++] = to;
		vec_push(&path, (struct dfs_frame){ to, graph->first[to] });
	}
	vec_done(&path);
}

static void search_init(struct search *s, const struct loop_graph *graph)
{
	size_t n = graph->n_blocks;

	*s = (struct search){ .graph = graph };
	s->number = alloc_resize(NULL, n, sizeof(uint32_t));
	s->block = alloc_resize(NULL, n, sizeof(uint32_t));
	s->last = alloc_resize(NULL, n, sizeof(uint32_t));
	s->header = alloc_resize(NULL, n, sizeof(uint32_t));
	s->leader = alloc_resize(NULL, n, sizeof(uint32_t));
	s->mark = alloc_resize(NULL, n, sizeof(uint32_t));
	s->extra = alloc_resize(NULL, n, sizeof(uint32_t));
	s->is_header = alloc_zero(n, sizeof(bool));
	s->is_irreducible = alloc_zero(n, sizeof(bool));
	for (uint32_t i = 0; i < n; i++) {
		s->number[i] = s->header[i] = s->mark[i] = s->extra[i] = NOT_REACHED;
		s->leader[i] = i;
	}
	if (n)
		search_from(s, graph->entry);
	for (uint32_t i = 0; i < n; i++)
		search_from(s, i);
}

static void search_done(struct search *s)
{
	free(s->number);
	free(s->block);
	free(s->last);
	free(s->header);
	free(s->leader);
	free(s->mark);
	free(s->extra);
	free(s->is_header);
	free(s->is_irreducible);
	free(s->first_edge);
	free(s->edges);
	vec_done(&s->extra_next);
	vec_done(&s->extra_from);
	vec_done(&s->body);
}

/* Predecessors of every node, as numbers, in one array. */
static void collect_predecessors(struct search *s)
{
	const struct loop_graph *graph = s->graph;
	uint32_t n = graph->n_blocks;

	s->first_edge = alloc_zero((size_t)n + 1, sizeof(uint32_t));
	for (uint32_t e = 0; n && e < graph->first[n]; e++)
		if (graph->successors[e] < n)
			s->first_edge[s->number[graph->successors[e]] + 1]++;
	for (uint32_t i = 0; i < n; i++)
		s->first_edge[i + 1] += s->first_edge[i];

	s->edges = alloc_resize(NULL, s->first_edge[n], sizeof(uint32_t));
	uint32_t *fill = alloc_resize(NULL, n, sizeof(uint32_t));
	memcpy(fill, s->first_edge, n * sizeof(uint32_t));
	for (uint32_t from = 0; from < n; from++)
		for (uint32_t e = graph->first[from]; e < graph->first[from + 1]; e++)
			if (graph->successors[e] < n)
				s->edges[fill[s->number[graph->successors[e]]]++] = s->number[from];
	free(fill);
}

static bool is_ancestor(const struct search *s, uint32_t w, uint32_t v)
{
	return w <= v && v <= s->last[w];
}

static uint32_t find_leader(struct search *s, uint32_t v)
{
	while (s->leader[v] != v) {
		s->leader[v] = s->leader[s->leader[v]];
		v = s->leader[v];
	}
	return v;
}

static void add_to_body(struct search *s, uint32_t w, uint32_t v)
{
	if (v == w || s->mark[v] == w)
		return;
	s->mark[v] = w;
	vec_push(&s->body, v);
}

/* v enters the region of w from outside: the loops around w must consider it again. */
static void loops_add_entry(struct search *s, uint32_t w, uint32_t v)
{
	s->is_irreducible[w] = true;
	vec_push(&s->extra_next, s->extra[w]);
	vec_push(&s->extra_from, v);
	s->extra[w] = (uint32_t)s->extra_from.n - 1;
}

static void follow_predecessor(struct search *s, uint32_t w, uint32_t v)
{
	uint32_t leader = find_leader(s, v);

	if (is_ancestor(s, w, leader))
		add_to_body(s, w, leader);
	else if (s->mark[leader] != w) {
		s->mark[leader] = w; /* once is enough */
		loops_add_entry(s, w, leader);
	}
}

/* The nodes that reach a back edge to w without passing through w. */
static void collect_body(struct search *s, uint32_t w)
{
	vec_clear(&s->body);
	for (uint32_t e = s->first_edge[w]; e < s->first_edge[w + 1]; e++) {
		if (!is_ancestor(s, w, s->edges[e]))
			continue;
		s->is_header[w] = true;
		add_to_body(s, w, find_leader(s, s->edges[e]));
	}
	for (size_t i = 0; i < s->body.n; i++) {
		uint32_t x = s->body.at[i];
		for (uint32_t e = s->first_edge[x]; e < s->first_edge[x + 1]; e++)
			if (!is_ancestor(s, x, s->edges[e])) /* not a back edge of x */
				follow_predecessor(s, w, s->edges[e]);
		for (uint32_t e = s->extra[x]; e != NOT_REACHED; e = s->extra_next.at[e])
			follow_predecessor(s, w, s->extra_from.at[e]);
	}
	for (size_t i = 0; i < s->body.n; i++) {
		s->header[s->body.at[i]] = w;
		s->leader[s->body.at[i]] = w;
	}
}

/* Numbers rise from outer to inner headers, so parents come first. */
static void build_forest(const struct search *s, struct loop_forest *ret)
{
	uint32_t n = s->graph->n_blocks;
	uint32_t *loop_of = alloc_resize(NULL, n, sizeof(uint32_t)); /* header number -> loop */

	vec_clear(&ret->loops);
	vec_reserve(&ret->innermost, n);
	ret->innermost.n = n;
	for (uint32_t w = 0; w < n; w++) {
		uint32_t around = s->header[w] == NOT_REACHED ? LOOP_NONE : loop_of[s->header[w]];
		if (s->is_header[w]) {
			uint32_t depth = around == LOOP_NONE ? 1 : ret->loops.at[around].depth + 1;
			loop_of[w] = (uint32_t)ret->loops.n;
			vec_push(&ret->loops, (struct loop){ s->block[w], s->block[w], around, depth,
							     s->is_irreducible[w] });
			around = loop_of[w];
		}
		ret->innermost.at[s->block[w]] = around;
	}
	free(loop_of);
}

void loops_find(const struct loop_graph *graph, struct loop_forest *ret)
{
	struct search search;

	search_init(&search, graph);
	collect_predecessors(&search);
	for (uint32_t w = graph->n_blocks; w-- > 0;)
		collect_body(&search, w);
	build_forest(&search, ret);
	search_done(&search);
}

void loop_forest_done(struct loop_forest *forest)
{
	vec_done(&forest->loops);
	vec_done(&forest->innermost);
}

bool loops_contain(const struct loop_forest *forest, uint32_t loop, uint32_t block)
{
	uint32_t at = forest->innermost.at[block];

	while (at != LOOP_NONE && at != loop)
		at = forest->loops.at[at].parent;
	return at == loop;
}

uint32_t loops_common(const struct loop_forest *forest, uint32_t a, uint32_t b)
{
	while (a != b && a != LOOP_NONE && b != LOOP_NONE) {
		uint32_t *deeper = forest->loops.at[a].depth >= forest->loops.at[b].depth ? &a : &b;
		*deeper = forest->loops.at[*deeper].parent;
	}
	return a == b ? a : LOOP_NONE;
}

void loops_find_in(const struct cfg *cfg, struct loop_forest *ret)
{
	CLEANUP(freep) uint32_t *first = alloc_zero(cfg->n_blocks + 1, sizeof(*first));
	CLEANUP(freep) uint32_t *to = alloc_zero(cfg->n_edges + 1, sizeof(*to));
	uint32_t n = 0;

	for (uint32_t i = 0; i < cfg->n_blocks; i++) {
		first[i] = n;
		for (uint32_t k = 0; k < cfg->blocks[i].n_edges; k++)
			to[n++] = cfg->edges[cfg->blocks[i].first_edge + k].to;
	}
	first[cfg->n_blocks] = n;
	loops_find(&(struct loop_graph){ (uint32_t)cfg->n_blocks, cfg->entry, first, to }, ret);
}
