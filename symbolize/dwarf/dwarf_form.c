/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf_form: how each form of attribute is stored, and what its value means.
 */
#include "symbolize/dwarf/dwarf.h"
#include "symbolize/dwarf/dwarf_names.h"

#define MAX_INDIRECTIONS 4 /* a form that names a form; no producer nests them */

int form_size(const struct unit *unit, uint16_t form)
{
	switch (form) {
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const:
		return 0;
	case DW_FORM_data1:
	case DW_FORM_ref1:
	case DW_FORM_flag:
	case DW_FORM_strx1:
	case DW_FORM_addrx1:
		return 1;
	case DW_FORM_data2:
	case DW_FORM_ref2:
	case DW_FORM_strx2:
	case DW_FORM_addrx2:
		return 2;
	case DW_FORM_strx3:
	case DW_FORM_addrx3:
		return 3;
	case DW_FORM_data4:
	case DW_FORM_ref4:
	case DW_FORM_strx4:
	case DW_FORM_addrx4:
	case DW_FORM_ref_sup4:
		return 4;
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8:
		return 8;
	case DW_FORM_data16:
		return 16;
	case DW_FORM_addr:
		return unit->address_size;
	case DW_FORM_ref_addr:
		return unit->version <= 2 ? unit->address_size : unit->offset_size;
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_strp_sup:
	case DW_FORM_sec_offset:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
		return unit->offset_size;
	default:
		return -1;
	}
}

static struct bytes form_read_string(struct reader *r)
{
	const uint8_t *start = r->at;

	read_cstr(r);
	return (struct bytes){ start, (size_t)(r->at - start) };
}

static uint64_t read_block_size(struct reader *r, uint16_t form)
{
	switch (form) {
	case DW_FORM_block1:
		return read_u8(r);
	case DW_FORM_block2:
		return read_u16(r);
	case DW_FORM_block4:
		return read_u32(r);
	default:
		return read_uleb(r);
	}
}

static struct attribute read_form(struct reader *r, const struct unit *unit, uint16_t form, int64_t constant)
{
	struct attribute attribute = { .form = form };
	int size = form_size(unit, form);

	if (form == DW_FORM_flag_present) {
		attribute.value = 1;
	} else if (form == DW_FORM_implicit_const) {
		attribute.value = (uint64_t)constant;
	} else if (size == 16) {
		reader_skip(r, 16);
	} else if (size >= 0) {
		attribute.value = read_uint(r, (unsigned)size);
	} else if (form == DW_FORM_string) {
		attribute.inlined = form_read_string(r);
	} else if (form == DW_FORM_sdata) {
		attribute.value = (uint64_t)read_sleb(r);
	} else {
		attribute_skip(r, unit, form);
	}
	return attribute;
}

struct attribute attribute_read(struct reader *r, const struct unit *unit, const struct attribute_spec *spec)
{
	uint16_t form = spec->form;

	for (int i = 0; form == DW_FORM_indirect && i < MAX_INDIRECTIONS; i++) {
		uint64_t next = read_uleb(r);
		form = next > UINT16_MAX ? 0 : (uint16_t)next;
	}
	switch (form) {
	case DW_FORM_udata:
	case DW_FORM_ref_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index:
		return (struct attribute){ .form = form, .value = read_uleb(r) };
	default:
		return read_form(r, unit, form, spec->constant);
	}
}

void attribute_skip(struct reader *r, const struct unit *unit, uint16_t form)
{
	switch (form) {
	case DW_FORM_string:
		read_cstr(r);
		break;
	case DW_FORM_block1:
	case DW_FORM_block2:
	case DW_FORM_block4:
	case DW_FORM_block:
	case DW_FORM_exprloc:
		reader_skip(r, read_block_size(r, form));
		break;
	case DW_FORM_udata:
	case DW_FORM_sdata:
	case DW_FORM_ref_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index:
		read_uleb(r);
		break;
	case DW_FORM_indirect:
		attribute_read(r, unit, &(struct attribute_spec){ .form = DW_FORM_indirect });
		break;
	default:
		/* A form of fixed size after an indirection, or an unknown one that cannot be skipped. */
		if (form_size(unit, form) < 0)
			reader_fail(r);
		else
			reader_skip(r, (uint64_t)form_size(unit, form));
	}
}

