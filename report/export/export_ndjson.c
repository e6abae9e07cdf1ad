/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ndjson: the same parts as the document, one record per line, so that it can be read while it is written. A
 * stream without its "end" record was truncated.
 */
#include "report/export/exporter.h"
#include "report/export/json_sections.h"

#define BATCH 4096 /* rows per record */

static void ndjson_begin(struct json *json, const char *type, const struct export_options *options)
{
	json_object(json);
	json_text_of(json, "t", type);
	if (options->interval) {
		json_name(json, "interval");
		json_array(json);
		json_uint(json, options->interval[0]);
		json_uint(json, options->interval[1]);
		json_end_array(json);
	}
}

static void ndjson_end(struct json *json)
{
	json_end_object(json);
	json_line(json);
}

static void write_batches(struct json *json, const struct document *document,
			  const struct export_options *options, const struct json_rows *rows)
{
	size_t n = json_rows_count(rows, document, options->detail);

	for (size_t from = 0; from < n; from += BATCH) {
		size_t to = from + BATCH < n ? from + BATCH : n;
		ndjson_begin(json, rows->name, options);
		json_uint_of(json, "i0", from);
		if (rows->is_list) {
			json_name(json, "rows");
			json_array(json);
		}
		rows->write(json, document, from, to);
		if (rows->is_list)
			json_end_array(json);
		ndjson_end(json);
	}
}

static void write_value_batches(struct json *json, const struct document *document,
				const struct export_options *options, const struct derived *derived)
{
	size_t n = document->n_nodes;

	for (size_t from = 0; from < n; from += BATCH) {
		ndjson_begin(json, "node_values", options);
		json_uint_of(json, "i0", from);
		json_node_values(json, document, from, from + BATCH < n ? from + BATCH : n, options->totals,
				 derived);
		ndjson_end(json);
	}
}

static const char *ndjson_metric_name(const struct document *document, uint32_t metric)
{
	return profile_text(document->profile, document->profile->metrics.at[metric].name);
}

static void ndjson_write_costs(struct json *json, struct document_cursor *cursor, size_t node)
{
	const struct document *document = cursor->document;

	json_name(json, "self");
	json_object(json);
	for (uint32_t m = 0; m < document->n_metrics; m++)
		json_uint_of(json, ndjson_metric_name(document, m), document_self(cursor, node, m));
	json_end_object(json);
	json_name(json, "total");
	json_object(json);
	for (uint32_t m = 0; m < document->n_metrics; m++)
		json_uint_of(json, ndjson_metric_name(document, m), document_inclusive(document, node, m));
	json_end_object(json);
}

/* One line per node with everything resolved: no joins are needed. */
static void write_wide_node(struct json *json, struct document_cursor *cursor, struct derived_nodes *derived,
			    const struct export_options *options, size_t node, uint32_t depth)
{
	const struct document *document = cursor->document;
	const struct profile *profile = document->profile;
	const struct scope scope = scope_at(document->tree, node);
	char label[512];

	ndjson_begin(json, "node", options);
	json_uint_of(json, "id", node);
	json_int_of(json, "parent", node ? (int64_t)document_parent(document, node) : -1);
	json_text_of(json, "kind", scope_kind_name(scope.kind));
	json_text_of(json, "relation", scope_relation_name(scope.relation));
	json_text_of(json, "name",
		     document_frame_label(document, document_frame(document, node), label, sizeof(label)));
	json_text_of(json, "module", profile_image_name(profile, scope.image));
	json_text_of(json, "file", profile_text(profile, scope.file));
	json_uint_of(json, "line", scope.line);
	json_text_of(json, "call_file", profile_text(profile, scope.call_file));
	json_uint_of(json, "call_line", scope.call_line);
	ndjson_write_costs(json, cursor, node);
	if (derived->derived->of.n) {
		json_name(json, "derived");
		json_object(json);
		for (size_t i = 0; i < derived->derived->of.n; i++)
			json_number_of(json, derived->derived->of.at[i].label,
				       derived_node(derived, i, node));
		json_end_object(json);
	}
	json_uint_of(json, "depth", depth);
	ndjson_end(json);
}

static void write_wide(struct json *json, const struct document *document,
		       const struct export_options *options, const struct derived *derived)
{
	struct derived_nodes nodes;
	uint32_t *depth = alloc_zero(document->n_nodes, sizeof(uint32_t));
	struct document_cursor cursor;

	document_cursor_init(&cursor, document);
	derived_nodes_init(&nodes, derived, &cursor);
	for (size_t i = 0; i < document->n_nodes; i++) {
		depth[i] = i ? depth[document_parent(document, i)] + 1 : 0;
		write_wide_node(json, &cursor, &nodes, options, i, depth[i]);
	}
	derived_nodes_done(&nodes);
	document_cursor_done(&cursor);
	free(depth);
}

static void write_records(struct json *json, const struct document *document,
			  const struct export_options *options, const struct derived *derived)
{
	ndjson_begin(json, "header", options);
	json_text_of(json, "schema", SCHEMA_NAME);
	json_text_of(json, "version", SCHEMA_VERSION);
	json_header(json, document->profile);
	ndjson_end(json);
	if (options->wide) {
		write_wide(json, document, options, derived);
	} else {
		for (const struct json_rows *rows = json_rows; rows->name; rows++)
			write_batches(json, document, options, rows);
		write_value_batches(json, document, options, derived);
	}
	ndjson_begin(json, "quality", options);
	json_name(json, "quality");
	json_quality(json, document);
	ndjson_end(json);
	ndjson_begin(json, "end", options);
	json_uint_of(json, "nodes", document->n_nodes);
	json_bool_of(json, "complete", !document->profile->run.is_checkpoint);
	ndjson_end(json);
}

static int write_ndjson(const struct export_input *input, const struct export_options *options, FILE *to,
			struct diag *diag)
{
	return json_document_write(input, options, to, diag, write_records);
}

const struct exporter exporter_ndjson = {
	.name = "ndjson",
	.suffixes = ".ndjson .jsonl",
	.summary = "the same data as a stream, one record per line; with --wide one line per node",
	.carries = CARRIES_INLINES | CARRIES_LOOPS | CARRIES_THREADS | CARRIES_TIME | CARRIES_METRICS |
		   CARRIES_BUILD_IDS | CARRIES_LINES | CARRIES_CALL_SITES | CARRIES_CONTEXT |
		   CARRIES_FORMULAS,
	.loops_by_default = true,
	.needs_lines = true,
	.needs_calls = true,
	.write = write_ndjson,
};
