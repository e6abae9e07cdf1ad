/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subject: the state of one image in the symbolizer: its files, which parts of them have been read, its
 * units.
 *
 * In this order: open; name and unpack, in parallel if wanted; load.
 */
#pragma once

#include <stdatomic.h>

#include "symbolize/dwarf/unit_index.h"
#include "symbolize/files/debugfile.h"
#include "symbolize/naming.h"
#include "symbolize/request.h"

struct subject {
	struct symbolizer_request *request;
	struct debugfile file;
	struct naming *naming;
	struct unit_index index;
	struct perfmap jit;
	char *jit_path;
	function_maps known;               /* from the store */
	VEC(uint64_t) wanted;              /* addresses that the store did not have */
	uint64_t info_end;                 /* how much of .debug_info they need */
	bool is_recalled[DWARF_SECTION_N]; /* the store had it unpacked */
	atomic_uint_fast64_t n_damaged;
	VEC(uint64_t) refused; /* addresses whose units could not be read to their end */
	size_t n_by_libdwarf;  /* functions that had to be read by libdwarf */
};

/* Finds the files, but does not read them yet. options and ids must outlive it. */
void subject_open(struct subject *subject, const struct symbolizer_options *options, atomic_uint *ids);
void subject_done(struct subject *subject);
/* Is it the kernel, whose names are in kallsyms? */
bool subject_is_kernel(const struct subject *subject);

/* Reads symbols and, if there is nothing else, searches for functions without symbols. Those of the kernel
 * may be added later. */
void subject_name(struct subject *subject, const struct kallsyms *kernel, bool demangles);
/* Decompresses a section of the file (of .debug_info only the part that is needed), unless the store has it.
 */
void subject_unpack(struct subject *subject, enum dwarf_section section, struct store *store);
/* Stores what was decompressed, for the next run. */
void subject_keep_unpacked(struct subject *subject, struct store *store);
/* Finds the units. */
void subject_load(struct subject *subject);
