/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path_table: the frames of a call tree in ascending order, and what was called from each. Section 25
 * (FORMAT.md) encodes nodes with it; writer and reader build the same table.
 */
#pragma once

#include "base/symbols.h"
#include "unwinder/cct.h"

#define PATH_BELOW_MAX 12 /* most recently seen frames that are remembered below a frame */
#define PATH_FIRST (CCT_INCOMPLETE + 1)

/* Do nodes of a frame have children? */
enum path_ends { PATH_ENDS, PATH_GOES_ON, PATH_ENDS_MIXED, PATH_ENDS_N };

struct path_frame {
	uint64_t vaddr;
	uint32_t group; /* image + 1; 0 = none */
	uint8_t flags, ends;
};

/*
 * A frame's number, and what is asked most often: 8 * number + 2 * ends + (is it a return address?). They
 * compare like the frames. 0 = none.
 */
typedef uint32_t path_ref;

/* What a walk needs of a frame; few bytes, so that they are near the processor. */
struct path_hot {
	uint32_t list;     /* of what was called; 0 = nothing yet */
	uint32_t position; /* among the frames of its class: of its image, return addresses or others */
};

/* Frames below a frame, the most recent first; the others are 0. */
struct path_list {
	uint32_t n;
	path_ref at[PATH_BELOW_MAX];
};

struct path_group {
	uint32_t n, first; /* frames */
	uint64_t low;      /* the lowest address */
};

struct path_table {
	VEC(struct path_frame)
	frames;                      /* the first two are those of the roots; the others by image (none
					first), vaddr and flags */
	VEC(struct path_list) lists; /* the first is empty */
	size_t n_groups;
	struct path_group *groups;
	unsigned shift; /* addresses are multiples of 2^shift */
	struct path_hot *hot;
	path_ref *members; /* frames by class; classes are 2 * group + is_return */
	uint32_t *starts;  /* by class: its first member; and the end */
};

void path_table_init(struct path_table *table, size_t n_images);
void path_table_done(struct path_table *table);
/* The frames of a tree, and their groups. ret: by node, its frame. */
void path_table_gather(struct path_table *table, const struct cct *cct, path_ref *ret);
void path_table_write(struct path_table *table, struct symbols *symbols);
/* As many frames as the groups have. False if they are damaged. */
bool path_table_read(struct path_table *table, struct symbols *symbols);
/* Computes the classes, when the frames are there. */
void path_table_classify(struct path_table *table);

static inline path_ref path_ref_of(size_t number, unsigned flags, unsigned ends)
{
	return (path_ref)number << 3 | ends << 1 | (flags & CCT_IS_RETURN);
}

static inline uint32_t path_number(path_ref ref)
{
	return ref >> 3;
}

static inline enum path_ends path_ends(path_ref ref)
{
	return ref >> 1 & 3;
}

static inline bool path_is_return(path_ref ref)
{
	return ref & 1;
}

static inline uint32_t path_group(const struct path_table *table, path_ref ref)
{
	return table->frames.at[path_number(ref)].group;
}

/* How many frames of its image come before it, of those that are return addresses or of the others. */
static inline uint32_t path_position(const struct path_table *table, path_ref ref, bool of_returns)
{
	uint32_t number = path_number(ref), position = table->hot[number].position;

	if (path_is_return(ref) == of_returns || number < PATH_FIRST)
		return position;
	return number - table->groups[path_group(table, ref)].first - position;
}

static inline uint32_t path_class_size(const struct path_table *table, uint32_t class)
{
	return table->starts[class + 1] - table->starts[class];
}

static inline const struct path_list *path_list(const struct path_table *table, path_ref ref)
{
	return &table->lists.at[table->hot[path_number(ref)].list];
}

/* Makes a frame the most recent one below the other. at: its index there, or their number if it is new. */
static inline void path_move_up(struct path_table *table, path_ref above, path_ref frame, uint32_t at)
{
	struct path_hot *it = &table->hot[path_number(above)];

	if (!it->list) {
		it->list = (uint32_t)table->lists.n;
		vec_push(&table->lists, ((struct path_list){ 1, { frame } }));
		return;
	}
	struct path_list *list = &table->lists.at[it->list];
	if (at == list->n && list->n < PATH_BELOW_MAX)
		list->n++;
	at = at < PATH_BELOW_MAX ? at : PATH_BELOW_MAX - 1;
	for (; at > 0; at--)
		list->at[at] = list->at[at - 1];
	list->at[0] = frame;
}
