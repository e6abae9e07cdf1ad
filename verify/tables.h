/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables: compares all recovered recipes of an image with all unwind rows of the compiler.
 *
 * The analysis is independent: it uses the starts of unwind entries and their landing pads, but not their
 * rows (with no_starts, neither starts nor symbols). Padding that no edge reaches is left out; other
 * unreached code counts as `none`.
 */
#pragma once

#include "binary/functions/function.h"
#include "verify/agree.h"

struct verify_options {
	bool no_starts; /* hide symbols and unwind entries; .dynsym is still used unless no_dynamic */
	bool no_dynamic;
	size_t max_examples;
	/* For tests: changes the compiler's recipe before it is compared; NULL = no. */
	uint32_t (*seed)(void *context, uint64_t vaddr, uint32_t stated, struct recipes *recipes);
	void *seed_context;
};

struct verify_counts {
	uint64_t agree_form, agree_value, differ, none;
	uint64_t set_aside; /* differences that are errors of the table */
};

/* Why the two differ, as far as that is known. */
enum verify_cause {
	CAUSE_ANALYSIS, /* the function fails its self-check or the state was a guess */
	CAUSE_UNKNOWN, /* the function passes its self-check at every exit, so its states are correct; nothing
			  else is known */
	CAUSE_LATE, /* the table's row does not change although an instruction changes the register that it is
		       relative to */
	CAUSE_EARLY, /* the table says that the return address is saved before the instruction that saves it
		      */
	CAUSE_ENTRY, /* the table ignores what the linker's stub left above the return address */
	CAUSE_OTHER_FRAME, /* the table's row describes the target frame of a context switch */
	CAUSE_N,
};
/* Is that an error of the table? */
bool verify_cause_is_table(enum verify_cause cause);

struct verify_example {
	uint64_t vaddr, function;
	uint32_t stated, own; /* recipes */
	uint64_t regs_differ;
	uint8_t agreement, cause; /* cause: only if CFA or return address differ */
};

struct verify_result {
	uint64_t instructions, functions;
	uint64_t passed, failed, exitless, refused; /* functions by the result of their self-check */
	struct verify_counts cfa_ra;
	struct verify_counts regs[REG_MAX]; /* callee-saved ones; agree_form = agree */
	uint64_t causes[CAUSE_N];           /* of the differences in CFA or return address */
	uint64_t guessed, guessed_right;
	uint64_t rows, recipes;
	/* With no_starts: how many of the starts stated by unwind entries were found, and how many of those
	 * found are correct. */
	uint64_t starts_true, starts_found, starts_claimed, starts_wrong;
	VEC(struct verify_example) examples;
	struct recipes store;
};

void verify_recipes(struct image *image, const struct symbols *symbols, const struct frames *frames,
		    const struct verify_options *options, struct verify_result *ret);
void verify_result_done(struct verify_result *result);
