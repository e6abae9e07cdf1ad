/* SPDX-License-Identifier: Apache-2.0 */
/*
 * function_map: all source information about one function: name, declaration, line rows, and the tree of
 * calls inlined into it. Plain data; strings are ids in one intern table (the profile's).
 *
 * Offsets count from the function's own start. Parts (a .cold piece) are maps of their own that
 * name their parent function.
 */
#pragma once

#include "base/intern.h"
#include "base/vec.h"
#include "binary/elf/image.h"

#define INLINE_NONE UINT32_MAX

struct line_row {
	uint32_t offset; /* valid up to the next row */
	uint32_t file;   /* string id of the path, 0 = unknown */
	uint32_t line;   /* 0 = no source line */
	uint16_t column;
	uint8_t is_statement; /* DWARF is_stmt */
	uint8_t block;        /* which of a line's blocks, as gfortran numbers them (DWARF discriminator); 0 =
				 unknown */
};

/* One inlined call; parents precede children. */
struct inline_call {
	uint32_t parent;  /* index in this map, INLINE_NONE = inlined directly into the function */
	uint32_t name;    /* as shown: demangled */
	uint32_t linkage; /* as in the file; 0 = same as name */
	uint32_t decl_file, decl_line;
	uint32_t call_file, call_line, call_column;
};

/*
 * [start, end) belongs to `call`, but not to a call inlined into it. Ranges are sorted and do not overlap, so
 * a binary search finds the innermost call, and `parent` leads outwards. The whole code of a call is its own
 * ranges and those of its descendants.
 */
struct inline_range {
	uint32_t start, end, call;
};

enum function_map_source {
	MAP_FROM_NOTHING,
	MAP_FROM_SYMBOL,
	MAP_FROM_DWARF,
	MAP_FROM_PERFMAP,
	MAP_FROM_KALLSYMS,
	MAP_FROM_FLAT_DWARF, /* from a compiler that may inline without describing it */
};

struct function_map {
	image_id image;
	uint64_t vaddr, size;
	uint32_t name;                 /* as shown; never empty: "libfoo.so+0x1234" if nothing is known */
	uint32_t linkage;              /* as in the file; 0 = same as name */
	uint32_t decl_file, decl_line; /* 0 = unknown */
	uint32_t end_line;             /* last line of the procedure where known, 0 = unknown */
	uint32_t scope; /* name of the enclosing procedure (Fortran contains, nested functions), 0 = none */
	uint64_t parent_vaddr;      /* of a .cold or .part piece: its function's start; else vaddr itself */
	uint8_t source;             /* enum function_map_source */
	VEC(struct line_row) lines; /* sorted by offset, at most one per offset */
	VEC(struct inline_call) inlines;
	VEC(struct inline_range) ranges;
};

typedef VEC(struct function_map) function_maps;

void function_map_done(struct function_map *map);
/* Frees all maps and the list. */
void function_maps_done(function_maps *maps);

/* The map that covers an address, among maps sorted by (image, vaddr); NULL if there is none. */
const struct function_map *function_maps_find(const struct function_map *maps, size_t n, image_id image,
					      uint64_t vaddr);

/* Does debug information have an entry for the function? */
bool function_map_is_described(const struct function_map *map);
/* The row valid at an offset; NULL if there is none. */
const struct line_row *function_map_line(const struct function_map *map, uint32_t offset);
/* Index of the innermost call inlined at an offset; INLINE_NONE if it is the function's own code. */
uint32_t function_map_inline(const struct function_map *map, uint32_t offset);

/* One level of the inlined calls at an address. */
struct location {
	uint32_t function, linkage; /* string ids */
	uint32_t file, line,
		column; /* of the code itself at the innermost level, of the call at outer ones */
	uint32_t decl_file, decl_line;
	bool is_inlined;
};
#define LOCATION_MAX_DEPTH 256
/* The chain at an offset, innermost first, the function itself last. Returns its length; that and max are at
 * least 1. */
size_t function_map_locate(const struct function_map *map, uint32_t offset, struct location *ret, size_t max);
