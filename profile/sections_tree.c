/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The nodes of an epoch. A call leads to the same functions wherever it occurs in the tree: a node is stored
 * as an index into the frames already seen below such a frame, and by its address only the first time.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "profile/section.h"
#include "profile/tree_model.h"

#define SHIFT_MAX 16

enum tree_column { TREE_UP, TREE_WAY, TREE_IMAGE, TREE_FLAGS, TREE_VADDR, TREE_COLUMNS };

/* The state that writer and reader share at a node. */
struct tree_state {
	struct tree_model model;
	VEC(uint32_t) frame_of; /* by node */
	uint64_t *last;         /* by image (the last: without an image): the address of its last node */
	size_t n_images;
};

static void tree_state_init(struct tree_state *state, size_t n_images, size_t n_frames)
{
	*state = (struct tree_state){ .n_images = n_images };
	tree_model_init(&state->model, n_frames);
	state->last = alloc_zero(n_images + 1, sizeof(*state->last));
	for (uint32_t i = 0; i < FIRST_NODE; i++)
		vec_push(&state->frame_of, i);
}

static void tree_state_done(struct tree_state *state)
{
	tree_model_done(&state->model);
	vec_done(&state->frame_of);
	free(state->last);
}

static struct tree_frame *tree_frame_at(const struct tree_state *state, uint32_t node)
{
	return &state->model.frames.at[state->frame_of.at[node]];
}

static uint64_t *tree_last(struct tree_state *state, image_id image)
{
	return &state->last[image < state->n_images ? image : state->n_images];
}

/* Adds a node; at: its index below its parent's frame. */
static void tree_meet(struct tree_state *state, uint32_t parent, uint32_t frame, uint32_t at)
{
	const struct tree_frame *it = &state->model.frames.at[frame];

	*tree_last(state, it->image) = it->vaddr;
	tree_move_up(&state->model, state->frame_of.at[parent], frame, at);
	vec_push(&state->frame_of, frame);
}

/* The address that a new address is relative to. */
static uint64_t tree_base(struct tree_state *state, uint32_t parent, image_id image, bool *ret_is_beside)
{
	const struct tree_frame *above = tree_frame_at(state, parent);
	const struct tree_frame *first =
		above->n_below ? &state->model.frames.at[tree_below(&state->model, above)[0]] : NULL;

	*ret_is_beside = first && first->image == image;
	return *ret_is_beside ? first->vaddr : *tree_last(state, image);
}

/* ---- writing ------------------------------------------------------------------------------------ */

/* How many levels up from the previous node; one above the root is the root of incomplete stacks.
 * UINT32_MAX: the parent is not above it. */
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

	if (!profile->is_dense || profile->contexts.len)
		return false;
	for (uint32_t i = FIRST_NODE; i < cct->nodes.n; i++)
		if (tree_up(cct, i) == UINT32_MAX)
			return false;
	return true;
}

/* Inner frames usually are calls; leaves are not. */
static uint32_t tree_usual_flags(bool is_leaf)
{
	return is_leaf ? 0 : CCT_IS_RETURN;
}

static void tree_write_node(struct tree_state *state, const struct cct_node *node, bool is_leaf,
			    unsigned shift, struct writer *columns)
{
	uint32_t frame = tree_frame_of(&state->model, node->image, node->vaddr, node->flags), at = 0;
	const struct tree_frame *above = tree_frame_at(state, node->parent);
	bool is_beside;

	while (at < above->n_below && tree_below(&state->model, above)[at] != frame)
		at++;
	bool is_known = at < above->n_below;
	write_uleb(&columns[TREE_WAY], is_known ? at + 1 : 0);
	if (!is_known) {
		uint64_t base = tree_base(state, node->parent, node->image, &is_beside);
		uint32_t image = node->image + 1; /* 0 = none */
		write_uleb(&columns[TREE_IMAGE], is_beside ? 0 : (uint64_t)image + 1);
		write_uleb(&columns[TREE_FLAGS], node->flags ^ tree_usual_flags(is_leaf));
		write_sleb(&columns[TREE_VADDR], (int64_t)(node->vaddr - base) >> shift);
	}
	tree_meet(state, node->parent, frame, at);
}

