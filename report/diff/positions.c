/* SPDX-License-Identifier: Apache-2.0 */
#include "report/diff/positions.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/search.h"

#define NONE UINT32_MAX
#define MAX_CELLS (16u << 20) /* of the table for the longest common subsequence */

void positions_init(struct positions *positions)
{
	*positions = (struct positions){ 0 };
	numbering_init(&positions->places, 2 * sizeof(uint64_t));
}

void positions_done(struct positions *positions)
{
	vec_done(&positions->all);
	numbering_done(&positions->places);
}

void positions_learn(struct positions *positions, const struct position *position)
{
	const uint64_t place[] = { position->build, position->vaddr };

	if (numbering_add(&positions->places, place) == positions->all.n)
		vec_push(&positions->all, *position);
}

/* ---- two orders ----------------------------------------------------------------------------------- */

/* The longest sequence of sizes that both have in this order; ties go to the earliest. */
static void align_equal(const uint64_t *left, size_t n, const uint64_t *right, size_t m, uint32_t *ret)
{
	size_t width = m + 1;
	CLEANUP(freep) uint32_t *longest = alloc_zero((n + 1) * width, sizeof(*longest));

	for (size_t i = n; i-- > 0;)
		for (size_t k = m; k-- > 0;) {
			uint32_t down = longest[(i + 1) * width + k], across = longest[i * width + k + 1];
			longest[i * width + k] = left[i] == right[k] ? longest[(i + 1) * width + k + 1] + 1
								     : (down > across ? down : across);
		}
	for (size_t i = 0, k = 0; i < n && k < m;) {
		if (left[i] == right[k])
			ret[i++] = (uint32_t)k++;
		else if (longest[(i + 1) * width + k] >= longest[i * width + k + 1])
			i++;
		else
			k++;
	}
}

/* Between two matched pairs there are as many on both sides: they were changed in place. */
static void align_gaps(size_t n, size_t m, uint32_t *ret)
{
	size_t from = 0, right = 0;

	for (size_t i = 0; i <= n; i++) {
		if (i < n && ret[i] == NONE)
			continue;
		size_t end = i < n ? ret[i] : m;
		if (i - from == end - right)
			for (size_t k = from; k < i; k++)
				ret[k] = (uint32_t)(right + k - from);
		from = i + 1;
		right = end + 1;
	}
}

void positions_align(const uint64_t *left, size_t n, const uint64_t *right, size_t m, uint32_t *ret)
{
	for (size_t i = 0; i < n; i++)
		ret[i] = NONE;
	if (n == 0 || m == 0 || n > MAX_CELLS / (m + 1))
		return;
	align_equal(left, n, right, m, ret);
	align_gaps(n, m, ret);
}

/* ---- looking up ----------------------------------------------------------------------------------- */

static int position_compare(const void *left, const void *right)
{
	const struct position *a = left, *b = right;

	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	if (a->build != b->build)
		return a->build < b->build ? -1 : 1;
	return a->vaddr < b->vaddr ? -1 : a->vaddr > b->vaddr;
}

/* Those of a module in the build that was added first, if it is different from ours. */
static size_t positions_of_other(const struct position *known, size_t n, const struct position *ours,
				 size_t *ret_first)
{
	size_t first = search_first(i, n, known[i].module >= ours->module), end = first;

	while (end < n && known[end].module == ours->module && known[end].build == known[first].build)
		end++;
	*ret_first = first;
	return first < n && known[first].module == ours->module && known[first].build != ours->build
		       ? end - first
		       : 0;
}

static void positions_find_module(const struct position *known, size_t n_known, struct position *ours,
				  size_t n)
{
	size_t first, m = positions_of_other(known, n_known, ours, &first);
	CLEANUP(freep) uint64_t *left = alloc_zero(n + 1, sizeof(*left));
	CLEANUP(freep) uint64_t *right = alloc_zero(m + 1, sizeof(*right));
	CLEANUP(freep) uint32_t *pairs = alloc_zero(n + 1, sizeof(*pairs));

	for (size_t i = 0; i < n; i++)
		left[i] = ours[i].size;
	for (size_t i = 0; i < m; i++)
		right[i] = known[first + i].size;
	positions_align(left, n, right, m, pairs);
	for (size_t i = 0; i < n; i++)
		if (pairs[i] != NONE && ours[i].function == NONE)
			ours[i].function = known[first + pairs[i]].function;
}

static void positions_find_same(const struct positions *positions, struct position *ours, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const uint64_t place[] = { ours[i].build, ours[i].vaddr };
		uint32_t number = numbering_find(&positions->places, place);
		if (number != NONE)
			ours[i].function = positions->all.at[number].function;
	}
}

void positions_find(const struct positions *positions, struct position *ours, size_t n)
{
	if (n == 0 || positions->all.n == 0)
		return;
	CLEANUP(freep) struct position *known = alloc_zero(positions->all.n, sizeof(*known));

	positions_find_same(positions, ours, n);
	memcpy(known, positions->all.at, positions->all.n * sizeof(*known));
	qsort(known, positions->all.n, sizeof(*known), position_compare);
	qsort(ours, n, sizeof(*ours), position_compare);
	for (size_t i = 0; i < n;) {
		size_t end = i;
		while (end < n && ours[end].module == ours[i].module && ours[end].build == ours[i].build)
			end++;
		positions_find_module(known, positions->all.n, ours + i, end - i);
		i = end;
	}
}
