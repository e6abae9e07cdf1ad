/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proto: shared by exports in protocol buffers: the wire format, a table of strings, and the tables of
 * functions and of locations.
 *
 * A location is one physical frame: the function and what is inlined into it, innermost line first. Each
 * function and location is passed to the format once, before the first stack that needs it. Numbers start at
 * 1.
 */
#pragma once

#include "base/hash.h"
#include "base/intern.h"
#include "base/text.h"
#include "base/vec.h"
#include "report/export/exporter.h"
#include "report/tree/document.h"

/* ---- the wire format ------------------------------------------------------------------------ */

void proto_varint(struct text *to, uint64_t value);
/* A field whose value is 0 is omitted: 0 is the default of a missing field. */
void proto_uint(struct text *to, unsigned field, uint64_t value);
void proto_fixed64(struct text *to, unsigned field, uint64_t value);
void proto_bytes(struct text *to, unsigned field, const void *bytes, size_t len);
/* Writes a message that was built in `from`, and clears it. */
void proto_message(struct text *to, unsigned field, struct text *from);

/* ---- the tables ----------------------------------------------------------------------------- */

struct proto_function {
	uint32_t id;
	uint32_t name, linkage, file; /* strings */
	uint32_t line;                /* where it starts; 0 = not known */
};

struct proto_line {
	uint32_t function, line;
};

struct proto_location {
	uint32_t id;
	image_id image; /* not an image of the profile: none */
	uint64_t vaddr;
	const struct proto_line *lines; /* innermost first */
	size_t n_lines;
	const uint32_t *loops; /* frames of the scope tree, innermost first; if they are not lines */
	size_t n_loops;
};

struct proto_tables {
	const struct profile *profile;
	const struct scope_tree *tree;
	bool loops_are_lines; /* a loop is a line of its location, like an inlined call */
	void *context;        /* of: */
	void (*add_function)(void *context, const struct proto_function *function);
	void (*add_location)(void *context, const struct proto_location *location);

	struct intern strings;
	VEC(uint64_t) stack; /* of proto_tables_stack: numbers of locations, leaf first */

	/* Private: */
	struct text clean;
	struct map functions;  /* hash of name, file and line -> number */
	uint32_t *function_of; /* of each frame: its number, 0 = not yet */
	struct map locations;  /* hash of its contents -> number */
	VEC(struct proto_line) lines;
	VEC(uint32_t) loops;
	uint32_t n_functions, n_locations;
};

/* The caller must have set the first part. */
void proto_tables_init(struct proto_tables *tables);
void proto_tables_done(struct proto_tables *tables);
/* The text as UTF-8, as the format requires: other bytes are replaced. Valid until the next call. */
struct bytes proto_utf8(struct proto_tables *tables, const char *text);
/* The number of a string, as UTF-8. */
uint32_t proto_string(struct proto_tables *tables, const char *text);
/* The stack of a scope, into tables->stack. */
void proto_tables_stack(struct proto_tables *tables, uint32_t scope);

/* Calls put for every sample: a scope and a thread with a value for each metric. */
void proto_tables_samples(struct proto_tables *tables, void (*put)(void *context, uint32_t scope,
								   uint32_t thread, const uint64_t *values));

/* The name of a metric's unit. */
const char *proto_unit(const char *unit);
