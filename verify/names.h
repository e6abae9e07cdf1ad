/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names: compares the functions, inlined calls, files and lines that our reader finds with those of libdwarf
 * and libdw.
 */
#pragma once

#include "binary/functions/function.h"
#include "symbolize/locator.h"
#include "symbolize/witness/witness.h"

enum names_class {
	NAMES_FUNCTION, /* the function has a different name */
	NAMES_CHAIN,    /* different inlined calls, or different call sites */
	NAMES_FILE,
	NAMES_LINE,
	NAMES_N,
};

/* Known errors of certain library versions, as opposed to differences of unknown cause. */
enum names_known {
	KNOWN_NOT,
	KNOWN_LIBDWARF_FILES,
	KNOWN_LIBDW_GAPS,
	KNOWN_LIBDW_RELATIVE,
	KNOWN_SUPPLEMENTARY,
	KNOWN_N,
};
/* As text; NULL for KNOWN_NOT. */
const char *names_known_text(enum names_known known);

struct names_example {
	uint32_t index; /* of the address */
	uint8_t differ; /* mask of enum names_class */
};

/* The comparison of one library with our reader. */
struct names_result {
	struct testimony testimony;
	bool is_asked;
	uint64_t n_compared, n_agree;
	uint64_t n_silent;        /* addresses for which it has no answer */
	uint64_t differ[NAMES_N]; /* an address may be in several of them */
	uint64_t known[KNOWN_N];  /* addresses whose differences are all explained by that error */
	uint64_t n_alone;         /* differing addresses for which the other library agrees with our reader */
	VEC(struct names_example) examples;
};

struct names_options {
	struct symbolizer_options symbols;
	uint64_t every; /* compare every n-th instruction */
	size_t max_examples;
};

struct names_report {
	uint64_t n_instructions;
	VEC(uint64_t) vaddrs; /* that were compared */
	struct locator *locator;
	struct names_result by[LIBRARY_N];
};

void verify_names(struct functions *functions, const struct names_options *options, struct names_report *ret);
void names_report_done(struct names_report *report);
