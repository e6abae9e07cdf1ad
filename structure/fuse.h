/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuse: combines what was measured with what is known about the code.
 *
 * Every node of the calling context tree is expanded into the scopes that contain its address (its function,
 * loops and inlined calls), and nodes that agree in all of these are merged. Every value moves with its node,
 * exactly once, so the sums of the tree equal those of the CCT.
 *
 * A frame has as many scopes as calls are inlined into each other at its address, and every context repeats
 * them: a small file can ask for any number. So steps from scope to scope are limited to a multiple of the
 * nodes (FUSE_STEPS_*), which only made-up profiles reach. Frames after that have only their function, the
 * innermost inlined call and the innermost loop in it: costs of functions, and which code was running, stay
 * right; inlined calls and loops in between lack what is below them.
 *
 * Pure: depends on the tree and the maps, not on the profile.
 */
#pragma once

#include "structure/join.h"
#include "structure/scope.h"
#include "structure/structure.h"
#include "symbolize/function_map.h"
#include "unwinder/cct.h"

/* Which calls of the same function from the same scope are distinguished. */
enum fuse_calls {
	FUSE_CALLS_MERGED,     /* none: one scope for all calls */
	FUSE_CALLS_BY_LINE,    /* those on different lines */
	FUSE_CALLS_BY_ADDRESS, /* every call instruction */
};

/*
 * A step costs 1 if the scope exists already, FUSE_STEP_NEW if not. Frames of C++ and Rust have 3 to 15
 * scopes, most of them in common with the frame's siblings: 30 new scopes or 120 known ones for each and
 * every frame are far from that.
 */
#define FUSE_STEPS_FREE (1u << 20)
#define FUSE_STEPS_PER_NODE 120u
#define FUSE_STEP_NEW 4u

#define FUSE_ROUNDS_FREE 100000u /* scopes */
#define FUSE_ROUNDS_PER_NODE 8u

struct fuse_options {
	enum fuse_calls calls;
	bool no_inlines, no_loops;
	bool lines; /* the cost of a scope itself is split into SCOPE_LINEs below it */
	/* Adds CCT_ROUNDS metrics after the others, samples by round, unless there are so many scopes that
	 * they would take too much memory. */
	bool rounds;
	bool activations; /* adds one metric before those: new calls of functions */
	bool durations;   /* adds the durations of calls */
	bool addresses;   /* with `lines`: one scope per address, also if its line is not known */
	bool joins;       /* set if a whole profile is fused: moves parallel regions to where they are written
			     (join.h) */
};

struct fuse_input {
	const struct cct *cct;
	const struct function_map *functions; /* sorted by (image, vaddr), as profile.functions */
	size_t n_functions;
	const struct structure
		*structures; /* sorted by (image, function), as profile.structures; may be fewer */
	size_t n_structures;
	uint32_t n_metrics;
	const struct join_notes *notes; /* about the functions; NULL = none */
	/* By image: the image it is shown as, because several maps were made of the code of one process. NULL
	 * = each as itself. */
	const image_id *shown_as;
};

/*
 * Scope 0 is the root, scope 1 contains the incomplete stacks. An address without a map becomes a
 * SCOPE_UNKNOWN that has an image and an address, but no name.
 */
void fuse(const struct fuse_input *input, const struct fuse_options *options, struct scope_tree *ret);
/*
 * The same if the CCT is not needed afterwards: its memory is reused for the tree, and it is left empty.
 * `cct` is the one that input points to.
 */
void fuse_consume(const struct fuse_input *input, const struct fuse_options *options, struct cct *cct,
		  struct scope_tree *ret);
