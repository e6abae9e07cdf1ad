/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The nodes of an epoch as versions 1.4 and 1.5 wrote them: every decision while walking the tree is a few
 * bits, each coded according to its probability. The same functions write and read.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/coder.h"
#include "base/hash.h"
#include "profile/section.h"
#include "profile/tree_model.h"

#define SHIFT_MAX 16
#define FLAGS_MAX (CCT_IS_RETURN | CCT_IS_KERNEL)
#define NO_FRAME UINT32_MAX
/* The reader's limit on nodes: a few bytes may encode very many. */
#define NODES_FREE 65536
#define NODES_PER_BYTE 64
#define NODES_LIKELY 2 /* nodes per byte, to allocate memory for at once */
#define SOME_MAX 3     /* larger counts are not distinguished */
#define MANY_MAX 7
#define LOW_BITS 8      /* of shifted addresses, coded without a model */
#define PREFIXES_LOG 16 /* models of the higher bits; two addresses may share one */

/* What an address is close to: nothing known, the previous child, or the frame that was last called
 * here. */
enum near { NEAR_NOTHING, NEAR_BEFORE, NEAR_BELOW, NEAR_N };
/* Did the previous child have children itself? */
enum before { BEFORE_INNER, BEFORE_LEAF, BEFORE_NONE, BEFORE_N };

/* A node whose children are being coded. */
struct level {
	uint32_t node, frame;
	uint32_t before; /* frame of the previous child, or NO_FRAME */
	uint32_t n;      /* children so far */
	enum before kind;
};

struct range {
	uint64_t low;   /* the lowest address */
	unsigned width; /* of all others, as shifted offsets from it, in bits */
};

struct models {
	struct coder_model more[SOME_MAX + 1][2][SOME_MAX + 1][BEFORE_N];
	struct coder_model is_known[MANY_MAX + 1][SOME_MAX + 1][2];
	struct coder_model which[BELOW_MAX][MANY_MAX + 1][SOME_MAX + 1];
	struct coder_model is_other_image[BEFORE_N];
	struct coder_model is_return[2], is_kernel[2];
	struct coder_model prefixes[1 << PREFIXES_LOG];
	struct coder_number image, step[NEAR_N][2];
};

struct contexts {
	struct cct *cct;
	size_t n, next; /* nodes: their number, and the one to code next */
	unsigned shift;
	size_t n_images;
	struct range *ranges; /* by image; the last: without an image */
	struct tree_model model;
	struct models *models;
	VEC(struct level) levels;
};

static void contexts_init(struct contexts *c, struct cct *cct, size_t n_images)
{
	*c = (struct contexts){ .cct = cct, .n_images = n_images };
	c->ranges = alloc_zero(n_images + 1, sizeof(*c->ranges));
	c->models = alloc_zero(1, sizeof(*c->models));
	coder_models_init(&c->models->more[0][0][0][0],
			  offsetof(struct models, image) / sizeof(struct coder_model));
	coder_number_init(&c->models->image);
	for (int i = 0; i < NEAR_N; i++)
		for (int j = 0; j < 2; j++)
			coder_number_init(&c->models->step[i][j]);
	tree_model_init(&c->model, 0);
}

static void contexts_done(struct contexts *c)
{
	tree_model_done(&c->model);
	free(c->ranges);
	free(c->models);
	vec_done(&c->levels);
}

static size_t contexts_image(const struct contexts *c, image_id image)
{
	return image < c->n_images ? image : c->n_images;
}

/* Children of a node are in ascending order. */
static bool contexts_rise(const struct tree_frame *before, const struct tree_frame *frame)
{
	if (before->image != frame->image)
		return (image_id)(before->image + 1) < (image_id)(frame->image + 1); /* none comes first */
	return before->vaddr != frame->vaddr ? before->vaddr < frame->vaddr : before->flags < frame->flags;
}

/* ---- one child ---------------------------------------------------------------------------------- */

static struct coder_model *contexts_prefix(struct contexts *c, size_t image, unsigned is_return,
					   uint64_t prefix)
{
	uint64_t hash = (image * 2 + is_return) * 0x9e3779b97f4a7c15u ^ prefix * 0xd6e8feb86659fd93u;

	return &c->models->prefixes[(hash * 0x9e3779b97f4a7c15u) >> (64 - PREFIXES_LOG)];
}

