/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/path_run.h"

#include <string.h>
#include <sys/mman.h>

#include "base/hash.h"

void path_run_free(struct path_run *run)
{
	if (!run)
		return;
	vec_done(&run->images);
	free(run->nodes);
	free(run->values);
	free(run);
}

#define LARGE_PAGE (2u << 20)

/* In large pages where that is possible, which takes less time to fill. */
static void *path_alloc(size_t count, size_t size)
{
	char *block = alloc_resize(NULL, count, size);
	size_t skip = (LARGE_PAGE - (uintptr_t)block % LARGE_PAGE) % LARGE_PAGE;

	if (count * size > skip + LARGE_PAGE)
		(void)madvise(block + skip, (count * size - skip) / LARGE_PAGE * LARGE_PAGE, MADV_HUGEPAGE);
	return block;
}

struct path_run *path_run_empty(struct path_run *room, size_t n_nodes, size_t n_values)
{
	struct path_run *run = room ? room : alloc_zero(1, sizeof(*run));

	vec_clear(&run->images);
	run->n_nodes = run->n_values = 0;
	if (run->nodes_cap < n_nodes + 1) {
		free(run->nodes); /* its contents need not be copied */
		run->nodes_cap = n_nodes + 1;
		run->nodes = path_alloc(run->nodes_cap, sizeof(*run->nodes));
	}
	if (run->values_cap < n_values + 1) {
		free(run->values);
		run->values_cap = n_values + 1; /* so that there is something to point to */
		run->values = path_alloc(run->values_cap, sizeof(*run->values));
	}
	return run;
}

/* ---- images ------------------------------------------------------------------------------------- */

/* One of two runs that are merged. */
struct path_side {
	const struct path_run *run;
	uint32_t *image; /* by image of its nodes: that of the result */
	const struct path_node *next;
	uint32_t used; /* values of nodes before the next one */
};

int path_images_compare(const void *a, const void *b)
{
	const struct path_image *x = a, *y = b;
	int order = (x->about.kind > y->about.kind) - (x->about.kind < y->about.kind);

	order = order ? order : strcmp(x->path, y->path);
	order = order ? order : (int)x->about.build_id.len - (int)y->about.build_id.len;
	order = order ? order
		      : memcmp(x->about.build_id.bytes, y->about.build_id.bytes, x->about.build_id.len);
	order = order ? order : (x->about.writer > y->about.writer) - (x->about.writer < y->about.writer);
	return order ? order : (x->id > y->id) - (x->id < y->id);
}

void path_images_sort(path_images *images)
{
	if (images->n)
		qsort(images->at, images->n, sizeof(*images->at), path_images_compare);
}

/* By id: 1 + index in the list. */
static struct map path_places(const path_images *images)
{
	struct map place = { 0 };

	for (uint32_t i = 0; i < images->n; i++)
		map_put(&place, images->at[i].id, 1 + i);
	return place;
}

/* Which image comes next? Less than 0: that of a; more: that of b; 0: both are the same. */
static int path_next_image(const struct path_image *a, const struct path_image *b, const struct map *in_a,
			   const struct map *in_b)
{
	if (!a || !b)
		return a ? -1 : 1;
	if (a->id == b->id)
		return 0;
	bool a_is_common = map_find(in_b, a->id) != MAP_NONE, b_is_common = map_find(in_a, b->id) != MAP_NONE;
	if (a_is_common != b_is_common) /* the other one has to wait */
		return a_is_common ? 1 : -1;
	return path_images_compare(a, b);
}

/* An order of all images that agrees with both runs. False if they contradict each other. */
static bool path_merge_images(struct path_side *a, struct path_side *b, struct path_run *ret)
{
	const path_images *x = &a->run->images, *y = &b->run->images;
	struct map in_a = path_places(x), in_b = path_places(y);
	size_t i = 0, j = 0, n_common = 0;

	while (i < x->n || j < y->n) {
		const struct path_image *left = i < x->n ? &x->at[i] : NULL;
		const struct path_image *right = j < y->n ? &y->at[j] : NULL;
		int which = path_next_image(left, right, &in_a, &in_b);
		struct path_image next = which <= 0 ? *left : *right;
		vec_push(&ret->images, next);
		n_common += which == 0;
		if (which <= 0)
			a->image[1 + i++] = (uint32_t)ret->images.n;
		if (which >= 0)
			b->image[1 + j++] = (uint32_t)ret->images.n;
	}
	for (i = 0; i < x->n; i++)
		n_common -= map_find(&in_b, x->at[i].id) != MAP_NONE;
	map_done(&in_a);
	map_done(&in_b);
	a->image[1 + x->n] = b->image[1 + y->n] = (uint32_t)ret->images.n + 1;
	return n_common == 0; /* otherwise one of them was added twice */
}

