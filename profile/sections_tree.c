/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The nodes of an epoch. One call leads to the same places wherever it stands in the tree: a node is told by
 * which of the frames that have been seen below such a frame it is, and by its address only the first time.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/slots.h"
#include "profile/section.h"

#define BELOW_MAX 16 /* frames that are remembered below one, those that were met last */
#define SHIFT_MAX 16
#define FIRST_NODE (CCT_INCOMPLETE + 1)

enum tree_column { TREE_UP, TREE_WAY, TREE_IMAGE, TREE_FLAGS, TREE_VADDR, TREE_COLUMNS };

struct tree_frame {
	uint64_t vaddr;
	image_id image;
	uint32_t flags;
	uint32_t n_below;
	uint32_t below[BELOW_MAX]; /* frames, the last met first */
};

/* What both who writes and who reads know at a node. */
struct tree_model {
	VEC(struct tree_frame) frames;
	struct slots slots;
	VEC(uint32_t) frame_of; /* by node */
	uint64_t *last;         /* by image, none being the last: the address of its last node */
	size_t n_images;
};

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

static uint32_t tree_frame_of(struct tree_model *model, image_id image, uint64_t vaddr, uint32_t flags)
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

static void tree_model_init(struct tree_model *model, size_t n_images, size_t n_frames)
{
	*model = (struct tree_model){ .n_images = n_images };
	slots_init(&model->slots);
	slots_reserve(&model->slots, n_frames + FIRST_NODE);
	model->last = alloc_zero(n_images + 1, sizeof(*model->last));
	for (uint32_t i = 0; i < FIRST_NODE; i++)
		vec_push(&model->frame_of, tree_frame_of(model, IMAGE_NONE, i, 0));
}

static void tree_model_done(struct tree_model *model)
{
	vec_done(&model->frames);
	vec_done(&model->frame_of);
	slots_done(&model->slots);
	free(model->last);
}

static uint64_t *tree_last(struct tree_model *model, image_id image)
{
	return &model->last[image < model->n_images ? image : model->n_images];
}

/* The frame is below the other now, as the one that was met last; at: where it was, or how many there were.
 */
static void tree_move_up(struct tree_frame *above, uint32_t frame, uint32_t at)
{
	if (at == above->n_below && above->n_below < BELOW_MAX)
		above->n_below++;
	at = at < BELOW_MAX ? at : BELOW_MAX - 1;
	for (; at > 0; at--)
		above->below[at] = above->below[at - 1];
	above->below[0] = frame;
}

/* One more node, at the place of `at` below its parent's frame. */
static void tree_meet(struct tree_model *model, uint32_t parent, uint32_t frame, uint32_t at)
{
	const struct tree_frame *it = &model->frames.at[frame];

	*tree_last(model, it->image) = it->vaddr;
	tree_move_up(&model->frames.at[model->frame_of.at[parent]], frame, at);
	vec_push(&model->frame_of, frame);
}

/* What a new address counts from. */
static uint64_t tree_base(struct tree_model *model, uint32_t parent, image_id image, bool *ret_is_beside)
{
	const struct tree_frame *above = &model->frames.at[model->frame_of.at[parent]];
	const struct tree_frame *first = above->n_below ? &model->frames.at[above->below[0]] : NULL;

	*ret_is_beside = first && first->image == image;
	return *ret_is_beside ? first->vaddr : *tree_last(model, image);
}

/* ---- writing ------------------------------------------------------------------------------------ */

/* How far up from the node before; one above the root is the root of incomplete stacks. UINT32_MAX: not so.
 */
static uint32_t tree_up(const struct cct *cct, uint32_t node)
{
	uint32_t up = 0, at = node - 1;

	for (; at != cct->nodes.at[node].parent; up++) {
		if (at == CCT_ROOT)
			return cct->nodes.at[node].parent == CCT_INCOMPLETE ? up + 1 : UINT32_MAX;
		at = cct->nodes.at[at].parent;
	}
	return up;
}

bool tree_is_written(const struct profile *profile)
{
	const struct cct *cct = &profile->cct;

	for (uint32_t i = FIRST_NODE; profile->is_dense && i < cct->nodes.n; i++)
		if (tree_up(cct, i) == UINT32_MAX)
			return false;
	return profile->is_dense;
}

