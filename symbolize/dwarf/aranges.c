/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/dwarf/aranges.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/search.h"
#include "binary/functions/stub.h"

struct aranges aranges_open(struct bytes section)
{
	return (struct aranges){ .all = reader_of(section), .set = reader_of((struct bytes){ 0 }) };
}

/* A header that names the unit, then pairs of address and length. */
static void open_set(struct aranges *a)
{
	unsigned offset_size = 4;
	uint64_t length = read_u32(&a->all);

	if (length == 0xffffffff) {
		offset_size = 8;
		length = read_u64(&a->all);
	}
	a->set = reader_of(read_bytes(&a->all, length));
	uint16_t version = read_u16(&a->set);
	a->unit = read_uint(&a->set, offset_size);
	a->address_size = read_u8(&a->set);
	uint8_t segment_size = read_u8(&a->set);
	if (a->all.failed || version != 2 || segment_size || (a->address_size != 4 && a->address_size != 8)) {
		reader_fail(&a->set);
		return;
	}
	/* Pairs are aligned to their size, counted from the start of the set. */
	size_t header = reader_offset(&a->set) + (offset_size == 8 ? 12 : 4), pair = 2u * a->address_size;
	reader_skip(&a->set, (pair - header % pair) % pair);
}

bool aranges_next(struct aranges *a, struct arange *ret)
{
	for (;;) {
		while (reader_left(&a->set) < 2u * a->address_size || a->address_size == 0) {
			if (reader_left(&a->all) == 0)
				return false;
			open_set(a);
		}
		uint64_t start = read_uint(&a->set, a->address_size),
			 len = read_uint(&a->set, a->address_size);
		*ret = (struct arange){ start, start + len, a->unit };
		if (start || len)
			return true;
		a->set.at = a->set.end; /* two zeroes end a set */
	}
}

/* ---- how much of .debug_info is needed ------------------------------------------------------- */

#define OVERLAPS_MAX 16 /* ranges that contain an address; a table with more is not worth the time */

static size_t first_from(const uint64_t *vaddrs, size_t n, uint64_t vaddr)
{
	return search_first(i, n, vaddrs[i] >= vaddr);
}

bool aranges_is_stub(const struct image *image, uint64_t vaddr)
{
	static const char *const names[] = { ".plt", ".plt.sec", ".plt.got", ".iplt" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const struct section *section = image_section(image, names[i]);
		if (section && vaddr - section->vaddr < section->size)
			return true;
	}
	return stub_is_helper(image, vaddr);
}

/* Where a unit ends; UINT64_MAX if that cannot be read. */
static uint64_t unit_end(struct image *file, const struct section *info, uint64_t offset)
{
	struct reader r = reader_of(bytes_from(image_section_start(file, info, offset + 12), offset));
	uint64_t length = read_u32(&r);

	if (length == 0xffffffff)
		length = read_u64(&r);
	uint64_t head = reader_offset(&r), size = image_section_size(file, info);
	return r.failed || offset >= size || length > size - offset - head ? UINT64_MAX
									   : offset + head + length;
}

uint64_t aranges_reach(struct image *file, const struct image *image, const uint64_t *vaddrs, size_t n)
{
	const struct section *info = dwarf_section(file, DWARF_INFO, false);
	const struct section *section = dwarf_section(file, DWARF_ARANGES, false);
	CLEANUP(freep) bool *is_met = alloc_zero(n, sizeof(*is_met));
	uint64_t last = 0, n_met = 0;

	if (!info || !section || n == 0)
		return UINT64_MAX;
	struct aranges aranges = aranges_open(image_section_bytes(file, section));
	for (struct arange arange; aranges_next(&aranges, &arange) && n_met <= n * OVERLAPS_MAX;)
		for (size_t i = first_from(vaddrs, n, arange.start); i < n && vaddrs[i] < arange.end; i++) {
			is_met[i] = true;
			last = arange.unit > last ? arange.unit : last;
			n_met++;
		}
	if (n_met > n * OVERLAPS_MAX)
		return UINT64_MAX;
	for (size_t i = 0; i < n; i++)
		if (!is_met[i] && !aranges_is_stub(image, vaddrs[i]))
			return UINT64_MAX;
	return unit_end(file, info, last);
}