/* Bit by bit, the highest first, each predicted from the bits so far; the lowest are not predicted. */
CODER_INLINE uint64_t contexts_anywhere(struct contexts *c, struct coder *coder, size_t image,
					unsigned is_return, uint64_t offset)
{
	uint64_t got = 1;

	for (unsigned at = c->ranges[image].width; at > LOW_BITS; at--) {
		struct coder_model *model = contexts_prefix(c, image, is_return, got);
		got = got << 1 | coder_bit(coder, model, offset >> (at - 1) & 1);
	}
	unsigned low = c->ranges[image].width < LOW_BITS ? c->ranges[image].width : LOW_BITS;
	got ^= (uint64_t)1 << (c->ranges[image].width - low);
	return got << low | coder_bits(coder, low, offset);
}

/* The address of a frame that was not called here before. base: the address that it is close to. */
CODER_INLINE uint64_t contexts_vaddr(struct contexts *c, struct coder *coder, size_t image,
				     unsigned is_return, enum near near, uint64_t base, uint64_t vaddr)
{
	struct coder_number *number = &c->models->step[near][is_return];
	int64_t step = (int64_t)(vaddr - base) >> c->shift;

	if (near == NEAR_NOTHING)
		return c->ranges[image].low + (contexts_anywhere(c, coder, image, is_return,
								 (vaddr - c->ranges[image].low) >> c->shift)
					       << c->shift);
	if (near == NEAR_BEFORE) /* it is not less */
		step = (int64_t)coder_number(coder, number, (uint64_t)step);
	else
		step = coder_signed(coder, number, step);
	return base + ((uint64_t)step << c->shift);
}

/* A frame that was not called here before; node: NULL when reading. False if there is no such image. */
CODER_INLINE bool contexts_frame(struct contexts *c, struct coder *coder, const struct level *top,
				 const struct cct_node *node, uint32_t *ret)
{
	const struct tree_frame *frames = c->model.frames.at, *above = &frames[top->frame];
	const struct tree_frame *before = top->before != NO_FRAME ? &frames[top->before] : NULL;
	const struct tree_frame *below = above->n_below ? &frames[tree_below(&c->model, above)[0]] : NULL;
	image_id image = before ? before->image : below ? below->image : above->image;
	unsigned is_other = node && node->image != image;

	if (coder_bit(coder, &c->models->is_other_image[before ? 0 : below ? 1 : 2], is_other)) {
		uint64_t said =
			coder_number(coder, &c->models->image, node ? (image_id)(node->image + 1) : 0);
		if (said > c->n_images)
			return false;
		image = (image_id)said - 1;
	}
	uint32_t flags = node ? node->flags : 0;
	unsigned is_return = coder_bit(coder, &c->models->is_return[above->flags & 1], flags & 1);
	unsigned is_kernel = coder_bit(coder, &c->models->is_kernel[above->flags >> 1 & 1], flags >> 1 & 1);
	enum near near = before && before->image == image ? NEAR_BEFORE
			 : below && below->image == image ? NEAR_BELOW
							  : NEAR_NOTHING;
	uint64_t base = near == NEAR_BEFORE ? before->vaddr : near == NEAR_BELOW ? below->vaddr : 0;
	uint64_t vaddr = contexts_vaddr(c, coder, contexts_image(c, image), is_return, near, base,
					node ? node->vaddr : 0);
	*ret = tree_frame_of(&c->model, image, vaddr, is_return | is_kernel << 1);
	return true;
}

/* Which of the frames that were called here before; those that cannot follow the previous child are left
 * out. */
CODER_INLINE bool contexts_known(struct contexts *c, struct coder *coder, const struct level *top,
				 uint32_t wanted, uint32_t *ret, uint32_t *ret_at)
{
	const struct tree_frame *above = &c->model.frames.at[top->frame];
	const struct tree_frame *before = top->before != NO_FRAME ? &c->model.frames.at[top->before] : NULL;
	const uint32_t *list = above->n_below ? tree_below(&c->model, above) : NULL;
	uint32_t places[BELOW_MAX], n = 0, which = BELOW_MAX;

	for (uint32_t i = 0; i < above->n_below; i++) {
		if (before && !contexts_rise(before, &c->model.frames.at[list[i]]))
			continue;
		which = list[i] == wanted ? n : which;
		places[n++] = i;
	}
	uint32_t many = n < MANY_MAX ? n : MANY_MAX, some = top->n < SOME_MAX ? top->n : SOME_MAX;
	*ret_at = above->n_below;
	if (!n || !coder_bit(coder, &c->models->is_known[many][some][above->flags & 1], which < BELOW_MAX))
		return false;
	uint32_t i = 0;
	while (i + 1 < n && !coder_bit(coder, &c->models->which[i][many][some], i == which))
		i++;
	*ret_at = places[i];
	*ret = list[places[i]];
	return true;
}

