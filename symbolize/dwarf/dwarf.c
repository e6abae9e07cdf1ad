/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf: sections and units. Only the header and the root entry of each unit are read here; the rest of a
 * unit is read when an address is in it.
 */
#include "symbolize/dwarf/dwarf.h"

#include <stdio.h>

#include "base/search.h"
#include "symbolize/dwarf/dwarf_names.h"

#define MAX_UNITS (4u << 20)
/* Read in search of the roots of all units; many units may use one long table. */
#define MAX_ABBREV_BYTES (4ull << 30)

static const char *const section_names[DWARF_SECTION_N] = {
	[DWARF_INFO] = "info",       [DWARF_ABBREV] = "abbrev",     [DWARF_STR] = "str",
	[DWARF_LINE] = "line",       [DWARF_LINE_STR] = "line_str", [DWARF_STR_OFFSETS] = "str_offsets",
	[DWARF_ADDR] = "addr",       [DWARF_RANGES] = "ranges",     [DWARF_RNGLISTS] = "rnglists",
	[DWARF_ARANGES] = "aranges",
};

const struct section *dwarf_section(const struct image *image, enum dwarf_section section, bool is_split)
{
	char name[64];

	snprintf(name, sizeof(name), ".debug_%s%s", section_names[section], is_split ? ".dwo" : "");
	const struct section *found = image_section(image, name);
	if (found || is_split)
		return found;
	snprintf(name, sizeof(name), ".zdebug_%s", section_names[section]);
	return image_section(image, name);
}

void dwarf_sections(struct image *image, bool is_split, struct bytes section[DWARF_SECTION_N])
{
	for (size_t i = 0; i < DWARF_SECTION_N; i++) {
		const struct section *found = dwarf_section(image, (enum dwarf_section)i, is_split);
		section[i] = found ? image_section_bytes(image, found) : (struct bytes){ 0 };
	}
}

void dwarf_sections_up_to(struct image *image, uint64_t info_end, struct dwarf *dwarf,
			  struct dwarf_rest *rest)
{
	for (size_t i = 0; i < DWARF_SECTION_N; i++) {
		const struct section *found = dwarf_section(image, (enum dwarf_section)i, false);
		bool is_info = i == DWARF_INFO;
		dwarf->section[i] = found ? image_section_start(image, found, is_info ? info_end : UINT64_MAX)
					  : (struct bytes){ 0 };
	}
	dwarf->section[DWARF_INFO] = bytes_slice(dwarf->section[DWARF_INFO], 0, info_end);
	*rest = (struct dwarf_rest){ .image = image, .dwarf = { .id = dwarf->id, .alt = dwarf->alt } };
	pthread_mutex_init(&rest->lock, NULL);
	dwarf->rest = rest;
}

static const struct dwarf *open_rest(struct dwarf_rest *rest)
{
	pthread_mutex_lock(&rest->lock);
	if (!rest->is_open) {
		dwarf_sections(rest->image, false, rest->dwarf.section);
		dwarf_index(&rest->dwarf, NULL);
		rest->is_open = true;
	}
	pthread_mutex_unlock(&rest->lock);
	return &rest->dwarf;
}

void dwarf_rest_done(struct dwarf_rest *rest)
{
	if (!rest->image)
		return;
	dwarf_done(&rest->dwarf);
	pthread_mutex_destroy(&rest->lock);
	rest->image = NULL;
}

/* ---- one unit ------------------------------------------------------------------------------ */

/* The header; leaves the reader at the root entry. False if the unit cannot be read. */
static bool dwarf_read_header(struct unit *unit, struct reader *r)
{
	unit->version = (uint8_t)read_u16(r);
	if (unit->version < 2 || unit->version > 5)
		return false;
	unit->type = DW_UT_compile;
	if (unit->version == 5) {
		unit->type = read_u8(r);
		unit->address_size = read_u8(r);
		unit->abbrev_offset = read_uint(r, unit->offset_size);
	} else {
		unit->abbrev_offset = read_uint(r, unit->offset_size);
		unit->address_size = read_u8(r);
	}
	if (unit->type == DW_UT_skeleton || unit->type == DW_UT_split_compile)
		unit->split_id = read_u64(r);
	if (unit->type == DW_UT_type || unit->type == DW_UT_split_type)
		reader_skip(r, 8u + unit->offset_size);
	unit->first_entry = reader_offset(r);
	return !r->failed && (unit->address_size == 4 || unit->address_size == 8);
}

/* Leaves the reader at the attribute specifications of an abbreviation. */
static bool seek_abbrev(const struct unit *unit, uint64_t code, struct reader *r)
{
	*r = reader_of(bytes_from(unit->dwarf->section[DWARF_ABBREV], unit->abbrev_offset));
	while (!r->failed) {
		uint64_t found = read_uleb(r);
		read_uleb(r);
		read_u8(r);
		if (found == code)
			return code != 0;
		if (found == 0)
			return false;
		for (uint64_t name = 1, form = 1; (name || form) && !r->failed;) {
			name = read_uleb(r);
			form = read_uleb(r);
			if (form == DW_FORM_implicit_const)
				read_sleb(r);
		}
	}
	return false;
}

/* Attributes whose meaning depends on others; evaluated when all have been read. */
struct root {
	struct attribute name, directory, producer, split_name, low_pc;
};

