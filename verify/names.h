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
	NAMES_FUNCTION, /* the real function is called otherwise */
	NAMES_CHAIN,    /* other inlined calls, or called from other lines */
	NAMES_FILE,
	NAMES_LINE,
	NAMES_N,
};

/* Errors of a version of a library that are known: told apart from differences of unknown cause. */
enum names_known {
	KNOWN_NOT,
	KNOWN_LIBDWARF_FILES,
	KNOWN_LIBDW_GAPS,
	KNOWN_LIBDW_RELATIVE,
	KNOWN_SUPPLEMENTARY,
	KNOWN_N,
};
/* In words; NULL for KNOWN_NOT. */
const char *names_known_text(enum names_known known);

struct names_example {
	uint32_t index; /* of the address */
	uint8_t differ; /* mask of enum names_class */
};

/* One library held against our reader. */
struct names_result {
	struct testimony testimony;
	bool is_asked;
	uint64_t n_compared, n_agree;
	uint64_t n_silent;        /* addresses of which it says nothing */
	uint64_t differ[NAMES_N]; /* an address may differ in several ways */
	uint64_t known[KNOWN_N];  /* addresses whose differences are all of that known error */
	uint64_t n_alone; /* differing addresses at which the other library says what our reader says */
	VEC(struct names_example) examples;
};

struct names_options {
	struct symbolizer_options symbols;
	uint64_t every; /* each so manieth instruction */
	size_t max_examples;
};

struct names_report {
	uint64_t n_instructions;
	VEC(uint64_t) vaddrs; /* that were looked at */
	struct locator *locator;
	struct names_result by[LIBRARY_N];
};

void verify_names(struct functions *functions, const struct names_options *options, struct names_report *ret);
void names_report_done(struct names_report *report);
