/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run from a tree, and a tree from a run.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "profile/merge_private.h"
#include "profile/path_run.h"

/* A file has values of several kinds one after the other, each sorted by node. */
#define VALUE_RUNS 4
#define FEW 16 /* values of a node that are sorted by insertion */

struct path_maker {
	const struct cct *from;
	const struct path_maps *maps;
	struct path_run *run;
	uint32_t *image;    /* by image there: that of the run */
	uint32_t *depth;    /* by node there */
	VEC(uint32_t) path; /* nodes there: the previous one and those above it */
	bool is_incomplete; /* from here on, nodes are below CCT_INCOMPLETE */
	struct value_span {
		const struct cct_value *next, *end;
	} spans[VALUE_RUNS];
	size_t n_spans;
	VEC(struct path_value) incomplete; /* values of CCT_INCOMPLETE */
};

/* ---- values ------------------------------------------------------------------------------------- */

/* False if there are too many. */
static bool maker_find_spans(struct path_maker *maker)
{
	const struct cct_value *at = maker->from->values.at, *end = at + maker->from->values.n;

	while (at < end) {
		if (maker->n_spans == VALUE_RUNS)
			return false;
		struct value_span *span = &maker->spans[maker->n_spans++];
		span->next = at;
		for (at++; at < end && at->node >= at[-1].node; at++)
			;
		span->end = at;
	}
	return true;
}

