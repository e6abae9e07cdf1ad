/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declarations shared by the parts of fuse: fuse.c makes scopes and moves values, fuse_places remembers the
 * scopes around an address, fuse_lines adds lines.
 */
#pragma once

#include "structure/fuse.h"

/* Where a node of the CCT was moved to. */
struct landing {
	uint32_t scope; /* the innermost scope: the parent of callees; in the end also where its costs go */
	uint32_t call;  /* its address and line: the call site of its callees */
};

/*
 * Many nodes have the same place: image, address and flags. The scopes that contain it are looked up once.
 */
struct fuse_place {
	uint64_t vaddr;
	image_id image;
	uint32_t flags;
	uint32_t first, n; /* steps */
	uint32_t inlined;  /* the innermost one to an inlined call; 0 = there is none */
	bool is_shortened; /* they are not all of its scopes */
	uint32_t call;     /* of the landing */
};

/* From one scope to the one below it. For the first step of a place, the call is that of the caller. */
struct fuse_step {
	uint32_t frame, call;
};

struct fuse_places {
	struct slots slots;
	VEC(struct fuse_place) all;
	VEC(struct fuse_step) steps;
	bool is_varying;   /* the scopes of the current node also depend on its caller */
	bool is_shortened; /* ... are not all there are */
};

struct fuse {
	const struct fuse_input *input;
	const struct fuse_options *options;
	struct scope_tree *tree;
	struct scope_maker maker;
	struct slots slots;       /* of scopes, until there are lines */
	struct landing *landings; /* by node */
	struct fuse_places places;
	uint64_t steps_left; /* 0: frames are shortened from now on (fuse.h) */
};

static inline bool fuse_is_short(const struct fuse *fuse)
{
	return fuse->steps_left == 0;
}

/* fuse.c: the scope with these properties, created if necessary. */
uint32_t fuse_add_row(struct fuse *fuse, struct scope_row row);

/* fuse_places.c */
void fuse_places_init(struct fuse_places *places);
void fuse_places_done(struct fuse_places *places);
/* Where a node lands. expand: for a place that was not seen before; it calls fuse_places_step. */
struct landing fuse_places_land(struct fuse *fuse, const struct cct_node *node,
				struct landing (*expand)(struct fuse *, const struct cct_node *));
void fuse_places_step(struct fuse_places *places, uint32_t frame, uint32_t call);

/* fuse_lines.c: below scopes with costs; landings with costs move there. */
void fuse_add_lines(struct fuse *fuse);
