/* SPDX-License-Identifier: Apache-2.0 */
/* Functions built by hand: blocks of sixteen bytes, each with one line, and the edges between them. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "structure/structure.h"
#include "tests/test.h"

#define START 0x1000u
#define SIZE 16u
#define MAX 12

struct made {
	struct cfg cfg;
	struct cfg_block blocks[MAX];
	struct cfg_edge edges[MAX * 2];
	struct cfg_call calls[MAX]; /* call_from() adds them, block by block */
	struct cfg_part part;
	struct function_map map;
	struct intern strings;
	uint32_t file;
	struct structure structure;
};

/* Successors of each block, -1: none. */
struct shape {
	int line, column, next, other;
};

static inline void make(struct made *m, const struct shape *shape, size_t n)
{
	*m = (struct made){ 0 };
	intern_init(&m->strings);
	m->file = intern_add(&m->strings, "a.c");
	m->map = (struct function_map){ .vaddr = START,
					.size = n * SIZE,
					.name = intern_add(&m->strings, "f"),
					.decl_file = m->file,
					.decl_line = 10,
					.end_line = 99,
					.parent_vaddr = START,
					.source = MAP_FROM_DWARF };
	for (size_t i = 0; i < n; i++) {
		struct cfg_block *block = &m->blocks[i];
		*block = (struct cfg_block){ .start = START + i * SIZE,
					     .end = START + (i + 1) * SIZE,
					     .last = START + (i + 1) * SIZE - 4,
					     .n_insns = 4,
					     .is_reached = true,
					     .first_edge = (uint32_t)m->cfg.n_edges };
		if (shape[i].next >= 0)
			m->edges[m->cfg.n_edges++] = (struct cfg_edge){ (uint32_t)shape[i].next, EDGE_NEXT };
		if (shape[i].other >= 0)
			m->edges[m->cfg.n_edges++] =
				(struct cfg_edge){ (uint32_t)shape[i].other, EDGE_TAKEN };
		block->n_edges = (uint32_t)m->cfg.n_edges - block->first_edge;
		block->end_kind = block->n_edges == 2   ? BLOCK_BRANCHES
				  : block->n_edges == 1 ? BLOCK_RUNS_ON
							: BLOCK_RETURNS;
		if (shape[i].line)
			vec_push(&m->map.lines,
				 (struct line_row){ (uint32_t)(i * SIZE), m->file, (uint32_t)shape[i].line,
						    (uint16_t)shape[i].column, 1, 0 });
	}
	m->part = (struct cfg_part){ START, START + n * SIZE };
	m->cfg.function = START;
	m->cfg.blocks = m->blocks;
	m->cfg.edges = m->edges;
	m->cfg.calls = m->calls;
	m->cfg.parts = &m->part;
	m->cfg.n_parts = 1;
	m->cfg.n_blocks = n;
}

static inline void build(struct made *m, const struct structure_options *options)
{
	const struct function_map *maps[] = { &m->map };

	structure_build(&m->cfg, maps, 1, options, &m->structure);
	structure_name(&m->structure, &m->strings);
}

static inline void unmake(struct made *m)
{
	structure_done(&m->structure);
	function_map_done(&m->map);
	intern_done(&m->strings);
}

/* The n-th loop; fails if there is none. */
static inline const struct static_scope *loop_at(const struct made *m, unsigned n)
{
	for (size_t i = 0; i < m->structure.scopes.n; i++)
		if (m->structure.scopes.at[i].kind == SCOPE_LOOP && n-- == 0)
			return &m->structure.scopes.at[i];
	CHECK(!"such a loop");
	abort();
}

static inline unsigned n_loops(const struct made *m)
{
	unsigned n = 0;

	for (size_t i = 0; i < m->structure.scopes.n; i++)
		n += m->structure.scopes.at[i].kind == SCOPE_LOOP;
	return n;
}

static inline void inline_blocks(struct made *m, const char *name, uint32_t line, uint32_t call_line,
				 unsigned first, unsigned last)
{
	vec_push(&m->map.inlines, (struct inline_call){ .parent = INLINE_NONE,
							.name = intern_add(&m->strings, name),
							.decl_file = m->file,
							.decl_line = line,
							.call_file = m->file,
							.call_line = call_line,
							.call_column = 3 });
	vec_push(&m->map.ranges,
		 (struct inline_range){ first * SIZE, (last + 1) * SIZE, (uint32_t)m->map.inlines.n - 1 });
}

/* In the order of the blocks. */
static inline void call_from(struct made *m, unsigned block)
{
	m->blocks[block].first_call = (uint32_t)m->cfg.n_calls;
	m->blocks[block].n_calls = 1;
	m->calls[m->cfg.n_calls++] = (struct cfg_call){ .vaddr = m->blocks[block].start + 4,
							.return_vaddr = m->blocks[block].start + 8,
							.target = 0x9000 };
}
