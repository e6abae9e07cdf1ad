/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of merge that gives values their final numbers and order without packing them first.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "profile/merge_private.h"

#define FEW 16 /* values of a node that are sorted by insertion */

static int plain_compare(const void *a, const void *b)
{
	const struct cct_value *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->metric > y->metric) - (x->metric < y->metric);
}

static void plain_sort(struct cct_value *values, size_t n)
{
	if (n > FEW) {
		qsort(values, n, sizeof(*values), plain_compare);
		return;
	}
	for (size_t i = 1; i < n; i++) {
		struct cct_value value = values[i];
		size_t at = i;
		for (; at > 0 && plain_compare(&values[at - 1], &value) > 0; at--)
			values[at] = values[at - 1];
		values[at] = value;
	}
}

/* With their final numbers. ret_ends: by node, the end of its values. */
static void plain_renumber(struct merger *m, uint32_t *ret_ends)
{
	struct cct *cct = &m->all->cct;
	CLEANUP(freep) uint32_t *node = alloc_zero(cct->nodes.n + 1, sizeof(*node));

	for (uint32_t i = 0; i < cct->nodes.n; i++)
		node[m->values->list[i]] = i;
	for (size_t i = 0; i < cct->values.n; i++) {
		struct cct_value *value = &cct->values.at[i];
		value->node = node[value->node];
		value->thread = m->values->thread[value->thread];
		value->metric = value->metric < CCT_ROUND ? m->values->metric[value->metric] : value->metric;
		ret_ends[value->node]++;
	}
	for (size_t i = 1; i < cct->nodes.n; i++)
		ret_ends[i] += ret_ends[i - 1];
}

void merge_plain(struct merger *m)
{
	struct cct *cct = &m->all->cct;
	size_t n = cct->values.n;
	CLEANUP(freep) uint32_t *places = alloc_zero(cct->nodes.n + 1, sizeof(*places));

	plain_renumber(m, places);
	places[cct->nodes.n] = (uint32_t)n;
	struct cct_value *sorted = alloc_resize(NULL, n + 1, sizeof(*sorted));
	for (size_t i = n; i-- > 0;) /* from the end: the ends become the starts */
		sorted[--places[cct->values.at[i].node]] = cct->values.at[i];
	free(cct->values.at);
	cct->values.at = sorted;
	cct->values.cap = n + 1;
	for (size_t i = 0; i < cct->nodes.n; i++)
		plain_sort(sorted + places[i], places[i + 1] - places[i]);
}
