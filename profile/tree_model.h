/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_model: the frames of a call tree, and what was called from each. Sections 21 and 23 (FORMAT.md)
 * encode nodes with it; writer and reader build the same model.
 */
#pragma once

#include "unwinder/cct.h"

#define BELOW_MAX 16 /* most recently seen frames that are remembered below a frame */
#define FIRST_NODE (CCT_INCOMPLETE + 1)

struct tree_frame {
	uint64_t vaddr;
	image_id image;
	uint32_t flags;
	uint32_t n_below;
	uint32_t list; /* if n_below is not 0 */
};

/* Frames below a frame, the most recent first. Most frames have none, so they are stored separately. */
struct tree_list {
	uint32_t at[BELOW_MAX];
};

/* Part of a frame's hash, and its index: if the hash matches, the frames are nearly always equal. */
struct tree_slot {
	uint32_t tag, frame;
};

struct tree_model {
	VEC(struct tree_frame) frames; /* the first two are those of the roots */
	VEC(struct tree_list) lists;
	struct tree_slot *slots;
	size_t n_slots; /* a power of two, at least twice as many as frames */
};

/* n_frames: about how many there will be, or 0. */
void tree_model_init(struct tree_model *model, size_t n_frames);
void tree_model_done(struct tree_model *model);
/* The index of a frame, which is added if it is new. */
uint32_t tree_frame_of(struct tree_model *model, image_id image, uint64_t vaddr, uint32_t flags);
/* The frames below a frame; there are n_below. */
static inline const uint32_t *tree_below(const struct tree_model *model, const struct tree_frame *above)
{
	return model->lists.at[above->list].at;
}
/* Makes a frame the most recent one below the other. at: its index there, or their number if it is new. */
static inline void tree_move_up(struct tree_model *model, uint32_t above, uint32_t frame, uint32_t at)
{
	struct tree_frame *it = &model->frames.at[above];

	if (!it->n_below) {
		it->list = (uint32_t)model->lists.n;
		vec_push(&model->lists, ((struct tree_list){ { frame } }));
		it->n_below = 1;
		return;
	}
	uint32_t *list = model->lists.at[it->list].at;
	if (at == it->n_below && it->n_below < BELOW_MAX)
		it->n_below++;
	at = at < BELOW_MAX ? at : BELOW_MAX - 1;
	for (; at > 0; at--)
		list[at] = list[at - 1];
	list[0] = frame;
}

/* The number of low bits that are 0 in all addresses, at most 16. */
unsigned tree_shift(const struct cct *cct);
