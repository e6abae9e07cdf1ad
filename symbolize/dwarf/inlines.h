/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inlines: the functions of a unit that cover given addresses, and the calls inlined into them, as in the
 * debug information: nested, with ranges that may overlap. flatten turns the ranges of one piece of code into
 * disjoint ones.
 */
#pragma once

#include "symbolize/dwarf/dwarf.h"
#include "symbolize/dwarf/dwarf_cache.h"
#include "symbolize/function_map.h"

struct raw_call {
	uint32_t parent;           /* index, INLINE_NONE = directly into the function */
	uint32_t depth;            /* 1 = directly into the function */
	const struct dwarf *dwarf; /* where the inlined function is described; NULL = nowhere */
	uint64_t origin;
	uint64_t call_file;
	uint32_t call_line, call_column;
};

struct raw_range {
	uint64_t start, end;
	uint32_t call;
};
typedef VEC(struct raw_range) raw_ranges;

struct raw_function {
	uint64_t entry;      /* offset in .debug_info */
	uint64_t enclosing;  /* entry of the procedure it is nested in; 0 = none */
	vaddr_ranges ranges; /* its parts, as listed */
	VEC(struct raw_call) calls;
	raw_ranges call_ranges;
};

struct raw_functions {
	VEC(struct raw_function) list; /* in file order */
	bool is_damaged;               /* the unit could not be read to its end */
	bool describes_calls;          /* all inlined calls are described */
};

/* vaddrs are sorted. */
void inlines_read(struct dwarf_cache *cache, const struct unit *unit, const struct image *image,
		  const uint64_t *vaddrs, size_t n_vaddrs, struct raw_functions *ret);
void raw_functions_done(struct raw_functions *functions);

/* Disjoint, sorted ranges inside [start, end), each with its innermost call; offsets count from start. */
void inlines_flatten(const struct raw_function *function, uint64_t start, uint64_t end,
		     struct function_map *ret);