/* Gives both the same order. */
static void path_agree(struct path_run *a, struct path_run *b)
{
	struct map known = path_places(&a->images);
	path_images order = { 0 };

	for (size_t i = 0; i < a->images.n; i++)
		vec_push(&order, a->images.at[i]);
	for (size_t i = 0; i < b->images.n; i++)
		if (map_find(&known, b->images.at[i].id) == MAP_NONE)
			vec_push(&order, b->images.at[i]);
	path_images_sort(&order);
	path_run_reorder(a, &order);
	path_run_reorder(b, &order);
	vec_done(&order);
	map_done(&known);
}

/* ---- nodes and values --------------------------------------------------------------------------- */

static inline uint32_t path_end(const struct path_run *run)
{
	return (uint32_t)run->n_values;
}

/* Nodes of one side, as long as they are deeper than the next one of the other side: a subtree. */
static void path_take_alone(struct path_run *ret, struct path_side *side, uint32_t depth)
{
	uint32_t first = side->used, shift = path_end(ret) - first;
	const struct path_node *next = side->next;
	struct path_node *to = ret->nodes + ret->n_nodes;

	do {
		*to = *next;
		to->image = side->image[next->image];
		to->end += shift;
		to++;
		next++;
	} while (next->depth > depth);
	side->next = next;
	side->used = next[-1].end;
	ret->n_nodes = (size_t)(to - ret->nodes);
	struct path_value *values = ret->values + ret->n_values;
	size_t n = side->used - first;
	for (size_t i = 0; i < n; i++)
		values[i] = side->run->values[first + i];
	ret->n_values += n;
}

/* A node that both have. */
static void path_take_both(struct path_run *ret, struct path_side *a, struct path_side *b)
{
	const struct path_value *x = a->run->values + a->used, *x_end = a->run->values + a->next->end;
	const struct path_value *y = b->run->values + b->used, *y_end = b->run->values + b->next->end;
	struct path_value *to = ret->values + ret->n_values;

	while (x < x_end && y < y_end) {
		if (x->key == y->key) {
			*to++ = (struct path_value){ x->key, cct_join((uint32_t)x->key, x->value, y->value) };
			x++;
			y++;
		} else {
			*to++ = x->key < y->key ? *x++ : *y++;
		}
	}
	while (x < x_end)
		*to++ = *x++;
	while (y < y_end)
		*to++ = *y++;
	ret->n_values = (size_t)(to - ret->values);
	struct path_node node = *a->next;
	node.image = a->image[node.image];
	node.end = path_end(ret);
	ret->nodes[ret->n_nodes++] = node;
	a->used = a->next++->end;
	b->used = b->next++->end;
}

/* Siblings, or nodes of different depth: less than 0 if the next node of a is the first of both. The deeper
 * one belongs to a subtree that is not finished yet. */
static inline int path_compare(const struct path_side *a, const struct path_side *b)
{
	const struct path_node *x = a->next, *y = b->next;
	uint32_t image = a->image[x->image], other = b->image[y->image];

	if (x->depth != y->depth)
		return x->depth > y->depth ? -1 : 1;
	if (image != other)
		return image < other ? -1 : 1;
	if (x->vaddr != y->vaddr)
		return x->vaddr < y->vaddr ? -1 : 1;
	return x->flags == y->flags ? 0 : x->flags < y->flags ? -1 : 1;
}

static void path_merge_nodes(struct path_run *ret, struct path_side *a, struct path_side *b)
{
	const struct path_node *end = a->run->nodes + a->run->n_nodes;
	const struct path_node *other_end = b->run->nodes + b->run->n_nodes;

	/* Behind the last node is one without depth, so that the others come before it. */
	while (a->next < end || b->next < other_end) {
		int which = path_compare(a, b);
		if (which == 0)
			path_take_both(ret, a, b);
		else if (which < 0)
			path_take_alone(ret, a, b->next->depth);
		else
			path_take_alone(ret, b, a->next->depth);
	}
	ret->nodes[ret->n_nodes] = (struct path_node){ 0 };
}

static struct path_side path_side_of(const struct path_run *run)
{
	return (struct path_side){ .run = run,
				   .image = alloc_zero(run->images.n + 2, sizeof(uint32_t)),
				   .next = run->nodes };
}

/* False if the images are not in the same order. */
static bool path_try_merge(const struct path_run *a, const struct path_run *b, struct path_run *ret)
{
	struct path_side left = path_side_of(a), right = path_side_of(b);
	bool is_possible = path_merge_images(&left, &right, ret);

	if (is_possible)
		path_merge_nodes(ret, &left, &right);
	free(left.image);
	free(right.image);
	return is_possible;
}

struct path_run *path_run_merge(struct path_run *a, struct path_run *b, struct path_run *room)
{
	struct path_run *ret = path_run_empty(room, a->n_nodes + b->n_nodes, a->n_values + b->n_values);

	if (!path_try_merge(a, b, ret)) {
		path_agree(a, b);
		vec_clear(&ret->images);
		(void)path_try_merge(a, b, ret);
	}
	return ret;
}
