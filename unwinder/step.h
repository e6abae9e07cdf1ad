/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step: applies one recipe to the registers of one frame. Only arithmetic and memory reads: the walk checks
 * whether the result is plausible.
 */
#pragma once

#include "recipes/recipe.h"
#include "unwinder/cursor.h"

enum step_status {
	STEP_OK,
	STEP_OUTERMOST, /* the recipe says that there is no caller */
	STEP_UNKNOWN,   /* needs a register that is not known, or makes no sense */
	STEP_BEYOND,    /* needs memory beyond the end of the snapshot */
	STEP_BAD_READ,
};

struct step_input {
	const struct isa *isa;
	const struct recipes *recipes;
	struct cursor *cursor; /* at the current frame; step_apply begins an attempt to leave it */
	uint64_t bias;         /* of the image the recipe comes from */
	bool is_interrupted;   /* the frame's registers are live: it made no call */
	bool has_sp_from_fp;   /* sp, which is not known, is the frame pointer + sp_from_fp */
	int64_t sp_from_fp;
};

struct step_result {
	uint64_t cfa;
	uint64_t ra; /* where the caller continues, without authentication bits */
};

/* The register that contains the return address, if it is not the one that calls put it into; otherwise
 * REG_NONE. */
unsigned step_ra_register(const struct recipes *recipes, const struct isa *isa, const struct recipe *recipe);

/* Fills ret as far as it succeeds. The caller's registers are set in the cursor. */
enum step_status step_apply(const struct step_input *input, uint32_t recipe, struct step_result *ret);
