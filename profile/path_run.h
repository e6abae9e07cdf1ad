/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path_run: the call paths of one or more profiles in order, with their values. Two are merged in one pass
 * from front to back. That takes less time than to look up every path in a large tree, where every access is
 * far from the processor; and several threads can do it, each with runs of its own.
 */
#pragma once

#include "profile/profile.h"

/* In the order of a walk through the tree: parents before their children, which ascend by image, vaddr and
 * flags. The root of incomplete stacks is the last child of the root. */
struct path_node {
	uint64_t vaddr;
	uint32_t image; /* 1 + its index in the run; 0 = none; of the root of incomplete stacks: beyond all */
	uint32_t flags;
	uint32_t depth; /* 0 = the root */
	uint32_t end;   /* of its values, which begin where those of the previous node end */
};

/* Those of a node ascend by key. */
struct path_value {
	uint64_t key; /* thread << 32 | metric */
	uint64_t value;
};

/* What is known of an image when it is first added to a run. */
struct path_image {
	image_id id; /* in the result; IMAGE_NONE if there are no nodes */
	const char *path;
	struct profile_image about;
};
typedef VEC(struct path_image) path_images;

struct path_run {
	path_images images;      /* in the order of their nodes */
	struct path_node *nodes; /* behind the last one is one without depth */
	struct path_value *values;
	size_t n_nodes, n_values;
	size_t nodes_cap, values_cap;
};

/* By number in a tree: what is there in the result. */
struct path_maps {
	struct path_image *images;
	size_t n_images;
	uint32_t *thread, *metric; /* NULL: the same */
};

/* room: an old run, which is overwritten, or NULL: memory that was used before costs less than new one. */
struct path_run *path_run_make(const struct cct *from, const struct path_maps *maps, struct path_run *room);
/* Both together; they become room for others. */
struct path_run *path_run_merge(struct path_run *a, struct path_run *b, struct path_run *room);
void path_run_free(struct path_run *run);
/* An empty run with room for so many. */
struct path_run *path_run_empty(struct path_run *room, size_t n_nodes, size_t n_values);
/* Changes the order of its images. order: all images of the run, and perhaps others. */
void path_run_reorder(struct path_run *run, const path_images *order);
/* The order that images have in a finished merge, as far as it is known before: so runs nearly always agree.
 */
void path_images_sort(path_images *images);
int path_images_compare(const void *a, const void *b);
/* Adds nodes and values to a tree that has none. */
void path_run_unpack(const struct path_run *run, struct cct *cct);
