/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines: the line program of a unit: its table of source files, and the rows it generates.
 *
 * Only rows inside the wanted ranges are stored, so that a program of half a million rows needs little
 * memory. If there are several rows at one address, the last is valid, as in every debugger.
 */
#pragma once

#include "base/text.h"
#include "symbolize/dwarf/dwarf.h"
#include "symbolize/function_map.h"

struct line_file {
	const char *name;
	uint64_t directory;
	uint32_t id; /* string id of the whole path; 0 = not requested yet */
};

struct line_table {
	const struct unit *unit;
	uint8_t version, min_insn, line_range, opcode_base;
	int8_t line_base;
	bool is_statement;     /* at the start of each sequence */
	bool has_blocks;       /* gfortran gives a statement one column, and numbers its blocks */
	uint8_t operands[256]; /* number of LEB128 operands of each standard opcode */
	VEC(const char *) directories;
	VEC(struct line_file) files;
	struct bytes program;
};

/* Code whose rows are wanted; they are appended to map->lines. */
struct line_part {
	uint64_t start, end;
	struct function_map *map;
	uint64_t sequence; /* number of the sequence that filled it; 0 = none yet */
};

/* False if the unit has no line table or one we cannot read. */
bool lines_open(const struct unit *unit, struct line_table *ret);
void lines_done(struct line_table *table);
/* String id of a file's whole path, "." and ".." resolved; 0 if there is no such file, or too little memory
 * left for the image (which may be NULL). */
uint32_t lines_file(struct line_table *table, uint64_t index, struct intern *strings, struct image *image);
/* Appends the components of a path and resolves "." and "..", which never leads above the root. An absolute
 * path replaces the text. */
void lines_add_path(struct text *text, const char *path);
/* Runs the program. parts are sorted and do not overlap. Sequences that start outside the image's code are
 * ignored: they belong to functions that the linker removed. */
void lines_run(struct line_table *table, struct image *image, struct intern *strings, struct line_part *parts,
	       size_t n_parts);
