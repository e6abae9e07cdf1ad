/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insn_loops: the loop that each instruction of a function belongs to.
 *
 * The static map counts an instruction to the loop that it was written in, also where the compiler has moved
 * it in front of the loop: constants, the first test. That is right for costs. A margin beside the
 * instructions starts where control comes round again: an instruction is in a loop if the loop's head
 * leads to it through the loop's code.
 */
#pragma once

#include "profile/profile.h"

struct insn_place {
	uint64_t vaddr, target; /* of a jump or branch */
	uint32_t scope, loop;   /* innermost scope; innermost loop, a scope too, 0 = none */
	uint32_t seen;          /* the last loop that was followed to it */
	uint8_t len, flow;      /* enum insn_flow */
};

struct insn_loops {
	const struct structure *structure; /* NULL = no loops are known */
	VEC(struct insn_place) places;     /* by vaddr */
};

/* Of a function, parts that were split off it included, as far as the profile holds their code. */
void insn_loops_find(const struct profile *profile, image_id image, uint64_t function,
		     struct insn_loops *ret);
void insn_loops_done(struct insn_loops *loops);
/* The innermost loop that goes round at vaddr, a scope of the structure; 0 = none. */
uint32_t insn_loops_at(const struct insn_loops *loops, uint64_t vaddr);
