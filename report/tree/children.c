/* SPDX-License-Identifier: Apache-2.0 */
#include "report/tree/children.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

struct weighted {
	uint64_t weight;
	uint32_t node;
};

static int heaviest_first(const void *left, const void *right)
{
	const struct weighted *a = left, *b = right;

	if (a->weight != b->weight)
		return a->weight < b->weight ? 1 : -1;
	return a->node < b->node ? -1 : a->node > b->node;
}

static void sort_siblings(struct children *children, const struct children_of *tree)
{
	VEC(struct weighted) row = { 0 };

	for (size_t i = 0; i < tree->n; i++) {
		uint32_t *at = children->order + children->first[i];
		size_t count = children->first[i + 1] - children->first[i];
		if (count < 2)
			continue;
		vec_clear(&row);
		for (size_t k = 0; k < count; k++)
			vec_push(&row, (struct weighted){ tree->weight(tree->context, at[k], tree->metric),
							  at[k] });
		qsort(row.at, count, sizeof(*row.at), heaviest_first);
		for (size_t k = 0; k < count; k++)
			at[k] = row.at[k].node;
	}
	vec_done(&row);
}

void children_init(struct children *children, const struct children_of *tree)
{
	size_t n = tree->n;

	children->first = alloc_zero(n + 2, sizeof(uint32_t));
	children->order = alloc_zero(n, sizeof(uint32_t));
	/* Counted one position further, so that filling moves first[] to its final values. */
	for (uint32_t i = 1; i < n; i++)
		children->first[tree->parent(tree->context, i) + 2]++;
	for (size_t i = 1; i < n + 2; i++)
		children->first[i] += children->first[i - 1];
	for (uint32_t i = 1; i < n; i++)
		children->order[children->first[tree->parent(tree->context, i) + 1]++] = i;
	if (tree->weight)
		sort_siblings(children, tree);
}

static uint32_t children_parent_of(const void *context, uint32_t node)
{
	return document_parent(context, node);
}

static uint64_t children_weight_of(const void *context, uint32_t node, uint32_t metric)
{
	return document_inclusive(context, node, metric);
}

void children_of_document(struct children *children, const struct document *document, uint32_t metric)
{
	children_init(children,
		      &(struct children_of){ .n = document->n_nodes,
					     .context = document,
					     .parent = children_parent_of,
					     .weight = metric == NO_METRIC ? NULL : children_weight_of,
					     .metric = metric });
}

void children_done(struct children *children)
{
	free(children->first);
	free(children->order);
}

struct level {
	uint32_t node, next;
};

void children_walk(const struct children *children, size_t n,
		   void (*visit)(void *context, uint32_t node, uint32_t depth), void *context)
{
	VEC(struct level) path = { 0 };

	if (n == 0)
		return;
	visit(context, 0, 0);
	vec_push(&path, (struct level){ 0, children->first[0] });
	while (path.n) {
		struct level *top = &path.at[path.n - 1];
		if (top->next == children->first[top->node + 1]) {
			path.n--;
			continue;
		}
		uint32_t child = children->order[top->next++];
		visit(context, child, (uint32_t)path.n);
		vec_push(&path, (struct level){ child, children->first[child] });
	}
	vec_done(&path);
}
