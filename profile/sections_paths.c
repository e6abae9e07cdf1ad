/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The nodes of an epoch, in as few bytes as possible, and quick to read. First a table of all frames in
 * ascending order; then a walk through the tree, where a frame that was not called here before is its
 * distance in the table from another frame. The same functions write and read.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/symbols.h"
#include "profile/path_table.h"
#include "profile/section.h"

#define SHIFT_MAX 16
/* The reader's limits: a few bytes may encode very many. */
#define PATHS_FREE 65536
#define PATHS_PER_BYTE 64
#define FRAMES_PER_BYTE 8
#define PATHS_LIKELY 2 /* nodes per byte, to allocate memory for at once */
#define SOME_MAX 3     /* larger counts are not distinguished */
#define FAR_CLASSES 16

/* What a distance counts from: the previous child, the frame that was last called here, the caller; or
 * nothing. */
enum near { NEAR_BEFORE, NEAR_BELOW, NEAR_ABOVE, NEAR_NOTHING, NEAR_N };
/* Did the previous child have children itself? */
enum before { BEFORE_INNER, BEFORE_LEAF, BEFORE_NONE, BEFORE_N };
/* What comes next below a node: nothing, a frame that was not called here before (of the likely image, or
 * another one), or one of those that were. */
enum next { NEXT_NONE, NEXT_OTHER, NEXT_RETURN, NEXT_OTHER_IMAGE, NEXT_KNOWN };

/* A node whose children are being coded. */
struct level {
	uint32_t node;
	path_ref frame, before; /* its own; that of the previous child, or 0 */
	uint32_t n;             /* children so far, at most SOME_MAX */
	enum before kind;
};

struct models {
	/* by children so far, candidates, whether the base is a return address */
	struct symbols_model next[SOME_MAX + 1][BEFORE_N][2][PATH_BELOW_MAX + 1];
	struct symbols_flag is_return[2];
	struct symbols_model far_high[FAR_CLASSES], far_low[FAR_CLASSES][SYMBOLS_N];
	struct symbols_number image, distance[NEAR_N][2][2];
};

struct paths {
	struct cct *cct;
	size_t n, next; /* nodes: their number, and the one to code next */
	struct path_table table;
	struct models *models;
	path_ref *frame_of; /* writer: by node */
	VEC(struct level) levels;
};

static void paths_init(struct paths *p, struct cct *cct, size_t n_images)
{
	*p = (struct paths){ .cct = cct };
	path_table_init(&p->table, n_images);
	p->models = alloc_zero(1, sizeof(*p->models));
	struct models *m = p->models;
	struct symbols_model *next = &m->next[0][0][0][0];
	for (unsigned i = 0; i < sizeof(m->next) / sizeof(*next); i++)
		symbols_model_init(&next[i], NEXT_KNOWN + i % (PATH_BELOW_MAX + 1));
	for (unsigned i = 0; i < NEAR_N * 4; i++)
		symbols_number_init(&m->distance[i / 4][i / 2 % 2][i % 2]);
	m->is_return[0] = m->is_return[1] = SYMBOLS_FLAG;
	for (unsigned i = 0; i < FAR_CLASSES; i++) {
		symbols_model_init(&m->far_high[i], SYMBOLS_N);
		for (unsigned k = 0; k < SYMBOLS_N; k++)
			symbols_model_init(&m->far_low[i][k], SYMBOLS_N);
	}
	symbols_number_init(&m->image);
}

static void paths_done(struct paths *p)
{
	path_table_done(&p->table);
	free(p->models);
	free(p->frame_of);
	vec_done(&p->levels);
}

/* ---- one child ---------------------------------------------------------------------------------- */

/* The frame that is most likely of the same image as the next one. */
SYMBOLS_INLINE path_ref paths_base(const struct level *top, const struct path_list *list)
{
	return top->before ? top->before : list->n ? list->at[0] : top->frame;
}

/* A position anywhere in a class: its highest bits have models. */
SYMBOLS_INLINE uint32_t paths_anywhere(struct paths *p, struct symbols *symbols, uint32_t class,
				       uint32_t position)
{
	uint32_t n = path_class_size(&p->table, class), got = 0;
	unsigned left = n > 1 ? 32 - (unsigned)__builtin_clz(n - 1) : 0, which = class % FAR_CLASSES;
	struct symbols_model *model = &p->models->far_high[which];

	for (int i = 0; i < 2 && left; i++) {
		unsigned k = left < 4 ? left : 4;
		left -= k;
		unsigned part = symbols_code(symbols, model, position >> left & ((1u << k) - 1));
		got = got << k | part;
		model = &p->models->far_low[which][part];
	}
	return got << left | (uint32_t)symbols_plain(symbols, left, position);
}