/* ---- what a value means -------------------------------------------------------------------- */

static const char *text_at(struct bytes section, uint64_t offset)
{
	struct reader r = reader_of(section);

	reader_seek(&r, offset);
	return read_cstr(&r);
}

/* Entry `index` of a table of offsets or addresses. */
static bool table_entry(struct bytes section, uint64_t base, uint64_t index, unsigned size, uint64_t *ret)
{
	uint64_t offset;

	if (__builtin_mul_overflow(index, (uint64_t)size, &offset) ||
	    __builtin_add_overflow(offset, base, &offset))
		return false;
	struct reader r = reader_of(bytes_slice(section, offset, size));
	*ret = read_uint(&r, size);
	return !r.failed;
}

static const char *indexed_text(const struct unit *unit, uint64_t index)
{
	uint64_t offset;

	if (!table_entry(unit->dwarf->section[DWARF_STR_OFFSETS], unit->str_offsets_base, index,
			 unit->offset_size, &offset))
		return "";
	return text_at(unit->dwarf->section[DWARF_STR], offset);
}

const char *attribute_text(const struct attribute *attribute, const struct unit *unit)
{
	const struct dwarf *dwarf = unit->dwarf;

	switch (attribute->form) {
	case DW_FORM_string:
		return attribute->inlined.len ? (const char *)attribute->inlined.at : "";
	case DW_FORM_strp:
		return text_at(dwarf->section[DWARF_STR], attribute->value);
	case DW_FORM_line_strp:
		return text_at(dwarf->section[DWARF_LINE_STR], attribute->value);
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_strp_alt:
		return dwarf->alt ? text_at(dwarf->alt->section[DWARF_STR], attribute->value) : "";
	case DW_FORM_strx:
	case DW_FORM_strx1:
	case DW_FORM_strx2:
	case DW_FORM_strx3:
	case DW_FORM_strx4:
	case DW_FORM_GNU_str_index:
		return indexed_text(unit, attribute->value);
	default:
		return "";
	}
}

bool attribute_is_address(const struct attribute *attribute)
{
	switch (attribute->form) {
	case DW_FORM_addr:
	case DW_FORM_addrx:
	case DW_FORM_addrx1:
	case DW_FORM_addrx2:
	case DW_FORM_addrx3:
	case DW_FORM_addrx4:
	case DW_FORM_GNU_addr_index:
		return true;
	default:
		return false;
	}
}

bool attribute_address(const struct attribute *attribute, const struct unit *unit, uint64_t *ret)
{
	const struct unit *owner = unit->skeleton ? unit->skeleton : unit;

	if (!attribute_is_address(attribute))
		return false;
	if (attribute->form == DW_FORM_addr) {
		*ret = attribute->value;
		return true;
	}
	return table_entry(owner->dwarf->section[DWARF_ADDR], owner->addr_base, attribute->value,
			   owner->address_size, ret);
}

bool attribute_reference(const struct attribute *attribute, const struct unit *unit,
			 const struct dwarf **ret_dwarf, uint64_t *ret_offset)
{
	switch (attribute->form) {
	case DW_FORM_ref1:
	case DW_FORM_ref2:
	case DW_FORM_ref4:
	case DW_FORM_ref8:
	case DW_FORM_ref_udata:
		if (attribute->value >= unit->end - unit->offset)
			return false;
		*ret_dwarf = unit->dwarf;
		*ret_offset = unit->offset + attribute->value;
		return true;
	case DW_FORM_ref_addr:
		*ret_dwarf = unit->dwarf;
		*ret_offset = attribute->value;
		return true;
	case DW_FORM_ref_sup4:
	case DW_FORM_ref_sup8:
	case DW_FORM_GNU_ref_alt:
		*ret_dwarf = unit->dwarf->alt;
		*ret_offset = attribute->value;
		return unit->dwarf->alt != NULL;
	default:
		return false;
	}
}