/* ---- the walk ----------------------------------------------------------------------------------- */

/* The next node when writing. */
CODER_INLINE const struct cct_node *contexts_next(const struct contexts *c, const struct coder *coder)
{
	return coder->out ? &c->cct->nodes.at[c->next] : NULL;
}

CODER_INLINE bool contexts_more(struct contexts *c, struct coder *coder, const struct level *top)
{
	const struct cct_node *next = contexts_next(c, coder);
	const struct tree_frame *frame = &c->model.frames.at[top->frame];
	unsigned some = top->n < SOME_MAX ? top->n : SOME_MAX;
	unsigned below = frame->n_below < SOME_MAX ? frame->n_below : SOME_MAX;

	return coder_bit(coder, &c->models->more[some][frame->flags & 1][below][top->kind],
			 next && next->parent == top->node);
}

/* False if what was read is invalid. */
CODER_INLINE bool contexts_child(struct contexts *c, struct coder *coder)
{
	struct level *top = &c->levels.at[c->levels.n - 1];
	const struct cct_node *node = contexts_next(c, coder);
	uint32_t frame = node ? tree_frame_of(&c->model, node->image, node->vaddr, node->flags) : NO_FRAME,
		 at;

	if (!contexts_known(c, coder, top, frame, &frame, &at) &&
	    !contexts_frame(c, coder, top, node, &frame))
		return false;
	const struct tree_frame *it = &c->model.frames.at[frame];
	if (top->before != NO_FRAME && !contexts_rise(&c->model.frames.at[top->before], it))
		return false;
	if (!node)
		vec_push(&c->cct->nodes,
			 ((struct cct_node){ top->node, it->image, it->vaddr, it->flags, 0 }));
	tree_move_up(&c->model, top->frame, frame, at);
	top->n++;
	top->before = frame;
	top->kind = BEFORE_LEAF;
	if (c->levels.n > 1)
		top[-1].kind = BEFORE_INNER;
	vec_push(&c->levels, ((struct level){ (uint32_t)c->next++, frame, NO_FRAME, 0, BEFORE_NONE }));
	return true;
}

/* All nodes, in the order of a walk through the tree. The coder is a variable of this function, so that it is
 * kept in registers. */
CODER_INLINE bool contexts_walk(struct contexts *c, struct coder *begun)
{
	struct coder coder = *begun;
	bool is_good = true;

	c->next = FIRST_NODE;
	for (uint32_t root = 0; root < FIRST_NODE && is_good; root++) {
		vec_push(&c->levels, ((struct level){ root, root, NO_FRAME, 0, BEFORE_NONE }));
		while (c->levels.n && c->next < c->n && is_good) {
			if (!contexts_more(c, &coder, &c->levels.at[c->levels.n - 1]))
				c->levels.n--;
			else
				is_good = contexts_child(c, &coder);
		}
		vec_clear(&c->levels);
	}
	*begun = coder;
	return is_good && c->next == c->n;
}

/* ---- writing ------------------------------------------------------------------------------------ */

/* Is this the order of a walk, with children in ascending order? */
static bool contexts_are_walked(const struct cct *cct)
{
	CLEANUP(freep) uint32_t *last = alloc_zero(cct->nodes.n, sizeof(*last)); /* by node: its last child */
	uint32_t above = CCT_ROOT;                                               /* the previous node */

	for (uint32_t i = FIRST_NODE; i < cct->nodes.n; above = i++) {
		const struct cct_node *node = &cct->nodes.at[i];
		for (; above != node->parent; above = cct->nodes.at[above].parent)
			if (above == CCT_ROOT && node->parent != CCT_INCOMPLETE)
				return false;
			else if (above == CCT_ROOT)
				break;
		const struct cct_node *before = &cct->nodes.at[last[node->parent]];
		struct tree_frame a = { .image = before->image,
					.vaddr = before->vaddr,
					.flags = before->flags };
		struct tree_frame b = { .image = node->image, .vaddr = node->vaddr, .flags = node->flags };
		if (node->flags > FLAGS_MAX || (last[node->parent] && !contexts_rise(&a, &b)))
			return false;
		last[node->parent] = i;
	}
	return true;
}

