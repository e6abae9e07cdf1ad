/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/tree_model.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/slots.h"

#define SHIFT_MAX 16

#define SLOTS_LEAST 1024
#define SLOTS_RESERVED_MAX (1 << 18) /* the size that a file states is not trusted */

static uint64_t tree_hash(image_id image, uint64_t vaddr, uint32_t flags)
{
	return hash_pair_secret(vaddr, (uint64_t)image * 4 + flags);
}

static void tree_clear_slots(struct tree_model *model, size_t n)
{
	free(model->slots);
	model->n_slots = n;
	model->slots = alloc_resize(NULL, n, sizeof(*model->slots));
	memset(model->slots, 0xff, n * sizeof(*model->slots));
}

/* The slot of the frame, or the free slot where it would be inserted. */
static struct tree_slot *tree_find(const struct tree_model *model, uint64_t hash, image_id image,
				   uint64_t vaddr, uint32_t flags)
{
	size_t mask = model->n_slots - 1, at = hash & mask;
	uint32_t tag = (uint32_t)(hash >> 32);

	for (; model->slots[at].frame != SLOT_FREE; at = (at + 1) & mask) {
		if (model->slots[at].tag != tag)
			continue;
		const struct tree_frame *it = &model->frames.at[model->slots[at].frame];
		if (it->vaddr == vaddr && it->image == image && it->flags == flags)
			break;
	}
	return &model->slots[at];
}

static void tree_double_slots(struct tree_model *model)
{
	tree_clear_slots(model, model->n_slots * 2);
	for (uint32_t i = 0; i < model->frames.n; i++) {
		const struct tree_frame *it = &model->frames.at[i];
		uint64_t hash = tree_hash(it->image, it->vaddr, it->flags);
		*tree_find(model, hash, it->image, it->vaddr, it->flags) =
			(struct tree_slot){ (uint32_t)(hash >> 32), i };
	}
}

uint32_t tree_frame_of(struct tree_model *model, image_id image, uint64_t vaddr, uint32_t flags)
{
	uint64_t hash = tree_hash(image, vaddr, flags);
	struct tree_slot *slot = tree_find(model, hash, image, vaddr, flags);

	if (slot->frame != SLOT_FREE)
		return slot->frame;
	uint32_t frame = (uint32_t)model->frames.n;
	*slot = (struct tree_slot){ (uint32_t)(hash >> 32), frame };
	vec_push(&model->frames, ((struct tree_frame){ .vaddr = vaddr, .image = image, .flags = flags }));
	if (model->frames.n * 2 > model->n_slots)
		tree_double_slots(model);
	return frame;
}

void tree_model_init(struct tree_model *model, size_t n_frames)
{
	size_t n = SLOTS_LEAST;

	*model = (struct tree_model){ 0 };
	while (n < SLOTS_RESERVED_MAX && n / 2 < n_frames + FIRST_NODE)
		n *= 2;
	tree_clear_slots(model, n);
	for (uint32_t i = 0; i < FIRST_NODE; i++)
		tree_frame_of(model, IMAGE_NONE, i, 0);
}

void tree_model_done(struct tree_model *model)
{
	vec_done(&model->frames);
	vec_done(&model->lists);
	free(model->slots);
}

unsigned tree_shift(const struct cct *cct)
{
	uint64_t bits = 0;

	for (size_t i = FIRST_NODE; i < cct->nodes.n; i++)
		bits |= cct->nodes.at[i].vaddr;
	unsigned shift = bits ? (unsigned)__builtin_ctzll(bits) : 0;
	return shift < SHIFT_MAX ? shift : SHIFT_MAX;
}
