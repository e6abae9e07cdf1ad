/* SPDX-License-Identifier: Apache-2.0 */
/*
 * atoms: a function's code cut into pieces that have one place each: one block, one source position,
 * one procedure context. Everything structure knows of the code it knows per atom.
 */
#pragma once

#include "binary/flow/cfg.h"
#include "structure/contexts.h"
#include "structure/loops.h"

struct atom {
	uint64_t start;
	uint32_t len, weight; /* in bytes; weight: without padding */
	uint32_t block;
	uint32_t loop; /* innermost loop, LOOP_NONE = none */
	uint32_t context;
	uint32_t file, line;
	uint32_t column;
	uint32_t statement; /* number of its statement, by atoms_number */
	bool is_blurred;    /* it stands where the procedure's name does: its position tells nothing */
	bool is_run_on;     /* its position is that of the code in front of it, which does not lead here */
};

/* Code on one of a line's blocks, as the compiler numbers them. */
struct line_block {
	uint32_t block; /* of the graph */
	uint32_t line;
	uint8_t number;
};

struct atoms {
	VEC(struct atom) list; /* in the order of the blocks */
	VEC(uint32_t) first;   /* per block: its first atom; one more at the end */
	uint32_t n_statements;
	VEC(struct line_block) line_blocks; /* of code in loops */
};

void atoms_cut(struct atoms *atoms, const struct cfg *cfg, const struct loop_forest *loops,
	       const struct function_map *const *maps, size_t n_maps, struct contexts *contexts);
/* Numbers the statements. What makes two atoms one statement: context, file, line and column. */
void atoms_number(struct atoms *atoms);
void atoms_done(struct atoms *atoms);
/* The atom of a block that holds vaddr; NULL if none does. */
const struct atom *atoms_at(const struct atoms *atoms, uint32_t block, uint64_t vaddr);
