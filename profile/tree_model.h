/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_model: the frames of a call tree, and what was called from each. Sections 21 and 23 (FORMAT.md)
 * describe a node by it; writer and reader keep the same one.
 */
#pragma once

#include "base/slots.h"
#include "unwinder/cct.h"

#define BELOW_MAX 16 /* frames that are remembered below one, those that were met last */
#define FIRST_NODE (CCT_INCOMPLETE + 1)

struct tree_frame {
	uint64_t vaddr;
	image_id image;
	uint32_t flags;
	uint32_t n_below;
	uint32_t below[BELOW_MAX]; /* frames, the last met first */
};

struct tree_model {
	VEC(struct tree_frame) frames; /* the first two are those of the roots */
	struct slots slots;
};

/* n_frames: how many there will be, or 0. */
void tree_model_init(struct tree_model *model, size_t n_frames);
void tree_model_done(struct tree_model *model);
/* The number of a frame, which is added if it is new. */
uint32_t tree_frame_of(struct tree_model *model, image_id image, uint64_t vaddr, uint32_t flags);
/* The frame is now the last met below the other. at: its place there before, or how many there were. */
void tree_move_up(struct tree_frame *above, uint32_t frame, uint32_t at);

/* How many bits at the end of all addresses are 0, at most 16. */
unsigned tree_shift(const struct cct *cct);
