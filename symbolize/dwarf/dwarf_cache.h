/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf_cache: a cache of one thread for data of debug files: abbreviations and file tables of units, names
 * of the functions they refer to, and their strings.
 */
#pragma once

#include "base/arena.h"
#include "symbolize/dwarf/dwarf.h"
#include "symbolize/dwarf/lines.h"

/* The identity of a function, collected along DW_AT_abstract_origin and DW_AT_specification. */
struct origin {
	uint32_t name;    /* as shown: demangled; 0 = nameless */
	uint32_t linkage; /* as in the file; 0 = same as name */
	uint32_t decl_file, decl_line;
};

/* A member function of a lambda's class, which GCC names only `operator()`. */
struct lambda {
	uint64_t procedure; /* entry of the procedure that the lambda is written in */
	uint64_t class;     /* entry of the class, which has the position */
	uint32_t number;    /* among the lambdas of that procedure, from 1 */
};

struct dwarf_cache {
	struct intern strings;
	struct image *image; /* that is read now: the strings are taken from its memory budget; may be NULL */
	bool demangles;
	struct map abbrevs_by_unit, lines_by_unit, origin_by_entry;
	struct map shown_by_linkage; /* string ids: from linkage name to demangled name */
	VEC(struct abbrevs) abbrevs;
	VEC(struct line_table) lines;
	VEC(struct origin) origins;
	struct map lambda_by_entry;
	VEC(struct lambda) lambdas;
	unsigned n_around; /* lambdas inside the one whose name is being made */
};

void dwarf_cache_init(struct dwarf_cache *cache, bool demangles);
void dwarf_cache_done(struct dwarf_cache *cache);
/* Call between units, never while holding what the functions below returned. */
void dwarf_cache_trim(struct dwarf_cache *cache);

/* Both valid until the next call of the same function. */
const struct abbrevs *dwarf_cache_abbrevs(struct dwarf_cache *cache, const struct unit *unit);
/* NULL if the unit has no readable line table. */
struct line_table *dwarf_cache_lines(struct dwarf_cache *cache, const struct unit *unit);
/* String id of file `index` of the unit's table, or of its skeleton's if a split unit has no table. */
uint32_t dwarf_cache_file(struct dwarf_cache *cache, const struct unit *unit, uint64_t index);
/* Call before dwarf_cache_origin is called for the function. */
void dwarf_cache_add_lambda(struct dwarf_cache *cache, const struct dwarf *dwarf, uint64_t entry,
			    struct lambda lambda);
struct origin dwarf_cache_origin(struct dwarf_cache *cache, const struct dwarf *dwarf, uint64_t entry);
