/* SPDX-License-Identifier: Apache-2.0 */
/*
 * witness: lookups in a debug file by libdwarf and libdw, which share no code with our reader. Each is
 * optional for building, and each runs in a child process with limits on memory and time: Debian's libdwarf
 * aborts on damaged input.
 */
#pragma once

#include "base/intern.h"
#include "base/vec.h"
#include "symbolize/witness/witness_types.h"

enum library_kind { LIBRARY_LIBDWARF, LIBRARY_LIBDW, LIBRARY_N };

/* "libdwarf", "libdw" */
const char *witness_library_name(enum library_kind kind);
bool witness_is_built(enum library_kind kind);
/* For a process that will not be able to load libraries later: loads the library that our reader falls back
 * to. */
void witness_load(void);

/* The chain at an address, innermost first. Without a function: one frame that has only a line. */
struct witness_answer {
	uint32_t first, n; /* n 0: it knows nothing about the address */
};

struct testimony {
	struct intern strings;
	VEC(struct witness_frame) frames;
	VEC(struct witness_answer) answers; /* one for each address, in order */
	uint32_t version;                   /* of the library: "20210528"; 0 = not known */
	const char *why; /* why it did not finish; NULL = it did. Earlier answers are present. */
};

/* Never faults. */
void witness_ask(enum library_kind kind, const struct witness_question *question, struct testimony *ret);
void testimony_done(struct testimony *testimony);
