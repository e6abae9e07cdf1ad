/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuse: joins what was measured with what is known of the code.
 *
 * Every node of the calling context tree is expanded into the scopes its address stands in (its
 * function, the loops and inlined calls there), and nodes that agree in all of them become one. Values move
 * with their nodes, each exactly once: the sums of the tree are those of the CCT.
 *
 * Pure: takes the tree and the maps, never the profile.
 */
#pragma once

#include "structure/join.h"
#include "structure/scope.h"
#include "structure/structure.h"
#include "symbolize/function_map.h"
#include "unwinder/cct.h"

/* Which calls of one function from one scope are told apart. */
enum fuse_calls {
	FUSE_CALLS_MERGED,     /* none: one scope however often it is called */
	FUSE_CALLS_BY_LINE,    /* those on different lines */
	FUSE_CALLS_BY_ADDRESS, /* every call instruction */
};

struct fuse_options {
	enum fuse_calls calls;
	bool no_inlines, no_loops;
	bool lines;       /* what was spent in a scope itself hangs below it in SCOPE_LINEs */
	bool rounds;      /* the tree gets CCT_ROUNDS more metrics, behind the others: samples by round */
	bool activations; /* the tree gets one more, before those: new calls of functions */
	bool durations;   /* the tree gets how long calls took */
	bool addresses;   /* with lines: one for each address, also where no line is known */
	bool joins;       /* who fuses a profile: parallel regions are put where they are written, join.h */
};

struct fuse_input {
	const struct cct *cct;
	const struct function_map *functions; /* sorted by (image, vaddr), as profile.functions */
	size_t n_functions;
	const struct structure
		*structures; /* sorted by (image, function), as profile.structures; may be fewer */
	size_t n_structures;
	uint32_t n_metrics;
	const struct join_notes *notes; /* on the functions; NULL = none */
	/* By image, the one that it is shown as: code of one process, of which several maps were made. NULL =
	 * each as itself. */
	const image_id *shown_as;
};

/*
 * Scope 0 is the root, scope 1 that of incomplete stacks. A place without a map becomes a
 * SCOPE_UNKNOWN with its image and address and no name.
 */
void fuse(const struct fuse_input *input, const struct fuse_options *options, struct scope_tree *ret);
/*
 * The same where there is no need for the CCT afterwards: its memory becomes the tree's, and it is left
 * empty. `cct` is the one that input points to.
 */
void fuse_consume(const struct fuse_input *input, const struct fuse_options *options, struct cct *cct,
		  struct scope_tree *ret);