static unsigned tree_shift(const struct cct *cct)
{
	uint64_t bits = 0;

	for (size_t i = FIRST_NODE; i < cct->nodes.n; i++)
		bits |= cct->nodes.at[i].vaddr;
	unsigned shift = bits ? (unsigned)__builtin_ctzll(bits) : 0;
	return shift < SHIFT_MAX ? shift : SHIFT_MAX;
}

/* Inner frames are calls, and leaves are not: mostly. */
static uint32_t tree_usual_flags(bool is_leaf)
{
	return is_leaf ? 0 : CCT_IS_RETURN;
}

static void tree_write_node(struct tree_model *model, const struct cct_node *node, bool is_leaf,
			    unsigned shift, struct writer *columns)
{
	uint32_t frame = tree_frame_of(model, node->image, node->vaddr, node->flags), at = 0;
	const struct tree_frame *above = &model->frames.at[model->frame_of.at[node->parent]];
	bool is_beside;

	while (at < above->n_below && above->below[at] != frame)
		at++;
	bool is_known = at < above->n_below;
	write_uleb(&columns[TREE_WAY], is_known ? at + 1 : 0);
	if (!is_known) {
		uint64_t base = tree_base(model, node->parent, node->image, &is_beside);
		uint32_t image = node->image + 1; /* 0 = none */
		write_uleb(&columns[TREE_IMAGE], is_beside ? 0 : (uint64_t)image + 1);
		write_uleb(&columns[TREE_FLAGS], node->flags ^ tree_usual_flags(is_leaf));
		write_sleb(&columns[TREE_VADDR], (int64_t)(node->vaddr - base) >> shift);
	}
	tree_meet(model, node->parent, frame, at);
}

void tree_encode(const struct profile *profile, struct writer *ret)
{
	const struct cct *cct = &profile->cct;
	CLEANUP(tree_model_done) struct tree_model model = { 0 };
	struct writer columns[TREE_COLUMNS] = { 0 };
	unsigned shift = tree_shift(cct);

	if (!tree_is_written(profile))
		return;
	tree_model_init(&model, profile->images.n, 0);
	for (uint32_t i = FIRST_NODE; i < cct->nodes.n; i++) {
		bool is_leaf = i + 1 == cct->nodes.n || cct->nodes.at[i + 1].parent != i;
		write_uleb(&columns[TREE_UP], tree_up(cct, i));
		tree_write_node(&model, &cct->nodes.at[i], is_leaf, shift, columns);
	}
	write_uleb(ret, cct->nodes.n - FIRST_NODE);
	write_uleb(ret, shift);
	for (size_t i = 0; i < TREE_COLUMNS; i++) {
		write_uleb(ret, columns[i].len);
		write_bytes(ret, writer_bytes(&columns[i]));
		writer_done(&columns[i]);
	}
}

/* ---- reading ------------------------------------------------------------------------------------ */

/* The parent of the next node; false if it is above everything. */
static bool tree_read_parent(const struct cct *cct, uint64_t up, uint32_t *ret)
{
	uint32_t at = (uint32_t)cct->nodes.n - 1;

	for (; up > 0; up--) {
		if (at == CCT_ROOT && up == 1)
			at = CCT_INCOMPLETE;
		else if (at == CCT_ROOT)
			return false;
		else
			at = cct->nodes.at[at].parent;
	}
	*ret = at;
	return true;
}

/* A frame that is new below its parent's. */
static bool tree_read_frame(const struct decoder *decoder, struct tree_model *model, uint32_t parent,
			    bool is_leaf, unsigned shift, struct reader *columns, uint32_t *ret)
{
	const struct tree_frame *above = &model->frames.at[model->frame_of.at[parent]];
	uint64_t said = read_uleb(&columns[TREE_IMAGE]), flags = read_uleb(&columns[TREE_FLAGS]);
	uint64_t step = (uint64_t)read_sleb(&columns[TREE_VADDR]) << shift;
	bool is_beside;

	if ((!said && !above->n_below) || said > decoder->limits[REF_IMAGE] + 1 || flags > UINT32_MAX)
		return false;
	image_id image = said ? (image_id)(said - 2) : model->frames.at[above->below[0]].image;
	uint64_t vaddr = tree_base(model, parent, image, &is_beside) + step;
	*ret = tree_frame_of(model, image, vaddr, (uint32_t)flags ^ tree_usual_flags(is_leaf));
	return true;
}