static int maker_compare_values(const void *a, const void *b)
{
	const struct path_value *x = a, *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

static void maker_sort_values(struct path_value *values, size_t n)
{
	if (n > FEW) {
		qsort(values, n, sizeof(*values), maker_compare_values);
		return;
	}
	for (size_t i = 1; i < n; i++) {
		struct path_value value = values[i];
		size_t at = i;
		for (; at > 0 && values[at - 1].key > value.key; at--)
			values[at] = values[at - 1];
		values[at] = value;
	}
}

/* In order, each once: joined threads may have several. Returns how many remain. */
static size_t maker_settle_values(struct path_value *values, size_t n)
{
	size_t last = 0;

	maker_sort_values(values, n);
	for (size_t i = 1; i < n; i++) {
		if (values[i].key == values[last].key)
			values[last].value =
				cct_join((uint32_t)values[i].key, values[last].value, values[i].value);
		else
			values[++last] = values[i];
	}
	return last + 1;
}

/* The values of a node; nodes are asked in ascending order. */
static size_t maker_take_values(struct path_maker *maker, uint32_t node, struct path_value *to)
{
	const struct path_maps *maps = maker->maps;
	size_t n = 0;
	bool is_settled = true;

	for (size_t i = 0; i < maker->n_spans; i++) {
		struct value_span *span = &maker->spans[i];
		for (; span->next < span->end && span->next->node == node; span->next++) {
			uint32_t thread =
				maps->thread ? maps->thread[span->next->thread] : span->next->thread;
			uint32_t metric = span->next->metric;
			if (maps->metric && metric < CCT_ROUND)
				metric = maps->metric[metric];
			to[n] = (struct path_value){ (uint64_t)thread << 32 | metric, span->next->value };
			is_settled &= n == 0 || to[n - 1].key < to[n].key;
			n++;
		}
	}
	return is_settled ? n : maker_settle_values(to, n);
}

/* ---- nodes -------------------------------------------------------------------------------------- */

/* Gives numbers to the images that are used. False if two of them are the same in the result. */
static bool maker_number_images(struct path_maker *maker)
{
	const struct path_maps *maps = maker->maps;
	struct map is_there = { 0 };
	bool is_good = true;

	for (size_t i = 0; i < maps->n_images && is_good; i++) {
		if (maps->images[i].id == IMAGE_NONE)
			continue;
		is_good = map_find(&is_there, maps->images[i].id) == MAP_NONE;
		map_put(&is_there, maps->images[i].id, 1);
		vec_push(&maker->run->images, maps->images[i]);
		maker->image[i] = (uint32_t)maker->run->images.n;
	}
	map_done(&is_there);
	return is_good;
}

static void maker_put(struct path_maker *maker, struct path_node node)
{
	node.end = (uint32_t)maker->run->n_values;
	maker->run->nodes[maker->run->n_nodes++] = node;
}

static void maker_put_incomplete(struct path_maker *maker)
{
	struct path_run *run = maker->run;

	for (size_t i = 0; i < maker->incomplete.n; i++)
		run->values[run->n_values++] = maker->incomplete.at[i];
	maker_put(maker, (struct path_node){ .image = (uint32_t)run->images.n + 1, .depth = 1 });
	maker->is_incomplete = true;
	vec_clear(&maker->path);
	vec_push(&maker->path, CCT_ROOT);
	vec_push(&maker->path, CCT_INCOMPLETE);
}

static bool maker_is_before(const struct cct_node *x, const struct cct_node *y)
{
	if (x->image != y->image)
		return (image_id)(x->image + 1) < (image_id)(y->image + 1);
	return x->vaddr != y->vaddr ? x->vaddr < y->vaddr : x->flags < y->flags;
}

/* False if it is not the next one of a walk. */
static bool maker_add_node(struct path_maker *maker, uint32_t i)
{
	const struct cct_node *nodes = maker->from->nodes.at, *node = &nodes[i];
	struct path_run *run = maker->run;

	if (node->parent == CCT_INCOMPLETE && !maker->is_incomplete)
		maker_put_incomplete(maker);
	if (node->parent == CCT_ROOT && maker->is_incomplete)
		return false;
	uint32_t depth = maker->depth[node->parent] + 1;
	if (maker->path.n < depth || maker->path.at[depth - 1] != node->parent)
		return false;
	if (maker->path.n > depth && !maker_is_before(&nodes[maker->path.at[depth]], node))
		return false;
	maker->path.n = depth;
	vec_push(&maker->path, i);
	maker->depth[i] = depth;
	run->n_values += maker_take_values(maker, i, run->values + run->n_values);
	maker_put(maker,
		  (struct path_node){ .vaddr = node->vaddr,
				      .image = node->image == IMAGE_NONE ? 0 : maker->image[node->image],
				      .flags = node->flags,
				      .depth = depth });
	return true;
}

static bool maker_add_all(struct path_maker *maker)
{
	const struct cct *from = maker->from;
	struct path_run *run = maker->run;

	if (!maker_find_spans(maker) || !maker_number_images(maker))
		return false;
	run->n_values += maker_take_values(maker, CCT_ROOT, run->values);
	maker_put(maker, (struct path_node){ 0 });
	vec_push(&maker->path, CCT_ROOT);
	vec_reserve(&maker->incomplete, from->values.n);
	maker->incomplete.n = maker_take_values(maker, CCT_INCOMPLETE, maker->incomplete.at);
	maker->depth[CCT_INCOMPLETE] = 1;
	for (uint32_t i = CCT_INCOMPLETE + 1; i < from->nodes.n; i++)
		if (!maker_add_node(maker, i))
			return false;
	if (!maker->is_incomplete)
		maker_put_incomplete(maker);
	run->nodes[run->n_nodes] = (struct path_node){ 0 };
	return true;
}

/* False if the tree is not in order, or two of its images become one. */
static bool maker_try(const struct cct *from, const struct path_maps *maps, struct path_run *ret)
{
	struct path_maker maker = { .from = from, .maps = maps };

	maker.run = path_run_empty(ret, from->nodes.n, from->values.n);
	maker.image = alloc_zero(maps->n_images, sizeof(*maker.image));
	maker.depth = alloc_zero(from->nodes.n, sizeof(*maker.depth));
	bool is_good = maker_add_all(&maker);
	free(maker.image);
	free(maker.depth);
	vec_done(&maker.path);
	vec_done(&maker.incomplete);
	return is_good;
}

/* ---- trees in any order ------------------------------------------------------------------------- */

static int maker_compare_nodes(const void *a, const void *b)
{
	const struct cct_value *x = a, *y = b;

	return (x->node > y->node) - (x->node < y->node);
}

/* Sorts a tree whose images have the ids of the result. order: all of them, and perhaps others. */
static void maker_sort(struct cct *cct, const path_images *order, struct path_run *ret)
{
	size_t n = cct->nodes.n;
	struct path_maps maps = { .images = alloc_zero(order->n, sizeof(*maps.images)),
				  .n_images = order->n };
	struct map place = { 0 };

	for (uint32_t i = 0; i < order->n; i++) {
		map_put(&place, order->at[i].id, i);
		maps.images[i].id = IMAGE_NONE;
	}
	for (size_t i = 0; i < n; i++) {
		struct cct_node *node = &cct->nodes.at[i];
		if (node->image == IMAGE_NONE)
			continue;
		node->image = map_find(&place, node->image);
		maps.images[node->image] = order->at[node->image];
	}
	map_done(&place);

	CLEANUP(freep) uint32_t *was = merge_order_walk(cct);
	CLEANUP(freep) uint32_t *is = alloc_zero(n, sizeof(*is));
	struct cct_node *nodes = alloc_resize(NULL, n, sizeof(*nodes));
	for (uint32_t i = 0; i < n; i++)
		is[was[i]] = i;
	for (size_t i = 0; i < n; i++) {
		nodes[i] = cct->nodes.at[was[i]];
		nodes[i].parent = is[nodes[i].parent];
	}
	free(cct->nodes.at);
	cct->nodes.at = nodes;
	cct->nodes.cap = n;
	for (size_t i = 0; i < cct->values.n; i++)
		cct->values.at[i].node = is[cct->values.at[i].node];
	if (cct->values.n)
		qsort(cct->values.at, cct->values.n, sizeof(*cct->values.at), maker_compare_nodes);
	(void)maker_try(cct, &maps, ret);
	free(maps.images);
}

static void maker_make_sorted(const struct cct *from, const struct path_maps *maps, struct path_run *ret)
{
	CLEANUP(freep) uint32_t *node = alloc_zero(from->nodes.n, sizeof(*node));
	CLEANUP(freep) image_id *image = alloc_zero(maps->n_images, sizeof(*image));
	path_images order = { 0 };
	struct cct cct;

	for (size_t i = 0; i < maps->n_images; i++) {
		image[i] = maps->images[i].id;
		if (image[i] != IMAGE_NONE)
			vec_push(&order, maps->images[i]);
	}
	cct_init(&cct);
	cct_add_nodes(&cct, from, image, node);
	for (size_t i = 0; i < from->values.n; i++) {
		const struct cct_value *value = &from->values.at[i];
		uint32_t metric = value->metric < CCT_ROUND ? maps->metric[value->metric] : value->metric;
		cct_add_value(&cct, node[value->node], maps->thread[value->thread], metric, value->value);
	}
	cct_forget_hash(&cct);
	path_images_sort(&order);
	maker_sort(&cct, &order, ret);
	vec_done(&order);
	cct_done(&cct);
}

struct path_run *path_run_make(const struct cct *from, const struct path_maps *maps, struct path_run *room)
{
	struct path_run *run = path_run_empty(room, from->nodes.n, from->values.n);

	if (!maker_try(from, maps, run))
		maker_make_sorted(from, maps, run);
	return run;
}

void path_run_reorder(struct path_run *run, const path_images *order)
{
	struct cct cct;

	cct_init(&cct);
	path_run_unpack(run, &cct);
	maker_sort(&cct, order, run);
	cct_done(&cct);
}

void path_run_unpack(const struct path_run *run, struct cct *cct)
{
	VEC(uint32_t) path = { 0 }; /* by depth: the last node */
	uint32_t incomplete = (uint32_t)run->images.n + 1, start = 0;

	vec_reserve(&cct->nodes, run->n_nodes);
	vec_reserve(&cct->values, run->n_values);
	for (size_t i = 0; i < run->n_nodes; i++) {
		const struct path_node *node = &run->nodes[i];
		uint32_t number = (uint32_t)cct->nodes.n;
		path.n = node->depth;
		if (node->depth == 0 || node->image == incomplete) {
			number = node->depth;
		} else {
			image_id image = node->image ? run->images.at[node->image - 1].id : IMAGE_NONE;
			vec_push(&cct->nodes, ((struct cct_node){ path.at[node->depth - 1], image,
								  node->vaddr, node->flags, 0 }));
		}
		vec_push(&path, number);
		for (; start < node->end; start++)
			vec_push(&cct->values,
				 ((struct cct_value){ number, (uint32_t)(run->values[start].key >> 32),
						      (uint32_t)run->values[start].key,
						      run->values[start].value }));
	}
	vec_done(&path);
}
