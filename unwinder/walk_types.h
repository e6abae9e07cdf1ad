/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Common types of the unwinder's interface and its walks: options, statistics, and the observer of steps.
 */
#pragma once

#include "base/store.h"
#include "collector/event.h"
#include "recipes/policy.h"
#include "recipes/recipe.h"
#include "unwinder/memory.h"
#include "unwinder/stack.h"

struct unwinder_options {
	enum unwind_mode mode;
	memory_reader
		read_memory; /* only if the target is stopped from the sample to the walk; otherwise NULL */
	memory_reader read_code; /* for JIT code, at any time; may be NULL */
	void *read_context;
	struct store *store; /* caches results about the code of images between runs; NULL = none */
	unsigned patience;   /* see knowledge_set_patience; 0 = none */
	bool notes_words;    /* record what each walk depended on: unwinder_depend */
	bool walks_in_full;  /* neither recall nor the fast path: same result, slower */
};

/* What was done, for the quality line and the benchmark. */
struct unwinder_stats {
	uint64_t steps_by_witness[WITNESS_N];
	uint64_t frames, cache_hits, cache_misses, functions_compiled;
};

/* Passed to the observer before every step of a walk: registers, recipe, verdict. For `inspect stacks
 * --explain`. */
struct walk_step {
	const struct regs *regs; /* of the frame */
	struct frame frame;
	const struct recipes *recipes;
	uint32_t recipe; /* RECIPE_NONE = none found */
	uint64_t cfa, ra;
	enum verdict verdict;
	const char *note; /* the reason, as text */
};
typedef void (*walk_observer)(void *context, const struct walk_step *step);
