/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf: debug information as a set of sections, its units, and the entries inside them.
 *
 * Our own reader for DWARF 2 to 5, built for one purpose: finding the functions and inlined calls at given
 * addresses. Other entries are skipped by their abbreviation. Everything is bounds-checked; if a unit is
 * damaged, reading it stops, which is counted.
 *
 * Immutable once opened, so that threads may read units in parallel. A compressed .debug_info may have been
 * decompressed only in part; the rest is decompressed when a reference needs it.
 */
#pragma once

#include <pthread.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/vec.h"
#include "binary/elf/image.h"

enum dwarf_section {
	DWARF_INFO,
	DWARF_ABBREV,
	DWARF_STR,
	DWARF_STR_OFFSETS,
	DWARF_LINE,
	DWARF_LINE_STR,
	DWARF_ADDR,
	DWARF_RANGES,
	DWARF_RNGLISTS,
	DWARF_ARANGES,
	DWARF_SECTION_N,
};

struct attribute {
	uint16_t form;        /* enum dw_form, 0 = absent */
	uint64_t value;       /* number, offset or index, as the form says */
	struct bytes inlined; /* of DW_FORM_string: the text with its terminator */
};

struct unit {
	const struct dwarf *dwarf;
	uint64_t offset, end; /* in .debug_info, header included */
	uint64_t first_entry;
	uint64_t abbrev_offset;
	uint8_t version, address_size, offset_size, type; /* type: enum dw_unit_type */
	uint16_t language;
	bool has_lines, has_low_pc;
	/* What its root entry says. */
	const char *name, *directory; /* "" if unknown */
	const char *producer;         /* the compiler; "" if unknown */
	const char *split_name;       /* file with the rest of the unit; NULL = it is complete */
	uint64_t split_id;
	uint64_t low_pc, line_offset;
	uint64_t str_offsets_base, addr_base, rnglists_base, ranges_base;
	struct attribute high_pc, ranges;
	/* In split DWARF: the skeleton that this unit belongs to; it has the addresses. */
	const struct unit *skeleton;
};

struct dwarf {
	uint32_t id; /* distinguishes the files of one symbolizer */
	struct bytes section[DWARF_SECTION_N];
	VEC(struct unit) units;  /* by offset */
	const struct dwarf *alt; /* dwz: what DW_FORM_GNU_*_alt and *_sup refer to; NULL = none */
	struct dwarf_rest *rest; /* the part of .debug_info that was not read; NULL = none */
	uint64_t n_damaged;      /* units that could not be read */
};

/* The part of .debug_info that was not read at first: opened when a reference leads there. */
struct dwarf_rest {
	struct image *image;
	pthread_mutex_t lock;
	bool is_open;
	struct dwarf dwarf; /* all of it */
};

/* One section of a file, compressed or not; NULL if it has none. */
const struct section *dwarf_section(const struct image *image, enum dwarf_section section, bool is_split);
/* Borrows the sections of a file; the image must outlive it. is_split: take the .dwo sections. */
void dwarf_sections(struct image *image, bool is_split, struct bytes section[DWARF_SECTION_N]);
/* The same, but only the beginning of .debug_info, which ends with a unit. rest belongs to the caller. */
void dwarf_sections_up_to(struct image *image, uint64_t info_end, struct dwarf *dwarf,
			  struct dwarf_rest *rest);
void dwarf_rest_done(struct dwarf_rest *rest);
/* Finds the units of the sections already set. skeleton: of split units, else NULL. */
void dwarf_index(struct dwarf *dwarf, const struct unit *skeleton);
void dwarf_done(struct dwarf *dwarf);
/* The unit that contains an offset of .debug_info; NULL if there is none. */
const struct unit *dwarf_unit_at(const struct dwarf *dwarf, uint64_t offset);

/* ---- abbreviations: the shapes of entries ---- */

struct attribute_spec {
	uint16_t name, form;
	int64_t constant; /* of DW_FORM_implicit_const */
};

struct abbrev {
	uint64_t code;
	uint16_t tag;
	bool has_children;
	uint32_t first_spec, n_specs;
	uint32_t first_step, n_steps; /* how to skip it */
};

/* One step over attributes that are not needed. */
struct skip_step {
	uint16_t form;  /* 0: fixed bytes only */
	uint16_t bytes; /* to skip before a value of this form */
};

struct abbrevs {
	VEC(struct abbrev) list; /* sorted by code */
	VEC(struct attribute_spec) specs;
	VEC(struct skip_step) steps;
	bool is_dense; /* code n is at n - 1 */
};

void abbrevs_read(const struct unit *unit, struct abbrevs *ret);
void abbrevs_done(struct abbrevs *abbrevs);
/* NULL if there is no such code. */
const struct abbrev *abbrevs_find(const struct abbrevs *abbrevs, uint64_t code);
/* Skips the attributes of an entry. */
void abbrev_skip(const struct abbrevs *abbrevs, const struct abbrev *abbrev, const struct unit *unit,
		 struct reader *r);

/* ---- attributes ---- */

/* A reader at the start of an entry, to read its abbreviation code. */
struct reader unit_reader(const struct unit *unit, uint64_t offset);
struct attribute attribute_read(struct reader *r, const struct unit *unit, const struct attribute_spec *spec);
void attribute_skip(struct reader *r, const struct unit *unit, uint16_t form);
/* Bytes of a form whose size does not depend on its contents; -1 if it does. */
int form_size(const struct unit *unit, uint16_t form);
/* "" if the attribute is absent, damaged or not a string. */
const char *attribute_text(const struct attribute *attribute, const struct unit *unit);
/* False if it is not an address, or not in the address table. */
bool attribute_address(const struct attribute *attribute, const struct unit *unit, uint64_t *ret);
bool attribute_is_address(const struct attribute *attribute);
/* The entry it refers to; false if it refers to none that we can read. */
bool attribute_reference(const struct attribute *attribute, const struct unit *unit,
			 const struct dwarf **ret_dwarf, uint64_t *ret_offset);

/* ---- address ranges ---- */

struct vaddr_range {
	uint64_t start, end;
};
typedef VEC(struct vaddr_range) vaddr_ranges;

#define RANGES_MAX (1u << 20) /* of one entry; a program of many million lines has some ten thousand */
/* Appends the ranges given by DW_AT_low_pc, high_pc and ranges of an entry, except empty ones. Returns how
 * many were read. */
unsigned ranges_read(const struct unit *unit, const struct attribute *low_pc, const struct attribute *high_pc,
		     const struct attribute *ranges, vaddr_ranges *ret);
/* Those of the unit's root entry. */
unsigned ranges_of_unit(const struct unit *unit, vaddr_ranges *ret);
