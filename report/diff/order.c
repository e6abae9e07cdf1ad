/* SPDX-License-Identifier: Apache-2.0 */
#include "report/diff/order.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"

#define NEAR 8 /* lines */

struct sorted {
	uint32_t key, at;
};

static int sorted_compare(const void *left, const void *right)
{
	const struct sorted *a = left, *b = right;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

/* Those that are not matched yet, by their distance from the start or from the end. */
static struct sorted *order_sort(const struct order_place *places, size_t n, const uint32_t *taken,
				 int from_end, size_t *ret_n)
{
	struct sorted *sorted = alloc_zero(n + 1, sizeof(*sorted));
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (taken[i] == ORDER_NONE && !(from_end && places[i].end == ORDER_NONE))
			sorted[kept++] =
				(struct sorted){ from_end ? places[i].end : places[i].start, (uint32_t)i };
	qsort(sorted, kept, sizeof(*sorted), sorted_compare);
	*ret_n = kept;
	return sorted;
}

struct pairing {
	const struct order_place *known, *ours;
	size_t n, m;
	uint32_t *of_known, *of_ours;
};

static size_t order_pair_equal(struct pairing *pairing, int from_end)
{
	size_t n, m, pairs = 0;
	CLEANUP(freep)
	struct sorted *known = order_sort(pairing->known, pairing->n, pairing->of_known, from_end, &n);
	CLEANUP(freep)
	struct sorted *ours = order_sort(pairing->ours, pairing->m, pairing->of_ours, from_end, &m);

	for (size_t i = 0, k = 0; i < n && k < m;) {
		if (known[i].key != ours[k].key) {
			*(known[i].key < ours[k].key ? &i : &k) += 1;
			continue;
		}
		pairing->of_ours[ours[k].at] = known[i].at;
		pairing->of_known[known[i].at] = ours[k].at;
		i++, k++, pairs++;
	}
	return pairs;
}

/* The rest, if they are nearly at the same place: compilers do not agree on where a loop begins. */
static void order_pair_near(struct pairing *pairing)
{
	size_t n, m;
	CLEANUP(freep)
	struct sorted *known = order_sort(pairing->known, pairing->n, pairing->of_known, 0, &n);
	CLEANUP(freep) struct sorted *ours = order_sort(pairing->ours, pairing->m, pairing->of_ours, 0, &m);

	for (size_t i = 0, k = 0; i < n && k < m;) {
		uint32_t apart =
			known[i].key < ours[k].key ? ours[k].key - known[i].key : known[i].key - ours[k].key;
		if (apart <= NEAR) {
			pairing->of_ours[ours[k++].at] = known[i++].at;
			continue;
		}
		*(known[i].key < ours[k].key ? &i : &k) += 1;
	}
}

static void order_pair_all(struct pairing *pairing)
{
	size_t n;

	for (size_t i = 0; i < pairing->n; i++)
		pairing->of_known[i] = pairing->of_ours[i] = ORDER_NONE;
	CLEANUP(freep)
	struct sorted *known = order_sort(pairing->known, pairing->n, pairing->of_known, 0, &n);
	CLEANUP(freep) struct sorted *ours = order_sort(pairing->ours, pairing->m, pairing->of_ours, 0, &n);
	for (size_t i = 0; i < n; i++)
		pairing->of_ours[ours[i].at] = known[i].at;
}

void order_match(const struct order_place *known, size_t n, const struct order_place *ours, size_t m,
		 uint32_t *ret)
{
	CLEANUP(freep) uint32_t *of_known = alloc_zero(n + 1, sizeof(*of_known));
	struct pairing pairing = { known, ours, n, m, of_known, ret };

	for (size_t i = 0; i < n; i++)
		of_known[i] = ORDER_NONE;
	for (size_t i = 0; i < m; i++)
		ret[i] = ORDER_NONE;
	if (order_pair_equal(&pairing, 0) == m)
		return;
	if (n == m) {
		order_pair_all(&pairing);
		return;
	}
	order_pair_equal(&pairing, 1);
	order_pair_near(&pairing);
}
