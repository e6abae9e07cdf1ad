/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf_cache: a cache of one thread for data of debug files: abbreviations and file tables of units, names
 * of the functions they refer to, and their strings.
 */
#pragma once

#include "base/arena.h"
#include "symbolize/dwarf/dwarf.h"
#include "symbolize/dwarf/lines.h"

/* Who a function is, gathered along DW_AT_abstract_origin and DW_AT_specification. */
struct origin {
	uint32_t name;    /* as shown: demangled; 0 = nameless */
	uint32_t linkage; /* as in the file; 0 = same as name */
	uint32_t decl_file, decl_line;
};

/* A function of a lambda's class, which GCC calls no more than `operator()`. */
struct lambda {
	uint64_t procedure; /* entry of the one that it is written in */
	uint64_t class;     /* the class's entry, which has the place */
	uint32_t number;    /* of those in it, from 1 */
};

struct dwarf_cache {
	struct intern strings;
	bool demangles;
	struct map abbrevs_by_unit, lines_by_unit, origin_by_entry;
	struct map shown_by_linkage; /* string ids: what demangling made of a name */
	VEC(struct abbrevs) abbrevs;
	VEC(struct line_table) lines;
	VEC(struct origin) origins;
	struct map lambda_by_entry;
	VEC(struct lambda) lambdas;
};

void dwarf_cache_init(struct dwarf_cache *cache, bool demangles);
void dwarf_cache_done(struct dwarf_cache *cache);
/* Call between units, never while holding what the functions below returned. */
void dwarf_cache_trim(struct dwarf_cache *cache);

/* Both valid until the next call of the same function. */
const struct abbrevs *dwarf_cache_abbrevs(struct dwarf_cache *cache, const struct unit *unit);
/* NULL if the unit has no readable line table. */
struct line_table *dwarf_cache_lines(struct dwarf_cache *cache, const struct unit *unit);
/* String id of file `index` of the unit's table; of a split unit without one, of its skeleton's. */
uint32_t dwarf_cache_file(struct dwarf_cache *cache, const struct unit *unit, uint64_t index);
/* Before the function is asked for. */
void dwarf_cache_add_lambda(struct dwarf_cache *cache, const struct dwarf *dwarf, uint64_t entry,
			    struct lambda lambda);
struct origin dwarf_cache_origin(struct dwarf_cache *cache, const struct dwarf *dwarf, uint64_t entry);
