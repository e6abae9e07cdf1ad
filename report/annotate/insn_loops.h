/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insn_loops: the loop that each instruction of a function belongs to.
 *
 * The static map assigns an instruction to the loop that it was written in, even if the compiler has moved it
 * before the loop: constants, the first test. That is correct for costs. The margin next to the instructions
 * shows the machine loop: an instruction is in a loop if the loop's header leads to it through the loop's
 * code.
 */
#pragma once

#include "report/annotate/function_parts.h"

struct insn_place {
	uint64_t vaddr, target; /* of a jump or branch */
	uint32_t scope, loop;   /* innermost scope; innermost loop, also a scope, 0 = none */
	uint32_t seen;          /* the last loop whose search reached it */
	uint8_t len, flow;      /* enum insn_flow */
};

struct insn_loops {
	const struct structure *structure; /* NULL = no loops are known */
	VEC(struct insn_place) places;     /* by vaddr */
};

/* For a function, including parts that were split off, as far as the profile contains their code. */
void insn_loops_find(const struct function_parts *parts, image_id image, uint64_t function,
		     struct insn_loops *ret);
void insn_loops_done(struct insn_loops *loops);
/* The innermost machine loop at vaddr, a scope of the structure; 0 = none. */
uint32_t insn_loops_at(const struct insn_loops *loops, uint64_t vaddr);