/* Nodes of one parent that rise are all different: then no hash is needed to find out. */
static bool tree_rises(const struct cct_node *before, const struct cct_node *node)
{
	if (before->image != node->image)
		return (image_id)(before->image + 1) < (image_id)(node->image + 1); /* none comes first */
	return before->vaddr != node->vaddr ? before->vaddr < node->vaddr : before->flags < node->flags;
}

/* Of a tree in another order: no two nodes agree. */
static int tree_check_once(const struct decoder *decoder, struct cct *cct)
{
	struct cct all = *cct;
	int error = 0;

	cct_init(cct);
	for (size_t i = FIRST_NODE; !error && i < all.nodes.n; i++) {
		const struct cct_node *node = &all.nodes.at[i];
		if (cct_child(cct, node->parent, node->image, node->vaddr, node->flags) != i)
			error = decoder_refuse(decoder, "node %zu occurs twice", i);
	}
	cct_done(&all);
	return error;
}

/* Nobody adds nodes to what was read, so their hash is not made. */
static int tree_finish(const struct decoder *decoder, struct cct *cct)
{
	CLEANUP(freep) uint32_t *last = alloc_zero(cct->nodes.n, sizeof(*last)); /* by node: its last child */

	for (uint32_t i = FIRST_NODE; i < cct->nodes.n; i++) {
		const struct cct_node *node = &cct->nodes.at[i];
		if (last[node->parent] && !tree_rises(&cct->nodes.at[last[node->parent]], node))
			return tree_check_once(decoder, cct);
		last[node->parent] = i;
	}
	slots_done(&cct->node_slots);
	return 0;
}

static int tree_read_nodes(struct decoder *decoder, struct cct *cct, struct tree_model *model, uint64_t n,
			   unsigned shift, struct reader *columns)
{
	uint64_t up = n ? read_uleb(&columns[TREE_UP]) : 0, next = 0;
	uint32_t parent, frame;

	for (uint64_t i = 0; i < n; i++, up = next) {
		next = i + 1 < n ? read_uleb(&columns[TREE_UP]) : 1;
		uint64_t way = read_uleb(&columns[TREE_WAY]);
		if (!tree_read_parent(cct, up, &parent))
			return decoder_refuse(decoder, "node %zu is above the root", cct->nodes.n);
		const struct tree_frame *above = &model->frames.at[model->frame_of.at[parent]];
		uint32_t n_below = above->n_below;
		if (way > n_below ||
		    (!way && !tree_read_frame(decoder, model, parent, next != 0, shift, columns, &frame)))
			return decoder_refuse(decoder, "node %zu leads nowhere", cct->nodes.n);
		if (way)
			frame = above->below[way - 1];
		tree_meet(model, parent, frame, way ? (uint32_t)way - 1 : n_below);
		const struct tree_frame *it = &model->frames.at[frame];
		vec_push(&cct->nodes, ((struct cct_node){ parent, it->image, it->vaddr, it->flags, 0 }));
	}
	return tree_finish(decoder, cct);
}

int tree_decode(struct decoder *decoder, struct profile *profile)
{
	CLEANUP(tree_model_done) struct tree_model model = { 0 };
	struct reader r = reader_of(decoder->bytes), columns[TREE_COLUMNS] = { 0 };
	uint64_t n = read_uleb(&r), shift = read_uleb(&r);

	for (size_t i = 0; i < TREE_COLUMNS; i++)
		columns[i] = reader_of(read_bytes(&r, read_uleb(&r)));
	/* Every node takes a byte of the first column, which bounds what is allocated. */
	if (r.failed || reader_left(&r) || shift > SHIFT_MAX || n > reader_left(&columns[TREE_UP]))
		return decoder_refuse(decoder, "its columns are damaged");
	if (profile->cct.nodes.n != FIRST_NODE)
		return decoder_refuse(decoder, "there are other nodes");
	tree_model_init(&model, profile->images.n, reader_left(&columns[TREE_FLAGS]));
	vec_reserve(&profile->cct.nodes, n + FIRST_NODE);
	int error = tree_read_nodes(decoder, &profile->cct, &model, n, (unsigned)shift, columns);
	for (size_t i = 0; !error && i < TREE_COLUMNS; i++)
		if (columns[i].failed || reader_left(&columns[i]))
			error = decoder_refuse(decoder, "column %zu has the wrong length", i);
	decoder->limits[REF_NODE] = profile->cct.nodes.n;
	return error;
}
