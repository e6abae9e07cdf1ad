/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gopclntab: the table that every Go program contains for its own tracebacks: start and name of each
 * function. It remains when symbols are stripped.
 */
#pragma once

#include "binary/elf/image.h"

#define GO_MAX_NAME 8192 /* bytes; any number of functions may have the same long one */

/* What the runtime needs to know about a function. */
enum go_kind {
	GO_KIND_UNKNOWN,  /* the table is of a version before 1.18 */
	GO_KIND_COMPILED, /* from Go */
	GO_KIND_ASSEMBLY,
	GO_KIND_SPECIAL, /* one that switches stacks, or a wrapper made by the compiler */
};

struct go_function {
	uint64_t start, end;
	const char *name; /* inside the table */
	enum go_kind kind;
};

struct gopclntab {
	struct bytes table;
	uint64_t text_start; /* base of the entries; 0 if they are addresses */
	uint64_t n_functions;
	uint64_t names, functions; /* offsets in the table */
	uint8_t entry_size;        /* of half an entry, in bytes */
	uint8_t pointer_size;
	uint8_t kind_at; /* offset of the kind in a function's record; 0 = it has none */
};

/* Go 1.2 to 1.25. False if the image is not a Go program, or one of an unknown version. */
bool gopclntab_open(struct image *image, struct gopclntab *ret);
/* The same from the bytes of the table; text: where .text starts, for tables that leave it to the loader. */
bool gopclntab_parse(struct bytes table, uint64_t text, struct gopclntab *ret);
/* False if there is no such function or it cannot be read. */
bool gopclntab_get(const struct gopclntab *table, uint64_t index, struct go_function *ret);
