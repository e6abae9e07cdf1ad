/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/tree_model.h"

#include "base/hash.h"

#define SHIFT_MAX 16

static uint64_t tree_hash(const struct tree_frame *frame)
{
	return hash_u64(frame->vaddr ^ hash_u64((uint64_t)frame->image << 32 | frame->flags));
}

static uint64_t tree_hash_at(const void *owner, uint32_t index)
{
	return tree_hash(&((const struct tree_model *)owner)->frames.at[index]);
}

static bool tree_same(const void *owner, uint32_t index, const void *key)
{
	const struct tree_frame *a = &((const struct tree_model *)owner)->frames.at[index], *b = key;

	return a->vaddr == b->vaddr && a->image == b->image && a->flags == b->flags;
}

uint32_t tree_frame_of(struct tree_model *model, image_id image, uint64_t vaddr, uint32_t flags)
{
	struct tree_frame frame = { .vaddr = vaddr, .image = image, .flags = flags };
	size_t slot = slots_find(&model->slots, tree_hash(&frame), tree_same, model, &frame);

	if (model->slots.at[slot] == SLOT_FREE) {
		vec_push(&model->frames, frame);
		slots_put(&model->slots, slot, (uint32_t)model->frames.n - 1, tree_hash_at, model);
		return (uint32_t)model->frames.n - 1;
	}
	return model->slots.at[slot];
}

void tree_model_init(struct tree_model *model, size_t n_frames)
{
	*model = (struct tree_model){ 0 };
	slots_init(&model->slots);
	slots_reserve(&model->slots, n_frames + FIRST_NODE);
	for (uint32_t i = 0; i < FIRST_NODE; i++)
		tree_frame_of(model, IMAGE_NONE, i, 0);
}

void tree_model_done(struct tree_model *model)
{
	vec_done(&model->frames);
	slots_done(&model->slots);
}

void tree_move_up(struct tree_frame *above, uint32_t frame, uint32_t at)
{
	if (at == above->n_below && above->n_below < BELOW_MAX)
		above->n_below++;
	at = at < BELOW_MAX ? at : BELOW_MAX - 1;
	for (; at > 0; at--)
		above->below[at] = above->below[at - 1];
	above->below[0] = frame;
}

unsigned tree_shift(const struct cct *cct)
{
	uint64_t bits = 0;

	for (size_t i = FIRST_NODE; i < cct->nodes.n; i++)
		bits |= cct->nodes.at[i].vaddr;
	unsigned shift = bits ? (unsigned)__builtin_ctzll(bits) : 0;
	return shift < SHIFT_MAX ? shift : SHIFT_MAX;
}
