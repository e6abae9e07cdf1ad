/* SPDX-License-Identifier: Apache-2.0 */
/*
 * witness_types: the queries to a witness, and one level of its answer.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WITNESS_MAX_DEPTH 256 /* levels at one address */

struct witness_question {
	const char *path;       /* the file with the DWARF */
	const char *alt_path;   /* the dwz file that it refers to; NULL = none */
	const uint64_t *vaddrs; /* sorted and distinct */
	size_t n;
};

/* One level of the inlined calls at an address; strings are those of the testimony. */
struct witness_frame {
	uint32_t function; /* linkage name, or the name if DWARF has none; 0 = unknown */
	uint32_t file;     /* whole path; 0 = unknown */
	uint32_t line;
	bool is_inlined;
	bool is_primary; /* the file is number 0 of a line table of DWARF 5 */
};
