/* SPDX-License-Identifier: Apache-2.0 */
/*
 * witness_unit: the part that is the same whichever library reads: it fills in the rows and scopes of a unit,
 * and the addresses of the question that lie in it are answered and sent. Runs in the child.
 */
#pragma once

#include "base/intern.h"
#include "base/text.h"
#include "base/vec.h"
#include "base/writer.h"
#include "symbolize/witness/witness_types.h"

#define SCOPE_NONE UINT32_MAX

struct witness_row {
	uint64_t vaddr;
	uint32_t file, line;
	bool is_end;     /* of a sequence; has no line */
	bool is_primary; /* the file is number 0, of DWARF 5: the one that was compiled */
};

/* A function or an inlined call. */
struct witness_scope {
	uint32_t parent; /* index, SCOPE_NONE = none */
	uint32_t depth;
	uint64_t entry; /* what the library knows it by */
	uint32_t call_file, call_line;
	bool is_inlined;
};

struct witness_range {
	uint64_t start, end;
	uint32_t scope;
};

struct witness_unit {
	VEC(struct witness_row) rows; /* as the line program makes them */
	VEC(struct witness_scope) scopes;
	VEC(struct witness_range) ranges;
};

/* What the unit at hand has at an address. */
struct witness_found {
	uint32_t scope, row; /* SCOPE_NONE = none */
};

struct witness_session {
	const struct witness_question *question;
	int files[2]; /* the question's path and alt_path, open; -1 = none */
	int fd;       /* where answers go */
	struct intern strings;
	uint32_t n_sent; /* strings */
	struct writer out;
	struct witness_found *found; /* of each address */
	VEC(uint32_t) touched;       /* addresses that have something */
	/* Name of a scope's function, as a string id. */
	uint32_t (*name)(void *context, uint64_t entry);
	void *context;
};

/* What the library calls itself; goes first. */
void witness_send_version(struct witness_session *session, const char *version);
/* Is there an address in [start, end)? */
bool witness_wants(const struct witness_session *session, uint64_t start, uint64_t end);
/* String id of a path, "." and ".." folded. */
uint32_t witness_path(struct witness_session *session, const char *path);
void witness_answer_unit(struct witness_session *session, const struct witness_unit *unit);
void witness_unit_clear(struct witness_unit *unit);

/* Each in the only file that knows the library. False if that or the file cannot be read. */
bool witness_libdwarf_run(struct witness_session *session);
/* Loads the library, if it is there; run does that, too. */
bool witness_libdwarf_load(void);
bool witness_libdw_run(struct witness_session *session);