/* The position of a frame in its class. base: the position that it is close to. */
SYMBOLS_INLINE uint32_t paths_position(struct paths *p, struct symbols *symbols, uint32_t class,
				       enum near near, bool is_same, uint32_t base, uint32_t position)
{
	struct symbols_number *number = &p->models->distance[near][class & 1][is_same];
	int32_t distance = (int32_t)(position - base);

	if (near == NEAR_BEFORE)
		return base + (uint32_t)symbols_number(symbols, number, (uint32_t)distance);
	if (near == NEAR_BELOW)
		return base + (uint32_t)symbols_signed(symbols, number, distance);
	if (near == NEAR_ABOVE) {
		uint64_t folded = symbols_fold(distance);
		unsigned length = symbols_length(symbols, &number->length, folded);
		if (length < SYMBOLS_LENGTHS - 1) /* otherwise it is far away */
			return base + (uint32_t)symbols_unfold(symbols_rest(symbols, number, length, folded));
	}
	return paths_anywhere(p, symbols, class, position);
}

/* A frame that was not called here before. frame: when writing, this one. False if there is none. */
SYMBOLS_INLINE bool paths_frame(struct paths *p, struct symbols *symbols, const struct level *top,
				const struct path_list *list, enum next next, path_ref *frame)
{
	const struct path_table *table = &p->table;
	enum near near = top->before ? NEAR_BEFORE : list->n ? NEAR_BELOW : NEAR_ABOVE;
	path_ref base = paths_base(top, list), wanted = *frame;
	uint32_t group = path_group(table, base);
	bool is_return = next == NEXT_RETURN;

	if (next == NEXT_OTHER_IMAGE) {
		uint64_t said = symbols_number(symbols, &p->models->image, path_group(table, wanted));
		if (said >= table->n_groups)
			return false;
		group = (uint32_t)said;
		bool is_below = near == NEAR_BEFORE && list->n && path_group(table, list->at[0]) == group;
		base = is_below ? list->at[0] : top->frame;
		near = is_below ? NEAR_BELOW : path_group(table, base) == group ? NEAR_ABOVE : NEAR_NOTHING;
		is_return = symbols_flag(symbols, &p->models->is_return[path_is_return(top->frame)],
					 path_is_return(wanted));
	}
	uint32_t class = group * 2 + is_return;
	bool is_same = path_is_return(base) == is_return;
	uint32_t from = path_position(table, base, is_return) + (is_same && near == NEAR_BEFORE);
	uint32_t position = paths_position(p, symbols, class, near, is_same, from,
					   table->hot[path_number(wanted)].position);
	if (position >= path_class_size(table, class))
		return false;
	*frame = table->members[table->starts[class] + position];
	return *frame > top->before;
}

/* The frames that were called here before, except those that cannot follow the previous child: a bit for each
 * in the list. All are compared, because that needs no jumps. */
SYMBOLS_INLINE uint32_t paths_candidates(const struct level *top, const struct path_list *list)
{
	uint32_t bits = 0;

	for (uint32_t i = 0; i < PATH_BELOW_MAX; i++)
		bits |= (uint32_t)(list->at[i] > top->before) << i;
	return bits;
}

/* What a writer has to say. */
static enum next paths_next(const struct paths *p, const struct level *top, const struct path_list *list,
			    uint32_t candidates)
{
	if (p->cct->nodes.at[p->next].parent != top->node)
		return NEXT_NONE;
	path_ref frame = p->frame_of[p->next];
	for (uint32_t i = 0; candidates; i++, candidates &= candidates - 1)
		if (list->at[__builtin_ctz(candidates)] == frame)
			return NEXT_KNOWN + i;
	if (path_group(&p->table, frame) != path_group(&p->table, paths_base(top, list)))
		return NEXT_OTHER_IMAGE;
	return path_is_return(frame) ? NEXT_RETURN : NEXT_OTHER;
}

/* ---- the walk ----------------------------------------------------------------------------------- */