static void take_root_attribute(struct unit *unit, struct root *root, uint64_t name, struct attribute value)
{
	switch (name) {
	case DW_AT_name:
		root->name = value;
		break;
	case DW_AT_comp_dir:
		root->directory = value;
		break;
	case DW_AT_producer:
		root->producer = value;
		break;
	case DW_AT_dwo_name:
	case DW_AT_GNU_dwo_name:
		root->split_name = value;
		break;
	case DW_AT_low_pc:
		root->low_pc = value;
		break;
	case DW_AT_high_pc:
		unit->high_pc = value;
		break;
	case DW_AT_ranges:
		unit->ranges = value;
		break;
	case DW_AT_language:
		unit->language = (uint16_t)value.value;
		break;
	case DW_AT_stmt_list:
		unit->line_offset = value.value;
		unit->has_lines = true;
		break;
	case DW_AT_GNU_dwo_id:
		unit->split_id = value.value;
		break;
	case DW_AT_str_offsets_base:
		unit->str_offsets_base = value.value;
		break;
	case DW_AT_addr_base:
	case DW_AT_GNU_addr_base:
		unit->addr_base = value.value;
		break;
	case DW_AT_rnglists_base:
		unit->rnglists_base = value.value;
		break;
	case DW_AT_GNU_ranges_base:
		unit->ranges_base = value.value;
		break;
	default:
		break;
	}
}

static bool read_root(struct unit *unit, struct reader *r, uint64_t *n_looked)
{
	struct root root = { 0 };
	struct reader specs;
	bool is_wide = unit->offset_size == 8;

	/* After the header of the only table that a file without these attributes has. */
	if (unit->version >= 5) {
		unit->str_offsets_base = is_wide ? 16 : 8;
		unit->addr_base = is_wide ? 16 : 8;
		unit->rnglists_base = is_wide ? 20 : 12;
	}
	bool is_found = *n_looked < MAX_ABBREV_BYTES && seek_abbrev(unit, read_uleb(r), &specs);
	if (*n_looked < MAX_ABBREV_BYTES)
		*n_looked += reader_offset(&specs);
	if (!is_found)
		return false;
	while (!specs.failed && !r->failed) {
		uint64_t name = read_uleb(&specs), form = read_uleb(&specs);
		int64_t constant = form == DW_FORM_implicit_const ? read_sleb(&specs) : 0;
		if (name == 0 && form == 0)
			break;
		struct attribute_spec spec = { 0, form > UINT16_MAX ? 0 : (uint16_t)form, constant };
		take_root_attribute(unit, &root, name, attribute_read(r, unit, &spec));
	}
	unit->name = attribute_text(&root.name, unit);
	unit->directory = attribute_text(&root.directory, unit);
	unit->producer = attribute_text(&root.producer, unit);
	unit->split_name = root.split_name.form ? attribute_text(&root.split_name, unit) : NULL;
	unit->has_low_pc = attribute_address(&root.low_pc, unit, &unit->low_pc);
	return !r->failed && !specs.failed;
}

/* What a split unit takes from its skeleton. */
static void complete_split(struct unit *unit, const struct unit *skeleton)
{
	unit->skeleton = skeleton;
	unit->low_pc = skeleton->low_pc;
	unit->has_low_pc = skeleton->has_low_pc;
	if (!unit->directory[0])
		unit->directory = skeleton->directory;
	unit->ranges_base = skeleton->ranges_base;
	unit->has_lines = unit->has_lines && unit->dwarf->section[DWARF_LINE].len > 0;
}

void dwarf_index(struct dwarf *dwarf, const struct unit *skeleton)
{
	struct reader r = reader_of(dwarf->section[DWARF_INFO]);
	uint64_t n_looked = 0;

	while (reader_left(&r) > 0 && dwarf->units.n < MAX_UNITS) {
		struct unit unit = {
			.dwarf = dwarf, .offset = reader_offset(&r), .offset_size = 4, .skeleton = skeleton
		};
		uint64_t length = read_u32(&r);
		if (length == 0xffffffff) {
			unit.offset_size = 8;
			length = read_u64(&r);
		}
		if (r.failed || length > reader_left(&r)) {
			dwarf->n_damaged++;
			return;
		}
		unit.end = reader_offset(&r) + length;
		struct reader body = r;
		body.end = r.at + length;
		r.at += length;
		if (!dwarf_read_header(&unit, &body) || !read_root(&unit, &body, &n_looked)) {
			dwarf->n_damaged += length > 0; /* an empty one is padding */
			continue;
		}
		if (skeleton)
			complete_split(&unit, skeleton);
		vec_push(&dwarf->units, unit);
	}
}

void dwarf_done(struct dwarf *dwarf)
{
	vec_done(&dwarf->units);
}

const struct unit *dwarf_unit_at(const struct dwarf *dwarf, uint64_t offset)
{
	if (dwarf->rest && offset >= dwarf->section[DWARF_INFO].len)
		dwarf = open_rest(dwarf->rest);

	size_t behind = search_first(i, dwarf->units.n, dwarf->units.at[i].offset > offset);

	return behind && offset < dwarf->units.at[behind - 1].end ? &dwarf->units.at[behind - 1] : NULL;
}

struct reader unit_reader(const struct unit *unit, uint64_t offset)
{
	struct reader r = reader_of(bytes_slice(unit->dwarf->section[DWARF_INFO], 0, unit->end));

	if (offset < unit->first_entry)
		reader_fail(&r);
	else
		reader_seek(&r, offset);
	return r;
}
