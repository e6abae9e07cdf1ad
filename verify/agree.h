/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agree: compares recovered recipes with the compiler's unwind rows, instruction by instruction.
 *
 * Agreement is by value: the compiler's rule, evaluated in the abstract state, must give the CFA,
 * the return address, the caller's register. So rsp+24 and rbp+16 may both be right, and a register
 * just pushed is both saved and live.
 */
#pragma once

#include "recipes/recipe.h"
#include "recipes/recover.h"

enum agreement {
	AGREE_FORM,  /* the same rule */
	AGREE_VALUE, /* another rule, the same place or value */
	AGREE_DIFFERS,
	AGREE_NONE, /* the analysis says that it does not know */
};

/* Of one instruction. */
struct agree_result {
	enum agreement cfa_ra;
	uint64_t regs_differ; /* mask of callee-saved registers whose rule gives something else */
	uint64_t regs_none;   /* ... or something the analysis does not know */
	bool is_other_frame;  /* the compiler's row describes the frame that a context switch goes to */
	bool is_callers_fp; /* the compiler's row counts from the frame pointer, which is the caller's here */
	value cfa, ra;      /* what the compiler's rules give here; VALUE_UNKNOWN if that cannot be told */
};

/* `stated` is a recipe the compiler's rows gave; `own` the recovered one (RECIPE_NONE if there is none). */
void agree_check(const struct state *state, const struct isa *isa, const struct recipes *recipes,
		 uint32_t stated, uint32_t own, struct agree_result *ret);