SYMBOLS_INLINE void paths_add(struct paths *p, struct symbols *symbols, path_ref frame, uint32_t at)
{
	struct level *top = &p->levels.at[p->levels.n - 1];

	if (symbols->is_reader) /* the frame's number, for the time being */
		vec_push(&p->cct->nodes, ((struct cct_node){ top->node, 0, path_number(frame), 0, 0 }));
	path_move_up(&p->table, top->frame, frame, at);
	top->n += top->n < SOME_MAX;
	top->before = frame;
	top->kind = BEFORE_LEAF;
	if (p->levels.n > 1)
		top[-1].kind = BEFORE_INNER;
	uint32_t node = (uint32_t)p->next++;
	if (path_ends(frame) != PATH_ENDS)
		vec_push(&p->levels, ((struct level){ node, frame, 0, 0, BEFORE_NONE }));
}

/* The next child, or that there is none. False if what was read is invalid. */
SYMBOLS_INLINE bool paths_step(struct paths *p, struct symbols *symbols)
{
	const struct level *top = &p->levels.at[p->levels.n - 1];
	const struct path_list *list = path_list(&p->table, top->frame);
	uint32_t candidates = (1u << list->n) - 1, n = list->n;
	if (top->before) {
		candidates = paths_candidates(top, list);
		n = (uint32_t)__builtin_popcount(candidates);
	}
	bool is_return = path_is_return(paths_base(top, list));
	uint32_t next = symbols->is_reader ? 0 : paths_next(p, top, list, candidates), at = list->n;
	path_ref frame = symbols->is_reader ? 0 : p->frame_of[p->next];

	next = symbols_code(symbols, &p->models->next[top->n][top->kind][is_return][n], next);
	if (next == NEXT_NONE) {
		p->levels.n--;
		return true;
	}
	if (next >= NEXT_KNOWN + n)
		return false;
	if (next >= NEXT_KNOWN) {
		for (; next > NEXT_KNOWN; next--)
			candidates &= candidates - 1;
		at = (uint32_t)__builtin_ctz(candidates);
		frame = list->at[at];
	} else if (!paths_frame(p, symbols, top, list, next, &frame)) {
		return false;
	}
	paths_add(p, symbols, frame, at);
	return true;
}

/* All nodes, in the order of a walk through the tree. The coder is a variable of this function, so that it is
 * kept in registers. */
SYMBOLS_INLINE bool paths_walk(struct paths *p, struct symbols *begun, bool is_reader)
{
	struct symbols symbols = *begun;
	bool is_good = true;

	symbols.is_reader = is_reader; /* known to the compiler */
	p->next = PATH_FIRST;
	for (uint32_t root = 0; root < PATH_FIRST && is_good; root++) {
		vec_push(&p->levels,
			 ((struct level){ root, path_ref_of(root, 0, PATH_ENDS_MIXED), 0, 0, BEFORE_NONE }));
		while (p->levels.n && p->next < p->n && is_good)
			is_good = paths_step(p, &symbols);
		vec_clear(&p->levels);
	}
	*begun = symbols;
	return is_good && p->next == p->n;
}

/* ---- writing ------------------------------------------------------------------------------------ */

/* Is this the order of a walk, with children in ascending order? */
static bool paths_are_walked(const struct paths *p)
{
	const struct cct *cct = p->cct;
	CLEANUP(freep) uint32_t *last = alloc_zero(cct->nodes.n, sizeof(*last)); /* by node: its last child */
	uint32_t above = CCT_ROOT;                                               /* the previous node */

	for (uint32_t i = PATH_FIRST; i < cct->nodes.n; above = i++) {
		uint32_t parent = cct->nodes.at[i].parent;
		for (; above != parent; above = cct->nodes.at[above].parent)
			if (above == CCT_ROOT && parent != CCT_INCOMPLETE)
				return false;
			else if (above == CCT_ROOT)
				break;
		if (last[parent] >= p->frame_of[i])
			return false;
		last[parent] = p->frame_of[i];
	}
	return true;
}

static bool paths_have_usual_flags(const struct cct *cct)
{
	for (size_t i = PATH_FIRST; i < cct->nodes.n; i++)
		if (cct->nodes.at[i].flags > (CCT_IS_RETURN | CCT_IS_KERNEL))
			return false;
	return true;
}

