/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfg: the control-flow graph of one function, hot and cold parts together. Plain data: blocks sorted by
 * address, edges and calls in separate arrays, indices instead of pointers.
 *
 * Calls do not end a block; a block ends where control can go elsewhere, or where another block
 * starts. Block 0 is not always the entry: see `entry`.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum edge_kind {
	EDGE_NEXT,  /* falls through to the next block */
	EDGE_JUMP,  /* unconditional */
	EDGE_TAKEN, /* of a conditional branch */
	EDGE_NOT_TAKEN,
	EDGE_TABLE,       /* an entry of a jump table */
	EDGE_LANDING_PAD, /* a call in the block may throw */
};

struct cfg_edge {
	uint32_t to; /* block */
	uint8_t kind;
};

enum block_end {
	BLOCK_RUNS_ON, /* into the next block, or past the end of the code */
	BLOCK_JUMPS,
	BLOCK_BRANCHES,
	BLOCK_SWITCHES,   /* through a table whose targets are known */
	BLOCK_UNRESOLVED, /* an indirect jump that could not be resolved */
	BLOCK_RETURNS,
	BLOCK_TAIL_CALLS, /* jumps to another function (`tail_target`, 0 = indirect) */
	BLOCK_STOPS,      /* ud2, a call that does not return */
};

struct cfg_block {
	uint64_t start, end; /* vaddrs; end is after the last instruction */
	uint64_t last;       /* vaddr of the last instruction */
	uint64_t tail_target;
	uint32_t first_edge, n_edges; /* successors, each target once per kind; an unreached block has none */
	uint32_t first_call, n_calls;
	uint32_t first_access, n_accesses; /* only for a block that branches to itself */
	uint32_t n_insns;
	uint8_t n_padding; /* bytes at the end that align the code after it */
	/* Of blocks that may be in a loop: */
	uint32_t n_packed;    /* instructions that compute several values at once */
	uint32_t n_numbers;   /* instructions that take a single value out of a vector register */
	uint8_t packed_width; /* bytes of the widest of them; 255 = the processor's vector size */
	uint8_t stored_width; /* bytes of the widest vector register that is stored, except to the stack; 0 =
				 none */
	uint64_t atomic;      /* vaddr of an atomic read-modify-write instruction; 0 = none */
	uint8_t end_kind;     /* enum block_end */
	bool is_guess;        /* no edge reaches it: its state is the function's usual one, a guess */
	bool is_reached;      /* false: neither an edge nor a guess (padding, data) */
};

struct cfg_call {
	uint64_t vaddr, return_vaddr;
	uint64_t target; /* 0 = indirect */
	bool does_not_return;
};

/* An instruction that loads or stores. */
struct cfg_access {
	uint64_t vaddr;
	uint32_t n; /* registers */
};

struct cfg_part {
	uint64_t start, end;
};

struct cfg {
	uint64_t function; /* vaddr of the entry */
	uint32_t entry;    /* block */
	struct cfg_block *blocks;
	struct cfg_edge *edges;
	struct cfg_call *calls;
	struct cfg_access *accesses;
	struct cfg_part *parts; /* [0] contains the entry; others are cold parts */
	size_t n_blocks, n_edges, n_calls, n_accesses, n_parts;
};

void cfg_done(struct cfg *cfg);
/* The block that contains vaddr; UINT32_MAX if there is none. */
uint32_t cfg_find(const struct cfg *cfg, uint64_t vaddr);

struct flow;
/* From an analysed function (binary/flow/flow.h). Owns its memory; the flow may be freed. */
void cfg_build(struct cfg *cfg, const struct flow *flow);

const char *edge_kind_name(enum edge_kind kind);
const char *block_end_name(enum block_end end);
