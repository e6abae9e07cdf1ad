/* SPDX-License-Identifier: Apache-2.0 */
/*
 * witness: what stands at addresses of a debug file, as libdwarf and libdw say, which share no code with our
 * reader. Each is optional for building, and each is asked in a child with limits on memory and time:
 * Debian's libdwarf aborts on damaged input.
 */
#pragma once

#include "base/intern.h"
#include "base/vec.h"

enum witness_kind { WITNESS_LIBDWARF, WITNESS_LIBDW, WITNESS_N };

/* "libdwarf", "libdw" */
const char *witness_library_name(enum witness_kind kind);
bool witness_is_built(enum witness_kind kind);

struct witness_question {
	const char *path;       /* the file with the DWARF */
	const char *alt_path;   /* the dwz file that it leans on; NULL = none */
	const uint64_t *vaddrs; /* sorted, no two alike */
	size_t n;
};

/* One level of what stands at an address; strings are those of the testimony. */
struct witness_frame {
	uint32_t function; /* linkage name, or the name where DWARF states none; 0 = unknown */
	uint32_t file;     /* whole path; 0 = unknown */
	uint32_t line;
	bool is_inlined;
};

/* The chain at an address, innermost first. Without a function: one frame that has only a line. */
struct witness_answer {
	uint32_t first, n; /* n 0: it knows nothing of the address */
};

struct testimony {
	struct intern strings;
	VEC(struct witness_frame) frames;
	VEC(struct witness_answer) answers; /* one for each address, in order */
	uint32_t version;                   /* of the library: "20210528"; 0 = not known */
	const char *why; /* it did not come to its end; NULL = it did. What it said before is there. */
};

/* Never faults. */
void witness_ask(enum witness_kind kind, const struct witness_question *question, struct testimony *ret);
void testimony_done(struct testimony *testimony);
#define WITNESS_MAX_DEPTH 256
