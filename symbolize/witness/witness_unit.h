/* SPDX-License-Identifier: Apache-2.0 */
/*
 * witness_unit: the part that both libraries share: the library fills in the rows and scopes of a unit; this
 * code answers the queried addresses in the unit and sends the answers. Runs in the child process.
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
	bool is_primary; /* the file is number 0 of DWARF 5, the primary source file */
};

/* A function or an inlined call. */
struct witness_scope {
	uint32_t parent; /* index, SCOPE_NONE = none */
	uint32_t depth;
	uint64_t entry; /* the library's identifier of it */
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

/* What the current unit has at an address. */
struct witness_found {
	uint32_t scope, row; /* SCOPE_NONE = none */
};

struct witness_session {
	const struct witness_question *question;
	int files[2]; /* the question's path and alt_path, opened; -1 = none */
	int fd;       /* where answers go */
	struct intern strings;
	uint32_t n_sent; /* strings */
	struct writer out;
	struct witness_found *found; /* of each address */
	VEC(uint32_t) touched;       /* addresses for which something was found */
	/* Name of a scope's function, as a string id. */
	uint32_t (*name)(void *context, uint64_t entry);
	void *context;
};

/* Sends the version of the library; must be sent first. */
void witness_send_version(struct witness_session *session, const char *version);
/* Is there an address in [start, end)? */
bool witness_wants(const struct witness_session *session, uint64_t start, uint64_t end);
/* String id of a path, "." and ".." resolved. */
uint32_t witness_path(struct witness_session *session, const char *path);
void witness_answer_unit(struct witness_session *session, const struct witness_unit *unit);
void witness_unit_clear(struct witness_unit *unit);

/* Each is in the only file that uses the library. False if the library cannot be loaded or the file cannot be
 * read. */
bool witness_libdwarf_run(struct witness_session *session);
/* Loads the library, if it is installed; witness_libdwarf_run does so as well. */
bool witness_libdwarf_load(void);
bool witness_libdw_run(struct witness_session *session);