static void contexts_measure(struct contexts *c)
{
	CLEANUP(freep) uint64_t *high = alloc_zero(c->n_images + 1, sizeof(*high));

	for (size_t i = 0; i <= c->n_images; i++)
		c->ranges[i].low = UINT64_MAX;
	for (size_t i = FIRST_NODE; i < c->n; i++) {
		const struct cct_node *node = &c->cct->nodes.at[i];
		size_t image = contexts_image(c, node->image);
		if (node->vaddr < c->ranges[image].low)
			c->ranges[image].low = node->vaddr;
		if (node->vaddr > high[image])
			high[image] = node->vaddr;
	}
	for (size_t i = 0; i <= c->n_images; i++) {
		struct range *range = &c->ranges[i];
		range->low = range->low == UINT64_MAX ? 0 : range->low;
		uint64_t most = high[i] > range->low ? (high[i] - range->low) >> c->shift : 0;
		range->width = most ? 64 - (unsigned)__builtin_clzll(most) : 0;
	}
}

bool contexts_make(const struct profile *profile, struct writer *ret)
{
	struct cct cct = profile->cct; /* it is not changed */
	CLEANUP(contexts_done) struct contexts c;

	contexts_init(&c, &cct, profile->images.n);
	c.n = cct.nodes.n;
	c.shift = tree_shift(&cct);
	if (!contexts_are_walked(&cct))
		return false;
	contexts_measure(&c);
	write_uleb(ret, c.n - FIRST_NODE);
	write_uleb(ret, c.shift);
	for (size_t i = 0; i <= c.n_images; i++) {
		write_uleb(ret, c.ranges[i].width);
		write_uleb(ret, c.ranges[i].low >> c.shift);
	}
	size_t header = ret->len;
	struct coder coder = coder_writer(ret);
	contexts_walk(&c, &coder);
	coder_finish(&coder);
	return c.n - FIRST_NODE <= NODES_FREE + NODES_PER_BYTE * (ret->len - header);
}

/* Section 23 is only read; it is no longer written. */
void contexts_encode(const struct profile *profile, struct writer *ret)
{
	(void)profile;
	(void)ret;
}

/* ---- reading ------------------------------------------------------------------------------------ */

static int contexts_read_header(struct decoder *decoder, struct contexts *c, struct reader *r)
{
	uint64_t n = read_uleb(r), shift = read_uleb(r);

	if (shift > SHIFT_MAX)
		return decoder_refuse(decoder, "addresses are shifted too far");
	c->shift = (unsigned)shift;
	for (size_t i = 0; i <= c->n_images && !r->failed; i++) {
		uint64_t width = read_uleb(r);
		c->ranges[i].low = read_uleb(r) << shift;
		if (width > 64 - shift)
			return decoder_refuse(decoder, "addresses of image %zu have too many bits", i);
		c->ranges[i].width = (unsigned)width;
	}
	if (r->failed || n > NODES_FREE + (uint64_t)NODES_PER_BYTE * reader_left(r))
		return decoder_refuse(decoder, "it is too short for its nodes");
	c->n = n + FIRST_NODE;
	return 0;
}

int contexts_decode(struct decoder *decoder, struct profile *profile)
{
	CLEANUP(contexts_done) struct contexts c;
	struct reader r = reader_of(decoder->bytes);

	contexts_init(&c, &profile->cct, profile->images.n);
	if (profile->cct.nodes.n != FIRST_NODE)
		return decoder_refuse(decoder, "there are other nodes");
	int error = contexts_read_header(decoder, &c, &r);
	if (error)
		return error;
	vec_reserve(&c.cct->nodes,
		    c.n < NODES_LIKELY * reader_left(&r) ? c.n : NODES_LIKELY * reader_left(&r));
	struct coder coder = coder_reader(read_bytes(&r, reader_left(&r)));
	if (!contexts_walk(&c, &coder))
		return decoder_refuse(decoder, "node %zu is damaged", c.next);
	if (!coder_is_at_end(&coder))
		return decoder_refuse(decoder, "it has the wrong length");
	slots_done(&profile->cct.node_slots); /* no nodes are added after reading */
	decoder->limits[REF_NODE] = profile->cct.nodes.n;
	return 0;
}
