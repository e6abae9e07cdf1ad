/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json: the columnar document of the cpprof-profile schema.
 */
#include "report/export/exporter.h"
#include "report/export/json_sections.h"

static void json_file_write_rows(struct json *json, const struct document *document,
				 enum export_detail detail, const struct json_rows *rows)
{
	json_name(json, rows->name);
	if (rows->is_list)
		json_array(json);
	else
		json_object(json);
	rows->write(json, document, 0, json_rows_count(rows, document, detail));
	if (rows->is_list)
		json_end_array(json);
	else
		json_end_object(json);
}

static void write_end(struct json *json, const struct document *document)
{
	json_name(json, "end");
	json_object(json);
	json_uint_of(json, "nodes", document->n_nodes);
	json_bool_of(json, "complete", !document->profile->run.is_checkpoint);
	json_end_object(json);
}

static void write_json(struct json *json, const struct document *document,
		       const struct export_options *options, const struct derived *derived)
{
	json_object(json);
	json_text_of(json, "schema", SCHEMA_NAME);
	json_text_of(json, "version", SCHEMA_VERSION);
	json_header(json, document->profile);
	json_name(json, "quality");
	json_quality(json, document);
	for (const struct json_rows *rows = json_rows; rows->name; rows++)
		json_file_write_rows(json, document, options->detail, rows);
	json_name(json, "node_values");
	json_object(json);
	json_node_values(json, document, 0, document->n_nodes, options->totals, derived);
	json_end_object(json);
	write_end(json, document);
	json_end_object(json);
	json_line(json);
}

static int json_file_write(const struct export_input *input, const struct export_options *options, FILE *to,
			   struct diag *diag)
{
	return json_document_write(input, options, to, diag, write_json);
}

const struct exporter exporter_json = {
	.name = "json",
	.suffixes = ".json .cpprof.json",
	.summary = "the whole profile as one columnar document (cpprof schema)",
	.carries = CARRIES_INLINES | CARRIES_LOOPS | CARRIES_THREADS | CARRIES_TIME | CARRIES_METRICS |
		   CARRIES_BUILD_IDS | CARRIES_LINES | CARRIES_CALL_SITES | CARRIES_CONTEXT |
		   CARRIES_FORMULAS,
	.loops_by_default = true,
	.needs_lines = true,
	.needs_calls = true,
	.write = json_file_write,
};
