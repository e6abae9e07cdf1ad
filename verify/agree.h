/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agree: compares recovered recipes with the compiler's unwind rows, instruction by instruction.
 *
 * Values are compared, not rules: the compiler's rule, evaluated in the abstract state, must give the CFA,
 * the return address, the caller's register. So rsp+24 and rbp+16 may both be correct, and a register that
 * was just pushed is both saved and live.
 */
#pragma once

#include "recipes/recipe.h"
#include "recipes/recover.h"

enum agreement {
	AGREE_FORM,  /* the same rule */
	AGREE_VALUE, /* another rule, the same location or value */
	AGREE_DIFFERS,
	AGREE_NONE, /* the analysis has no result */
};

/* For one instruction. */
struct agree_result {
	enum agreement cfa_ra;
	uint64_t regs_differ; /* mask of callee-saved registers whose rules give different values */
	uint64_t regs_none;   /* ... or for which the analysis has no result */
	bool is_other_frame;  /* the compiler's row describes the target frame of a context switch */
	bool is_callers_fp;   /* the compiler's row is relative to the frame pointer, which is still the
				 caller's here */
	value cfa,
		ra; /* the values of the compiler's rules here; VALUE_UNKNOWN if they cannot be determined */
};

/* `stated` is the recipe from the compiler's rows; `own` the recovered one (RECIPE_NONE if there is none). */
void agree_check(const struct state *state, const struct isa *isa, const struct recipes *recipes,
		 uint32_t stated, uint32_t own, struct agree_result *ret);
