/* SPDX-License-Identifier: Apache-2.0 */
/*
 * struct_print: prints the structures of an image, as an outline (load module, file, procedure and its
 * contents) or as JSON, one object per function.
 */
#pragma once

#include <stdio.h>

#include "structure/structure_store.h"

struct struct_print {
	const struct structure_entry *entry;
	const char *module; /* path of the image */
	bool pieces;        /* list the machine loops of a source loop */
	bool statements;    /* JSON: write them */
};

struct struct_tally {
	size_t n_functions, n_loops, n_inlines;
};

/* By file, line and address. */
struct struct_tally struct_print_text(const struct struct_print *print, FILE *to);
/* By address. */
struct struct_tally struct_print_json(const struct struct_print *print, FILE *to);
