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
	STEP_BEYOND,    /* needs memory behind the snapshot's end */
	STEP_BAD_READ,
};

struct step_input {
	const struct isa *isa;
	const struct recipes *recipes;
	struct cursor *cursor; /* on the frame being left; an attempt to leave it begins */
	uint64_t bias;         /* of the image the recipe comes from */
	bool is_interrupted;   /* the frame's registers are live: it made no call */
	bool has_sp_from_fp;   /* sp, which is not known, is the frame pointer + sp_from_fp */
	int64_t sp_from_fp;
};

struct step_result {
	uint64_t cfa;
	uint64_t ra; /* where the caller goes on, authentication bits removed */
};

/* The register, other than the one that calls leave it in, which keeps the return address; REG_NONE. */
unsigned step_ra_register(const struct recipes *recipes, const struct isa *isa, const struct recipe *recipe);

/* Fills ret up to where it fails. The caller's registers are given to the cursor. */
enum step_status step_apply(const struct step_input *input, uint32_t recipe, struct step_result *ret);
