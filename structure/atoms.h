/* SPDX-License-Identifier: Apache-2.0 */
/*
 * atoms: a function's code, cut into pieces that each belong to one basic block, one source position and one
 * procedure context. Everything that this folder knows about code, it knows per atom.
 */
#pragma once

#include "binary/flow/cfg.h"
#include "structure/contexts.h"
#include "structure/loops.h"

struct atom {
	uint64_t start;
	uint32_t len, weight; /* in bytes; weight: without padding, and without a jump at the end */
	uint32_t block;
	uint32_t loop; /* innermost loop, LOOP_NONE = none */
	uint32_t context;
	uint32_t file, line;
	uint32_t column;
	uint32_t statement; /* number of its statement, by atoms_number */
	bool is_blurred; /* its line is that of the procedure's declaration, which says nothing about the code
			  */
	bool is_run_on;  /* its position is inherited from the preceding code, which does not lead here */
};

/* Code of one basic block of a source line, as the compiler numbers them (discriminators). */
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
/* Numbers the statements. Two atoms belong to one statement if context, file, line and column are equal. */
void atoms_number(struct atoms *atoms);
void atoms_done(struct atoms *atoms);
/* The atom of a block that contains vaddr; NULL if there is none. */
const struct atom *atoms_at(const struct atoms *atoms, uint32_t block, uint64_t vaddr);
