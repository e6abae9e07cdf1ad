/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfi_state: the state of an unwind program during execution, and the corresponding recipe.
 */
#pragma once

#include "binary/cfi/frames.h"
#include "recipes/recipe.h"

#define RULE_DEFAULT 0xff /* no rule was given: the calling convention decides */

struct cfi_rule {
	uint8_t kind; /* enum rule_kind or RULE_DEFAULT */
	uint64_t from;
	union {
		int64_t offset;
		struct bytes expr;
	};
};

struct cfi_cfa {
	uint8_t kind; /* CFA_NONE, CFA_REG or CFA_EXPR */
	uint64_t reg;
	int64_t offset;
	struct bytes expr;
};

struct cfi_state {
	struct cfi_cfa cfa;
	bool ra_is_signed;
	uint64_t given; /* mask: registers that may have another rule than the default */
	struct cfi_rule rules[REG_MAX];
};

void cfi_state_init(struct cfi_state *state);
/* RECIPE_NONE if the state describes no frame, or one with implausible numbers. */
uint32_t cfi_state_recipe(const struct cfi_state *state, const struct fde *fde, const struct isa *isa,
			  struct recipes *recipes);
