/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_sections: the parts of the cpprof-profile schema, version 1 (docs/schema.json). The document and the
 * stream consist of the same parts: a part with rows is written for a range of them.
 */
#pragma once

#include "base/json.h"
#include "report/derived.h"
#include "report/export/exporter.h"
#include "report/tree/document.h"

#define SCHEMA_NAME "cpprof-profile"
#define SCHEMA_VERSION "1.2"

/* Members "tool", "run", "events", "metrics" of an object that is open. */
void json_header(struct json *json, const struct profile *profile);
/* A stable id of the run, derived from what was run, where and when: a value. */
void json_run_id(struct json *json, const struct profile *profile);
/* A whole value. */
void json_quality(struct json *json, const struct document *document);

/* A part with rows: how many there are, and the members for rows [from, to) of an object that is open. */
struct json_rows {
	const char *name;
	size_t (*count)(const struct document *document);
	void (*write)(struct json *json, const struct document *document, size_t from, size_t to);
	bool is_list;              /* rows are whole values of an array, not columns (strings, modules) */
	enum export_detail detail; /* with less detail there are no rows */
};
extern const struct json_rows json_rows[]; /* in the order of the document; ended by a NULL name */

/* The number of rows to be written. */
size_t json_rows_count(const struct json_rows *rows, const struct document *document,
		       enum export_detail detail);

/* node_values of [from, to), with or without inclusive values; derived: formulas over them. */
void json_node_values(struct json *json, const struct document *document, size_t from, size_t to, bool totals,
		      const struct derived *derived);

/* Creates the document of an export and calls write. */
typedef void json_document_writer(struct json *json, const struct document *document,
				  const struct export_options *options, const struct derived *derived);
int json_document_write(const struct export_input *input, const struct export_options *options, FILE *to,
			struct diag *diag, json_document_writer *write);
