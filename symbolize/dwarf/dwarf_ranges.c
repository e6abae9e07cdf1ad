/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf_ranges: the addresses an entry covers, from .debug_ranges (DWARF 3, 4) or .debug_rnglists.
 */
#include "symbolize/dwarf/dwarf.h"
#include "symbolize/dwarf/dwarf_names.h"

static void ranges_add(vaddr_ranges *ret, uint64_t start, uint64_t end)
{
	if (start < end)
		vec_push(ret, (struct vaddr_range){ start, end });
}

/* Pairs relative to a base, which a pair with an all-ones start replaces; two zeroes end the list. */
static unsigned read_old(const struct unit *unit, uint64_t offset, vaddr_ranges *ret)
{
	const struct unit *owner = unit->skeleton ? unit->skeleton : unit;
	struct reader r = reader_of(owner->dwarf->section[DWARF_RANGES]);
	uint64_t base = unit->low_pc;
	uint64_t ones = unit->address_size == 8 ? UINT64_MAX : UINT32_MAX;

	reader_seek(&r, offset);
	unsigned n = 0;
	for (; n < RANGES_MAX; n++) {
		uint64_t start = read_uint(&r, unit->address_size), end = read_uint(&r, unit->address_size);
		if (r.failed || (start == 0 && end == 0))
			break;
		if (start == ones)
			base = end;
		else
			ranges_add(ret, base + start, base + end);
	}
	return n;
}

static uint64_t read_indexed(struct reader *r, const struct unit *unit)
{
	struct attribute attribute = { .form = DW_FORM_addrx, .value = read_uleb(r) };
	uint64_t address = 0;

	if (!attribute_address(&attribute, unit, &address))
		reader_fail(r);
	return address;
}

/* One entry of a range list; false at its end. */
static bool ranges_read_entry(struct reader *r, const struct unit *unit, uint64_t *base, vaddr_ranges *ret)
{
	uint64_t start;

	switch (read_u8(r)) {
	case DW_RLE_base_addressx:
		*base = read_indexed(r, unit);
		break;
	case DW_RLE_startx_endx:
		start = read_indexed(r, unit);
		ranges_add(ret, start, read_indexed(r, unit));
		break;
	case DW_RLE_startx_length:
		start = read_indexed(r, unit);
		ranges_add(ret, start, start + read_uleb(r));
		break;
	case DW_RLE_offset_pair:
		start = *base + read_uleb(r);
		ranges_add(ret, start, *base + read_uleb(r));
		break;
	case DW_RLE_base_address:
		*base = read_uint(r, unit->address_size);
		break;
	case DW_RLE_start_end:
		start = read_uint(r, unit->address_size);
		ranges_add(ret, start, read_uint(r, unit->address_size));
		break;
	case DW_RLE_start_length:
		start = read_uint(r, unit->address_size);
		ranges_add(ret, start, start + read_uleb(r));
		break;
	default: /* the end, or damage */
		return false;
	}
	return !r->failed;
}

static unsigned read_lists(const struct unit *unit, const struct attribute *ranges, vaddr_ranges *ret)
{
	struct reader r = reader_of(unit->dwarf->section[DWARF_RNGLISTS]);
	uint64_t base = unit->low_pc, offset = ranges->value;
	size_t before = ret->n;

	if (ranges->form == DW_FORM_rnglistx) {
		/* The index counts in a table of offsets, themselves relative to the table. */
		if (offset >= reader_left(&r))
			return 0;
		reader_seek(&r, unit->rnglists_base);
		reader_skip(&r, offset * unit->offset_size);
		offset = unit->rnglists_base + read_uint(&r, unit->offset_size);
	}
	if (r.failed)
		return 0;
	reader_seek(&r, offset);
	unsigned n = 0;
	while (n < RANGES_MAX && ranges_read_entry(&r, unit, &base, ret))
		n++;
	if (r.failed)
		ret->n = before; /* half a list is worse than none: it would give the wrong function */
	return n;
}

unsigned ranges_read(const struct unit *unit, const struct attribute *low_pc, const struct attribute *high_pc,
		     const struct attribute *ranges, vaddr_ranges *ret)
{
	uint64_t low, high;

	if (ranges->form && unit->version >= 5)
		return read_lists(unit, ranges, ret);
	if (ranges->form)
		return read_old(unit, ranges->value + (unit->skeleton ? unit->ranges_base : 0), ret);
	if (high_pc->form && attribute_address(low_pc, unit, &low)) {
		if (!attribute_address(high_pc, unit, &high))
			high = low + high_pc->value;
		ranges_add(ret, low, high);
	}
	return 1;
}

unsigned ranges_of_unit(const struct unit *unit, vaddr_ranges *ret)
{
	struct attribute low_pc = { .form = unit->has_low_pc ? DW_FORM_addr : 0, .value = unit->low_pc };

	return ranges_read(unit, &low_pc, &unit->high_pc, &unit->ranges, ret);
}