bool paths_make(const struct profile *profile, struct writer *ret)
{
	struct cct cct = profile->cct; /* it is not changed */
	CLEANUP(paths_done) struct paths p;

	paths_init(&p, &cct, profile->images.n);
	p.n = cct.nodes.n;
	if (!paths_have_usual_flags(&cct))
		return false;
	p.frame_of = alloc_zero(p.n, sizeof(*p.frame_of));
	path_table_gather(&p.table, &cct, p.frame_of);
	if (!paths_are_walked(&p))
		return false;
	write_uleb(ret, p.n - PATH_FIRST);
	write_uleb(ret, p.table.shift);
	for (size_t i = 0; i < p.table.n_groups; i++) {
		write_uleb(ret, p.table.groups[i].n);
		if (p.table.groups[i].n)
			write_uleb(ret, p.table.groups[i].low >> p.table.shift);
	}
	size_t header = ret->len;
	struct symbols symbols = symbols_writer();
	path_table_write(&p.table, &symbols);
	path_table_classify(&p.table);
	paths_walk(&p, &symbols, false);
	symbols_finish(&symbols, ret);
	return p.n - PATH_FIRST <= PATHS_FREE + PATHS_PER_BYTE * (ret->len - header) &&
	       p.table.frames.n <= PATHS_FREE + FRAMES_PER_BYTE * (ret->len - header);
}

void paths_encode(const struct profile *profile, struct writer *ret)
{
	write_bytes(ret, writer_bytes(&profile->contexts));
}

/* ---- reading ------------------------------------------------------------------------------------ */

static int paths_read_header(struct decoder *decoder, struct paths *p, struct reader *r)
{
	uint64_t n = read_uleb(r), shift = read_uleb(r), n_frames = 0;

	if (shift > SHIFT_MAX)
		return decoder_refuse(decoder, "addresses are shifted too far");
	p->table.shift = (unsigned)shift;
	for (size_t i = 0; i < p->table.n_groups && !r->failed; i++) {
		uint64_t n_here = read_uleb(r);
		if (n_here > UINT32_MAX || n_frames + n_here > n)
			return decoder_refuse(decoder, "there are more frames than nodes");
		n_frames += n_here;
		p->table.groups[i].n = (uint32_t)n_here;
		p->table.groups[i].low = n_here ? read_uleb(r) << p->table.shift : 0;
	}
	if (r->failed || n > PATHS_FREE + (uint64_t)PATHS_PER_BYTE * reader_left(r) ||
	    n_frames > PATHS_FREE + (uint64_t)FRAMES_PER_BYTE * reader_left(r))
		return decoder_refuse(decoder, "it is too short for its nodes");
	p->n = n + PATH_FIRST;
	return 0;
}

/* The walk has only said which frame each node has: looking all of them up at once takes less time. */
static void paths_fill(struct cct *cct, const struct path_table *table)
{
	for (size_t i = PATH_FIRST; i < cct->nodes.n; i++) {
		struct cct_node *node = &cct->nodes.at[i];
		const struct path_frame *frame = &table->frames.at[node->vaddr];
		node->vaddr = frame->vaddr;
		node->image = frame->group - 1;
		node->flags = frame->flags;
	}
}

int paths_decode(struct decoder *decoder, struct profile *profile)
{
	CLEANUP(paths_done) struct paths p;
	struct reader r = reader_of(decoder->bytes);

	paths_init(&p, &profile->cct, profile->images.n);
	if (profile->cct.nodes.n != PATH_FIRST)
		return decoder_refuse(decoder, "there are other nodes");
	int error = paths_read_header(decoder, &p, &r);
	if (error)
		return error;
	size_t likely = PATHS_LIKELY * reader_left(&r);
	vec_reserve(&p.cct->nodes, p.n < likely ? p.n : likely);
	struct symbols symbols = symbols_reader(read_bytes(&r, reader_left(&r)));
	if (!path_table_read(&p.table, &symbols))
		return decoder_refuse(decoder, "frame %zu is damaged", p.table.frames.n);
	path_table_classify(&p.table);
	if (!paths_walk(&p, &symbols, true))
		return decoder_refuse(decoder, "node %zu is damaged", p.next);
	if (!symbols_are_at_end(&symbols))
		return decoder_refuse(decoder, "it has the wrong length");
	paths_fill(p.cct, &p.table);
	slots_done(&profile->cct.node_slots); /* no nodes are added after reading */
	decoder->limits[REF_NODE] = profile->cct.nodes.n;
	return 0;
}