void tree_encode(const struct profile *profile, struct writer *ret)
{
	const struct cct *cct = &profile->cct;
	CLEANUP(tree_state_done) struct tree_state state = { 0 };
	struct writer columns[TREE_COLUMNS] = { 0 };
	unsigned shift = tree_shift(cct);

	if (!tree_is_written(profile))
		return;
	tree_state_init(&state, profile->images.n, 0);
	for (uint32_t i = FIRST_NODE; i < cct->nodes.n; i++) {
		bool is_leaf = i + 1 == cct->nodes.n || cct->nodes.at[i + 1].parent != i;
		write_uleb(&columns[TREE_UP], tree_up(cct, i));
		tree_write_node(&state, &cct->nodes.at[i], is_leaf, shift, columns);
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

/* The parent of the next node; false if the level is above the roots. */
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

/* A frame that was not yet seen below its parent's. */
static bool tree_read_frame(const struct decoder *decoder, struct tree_state *state, uint32_t parent,
			    bool is_leaf, unsigned shift, struct reader *columns, uint32_t *ret)
{
	const struct tree_frame *above = tree_frame_at(state, parent);
	uint64_t said = read_uleb(&columns[TREE_IMAGE]), flags = read_uleb(&columns[TREE_FLAGS]);
	uint64_t step = (uint64_t)read_sleb(&columns[TREE_VADDR]) << shift;
	bool is_beside;

	if ((!said && !above->n_below) || said > decoder->limits[REF_IMAGE] + 1 || flags > UINT32_MAX)
		return false;
	image_id image = said ? (image_id)(said - 2)
			      : state->model.frames.at[tree_below(&state->model, above)[0]].image;
	uint64_t vaddr = tree_base(state, parent, image, &is_beside) + step;
	*ret = tree_frame_of(&state->model, image, vaddr, (uint32_t)flags ^ tree_usual_flags(is_leaf));
	return true;
}

/* If the children of a node are in ascending order, they are distinct: no hash is needed to check it. */
static bool tree_rises(const struct cct_node *before, const struct cct_node *node)
{
	if (before->image != node->image)
		return (image_id)(before->image + 1) < (image_id)(node->image + 1); /* none comes first */
	return before->vaddr != node->vaddr ? before->vaddr < node->vaddr : before->flags < node->flags;
}

/* For a tree in another order: checks that all nodes are distinct. */
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

/* No nodes are added after reading, so no hash is built. */
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

static int tree_read_nodes(struct decoder *decoder, struct cct *cct, struct tree_state *state, uint64_t n,
			   unsigned shift, struct reader *columns)
{
	uint64_t up = n ? read_uleb(&columns[TREE_UP]) : 0, next = 0;
	uint32_t parent, frame;

	for (uint64_t i = 0; i < n; i++, up = next) {
		next = i + 1 < n ? read_uleb(&columns[TREE_UP]) : 1;
		uint64_t way = read_uleb(&columns[TREE_WAY]);
		if (!tree_read_parent(cct, up, &parent))
			return decoder_refuse(decoder, "node %zu is above the root", cct->nodes.n);
		const struct tree_frame *above = tree_frame_at(state, parent);
		uint32_t n_below = above->n_below;
		if (way > n_below ||
		    (!way && !tree_read_frame(decoder, state, parent, next != 0, shift, columns, &frame)))
			return decoder_refuse(decoder, "node %zu leads nowhere", cct->nodes.n);
		if (way)
			frame = tree_below(&state->model, above)[way - 1];
		tree_meet(state, parent, frame, way ? (uint32_t)way - 1 : n_below);
		const struct tree_frame *it = &state->model.frames.at[frame];
		vec_push(&cct->nodes, ((struct cct_node){ parent, it->image, it->vaddr, it->flags, 0 }));
	}
	return tree_finish(decoder, cct);
}

int tree_decode(struct decoder *decoder, struct profile *profile)
{
	CLEANUP(tree_state_done) struct tree_state state = { 0 };
	struct reader r = reader_of(decoder->bytes), columns[TREE_COLUMNS] = { 0 };
	uint64_t n = read_uleb(&r), shift = read_uleb(&r);

	for (size_t i = 0; i < TREE_COLUMNS; i++)
		columns[i] = reader_of(read_bytes(&r, read_uleb(&r)));
	/* Every node takes a byte of the first column, which bounds what is allocated. */
	if (r.failed || reader_left(&r) || shift > SHIFT_MAX || n > reader_left(&columns[TREE_UP]))
		return decoder_refuse(decoder, "its columns are damaged");
	if (profile->cct.nodes.n != FIRST_NODE)
		return decoder_refuse(decoder, "there are other nodes");
	tree_state_init(&state, profile->images.n, reader_left(&columns[TREE_FLAGS]));
	vec_reserve(&profile->cct.nodes, n + FIRST_NODE);
	int error = tree_read_nodes(decoder, &profile->cct, &state, n, (unsigned)shift, columns);
	for (size_t i = 0; !error && i < TREE_COLUMNS; i++)
		if (columns[i].failed || reader_left(&columns[i]))
			error = decoder_refuse(decoder, "column %zu has the wrong length", i);
	decoder->limits[REF_NODE] = profile->cct.nodes.n;
	return error;
}
