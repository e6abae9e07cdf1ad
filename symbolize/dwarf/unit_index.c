/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/dwarf/unit_index.h"

#include <stdlib.h>

#include "base/search.h"
#include "symbolize/dwarf/aranges.h"
#include "symbolize/dwarf/dwarf_names.h"

#define MAX_RANGES_READ (64u << 20) /* by all units: many may refer to one long list */

static int unit_index_compare(const void *left, const void *right)
{
	const struct unit_extent *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->unit < b->unit ? -1 : a->unit > b->unit;
}

static void unit_index_add(struct unit_index *index, const struct image *image, uint64_t start, uint64_t end,
			   uint32_t unit)
{
	if (start < end && image_is_executable(image, start))
		vec_push(&index->extents, (struct unit_extent){ start, end, unit });
}

/* For units that do not say themselves what they cover. */
static void add_aranges(struct unit_index *index, const struct dwarf *dwarf, const struct image *image,
			const bool *is_known)
{
	struct aranges aranges = aranges_open(dwarf->section[DWARF_ARANGES]);
	const struct unit *unit = NULL;

	for (struct arange arange; aranges_next(&aranges, &arange);) {
		if (arange.unit >= dwarf->section[DWARF_INFO].len)
			continue; /* nothing in that part was requested */
		if (!unit || unit->offset != arange.unit)
			unit = dwarf_unit_at(dwarf, arange.unit);
		uint32_t number = unit ? (uint32_t)(unit - dwarf->units.at) : 0;
		if (unit && !is_known[number])
			unit_index_add(index, image, arange.start, arange.end, number);
	}
}

static bool has_code(const struct unit *unit)
{
	return unit->type == DW_UT_compile || unit->type == DW_UT_skeleton ||
	       unit->type == DW_UT_split_compile;
}

void unit_index_build(struct unit_index *index, const struct dwarf *dwarf, const struct image *image)
{
	bool *is_known = alloc_zero(dwarf->units.n, sizeof(*is_known));
	vaddr_ranges ranges = { 0 };
	uint64_t n_read = 0;

	for (size_t i = 0; i < dwarf->units.n && n_read < MAX_RANGES_READ; i++) {
		if (!has_code(&dwarf->units.at[i]))
			continue;
		vec_clear(&ranges);
		n_read += ranges_of_unit(&dwarf->units.at[i], &ranges);
		/* Without a list of ranges the bounds may be only those of the first section. */
		is_known[i] = dwarf->units.at[i].ranges.form && ranges.n > 0;
		for (size_t j = 0; j < ranges.n; j++)
			unit_index_add(index, image, ranges.at[j].start, ranges.at[j].end, (uint32_t)i);
	}
	add_aranges(index, dwarf, image, is_known);
	vec_done(&ranges);
	free(is_known);

	index->is_blind = index->extents.n == 0;
	for (size_t i = 0; index->is_blind && i < dwarf->units.n; i++)
		if (has_code(&dwarf->units.at[i]))
			vec_push(&index->extents, (struct unit_extent){ 0, UINT64_MAX, (uint32_t)i });

	uint64_t reach = 0;
	if (index->extents.n)
		qsort(index->extents.at, index->extents.n, sizeof(*index->extents.at), unit_index_compare);
	index->reach = alloc_zero(index->extents.n, sizeof(*index->reach));
	for (size_t i = 0; i < index->extents.n; i++) {
		reach = index->extents.at[i].end > reach ? index->extents.at[i].end : reach;
		index->reach[i] = reach;
	}
}

void unit_index_done(struct unit_index *index)
{
	vec_done(&index->extents);
	free(index->reach);
	index->reach = NULL;
}

static bool unit_index_has(const uint32_t *list, size_t n, uint32_t unit)
{
	for (size_t i = 0; i < n; i++)
		if (list[i] == unit)
			return true;
	return false;
}

size_t unit_index_find(const struct unit_index *index, uint64_t vaddr, uint32_t ret[UNIT_INDEX_MAX])
{
	size_t behind = search_first(i, index->extents.n, index->extents.at[i].start > vaddr), n = 0;

	for (size_t i = behind; i > 0 && index->reach[i - 1] > vaddr && n < UNIT_INDEX_MAX; i--) {
		const struct unit_extent *extent = &index->extents.at[i - 1];
		if (extent->end > vaddr && !unit_index_has(ret, n, extent->unit))
			ret[n++] = extent->unit;
	}
	return n;
}
