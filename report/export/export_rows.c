/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows: the tree as an array of flat objects in depth-first order (a "nested set"): Grafana's flame graph
 * panel, its Infinity data source and pandas can read it without configuration.
 *
 * There is exactly one root row, first; siblings are sorted by value, as in the panel.
 */
#include "base/json.h"
#include "report/derived.h"
#include "report/export/exporter.h"
#include "report/limit.h"
#include "report/tree/children.h"
#include "report/tree/document.h"

struct rows {
	struct json json;
	const struct document *document;
	struct document_cursor cursor;
	uint32_t metric;
	struct derived derived;
	struct derived_nodes costs;
	struct text note; /* about folded contexts, in the root row */
};

static void rows_write_row(void *context, uint32_t node, uint32_t depth)
{
	struct rows *rows = context;
	const struct document *document = rows->document;
	const struct scope_frame *scope = scope_frame(document->tree, node);
	char label[512];

	json_object(&rows->json);
	json_uint_of(&rows->json, "level", depth);
	json_text_of(&rows->json, "label",
		     document_frame_label(document, document_frame(document, node), label, sizeof(label)));
	json_uint_of(&rows->json, "value", document_inclusive(document, node, rows->metric));
	json_uint_of(&rows->json, "self", document_self(&rows->cursor, node, rows->metric));
	json_text_of(&rows->json, "module", profile_image_name(document->profile, scope->image));
	json_text_of(&rows->json, "kind", scope_kind_name(scope->kind));
	json_text_of(&rows->json, "file", profile_text(document->profile, scope->file));
	json_uint_of(&rows->json, "line", scope->line);
	for (size_t i = 0; i < rows->derived.of.n; i++)
		json_number_of(&rows->json, rows->derived.of.at[i].label,
			       derived_node(&rows->costs, i, node));
	if (limit_is_other(scope))
		json_uint_of(&rows->json, "folded", scope->end_line);
	if (node == 0 && rows->note.len)
		json_text_of(&rows->json, "note", rows->note.at);
	json_end_object(&rows->json);
}

static int rows_write(const struct export_input *input, const struct export_options *options, FILE *to,
		      struct diag *diag)
{
	struct document document;
	struct children children;
	struct rows rows = { .document = &document, .metric = options->metric };

	int error = derived_make(&rows.derived, input->profile, options->derived, options->n_derived, diag);
	if (error)
		return error;
	document_init(&document, input->profile, input->tree);
	document_cursor_init(&rows.cursor, &document);
	derived_nodes_init(&rows.costs, &rows.derived, &rows.cursor);
	children_of_document(&children, &document, options->metric);
	limit_note(input->tree, input->profile, &rows.note);
	json_init(&rows.json, to);
	json_array(&rows.json);
	children_walk(&children, document.n_nodes, rows_write_row, &rows);
	json_end_array(&rows.json);
	json_line(&rows.json);
	children_done(&children);
	text_done(&rows.note);
	derived_nodes_done(&rows.costs);
	derived_done(&rows.derived);
	document_cursor_done(&rows.cursor);
	document_done(&document);
	return json_done(&rows.json);
}

const struct exporter exporter_rows = {
	.name = "rows",
	.suffixes = ".rows.json",
	.summary = "flat rows in depth-first order, for Grafana and pandas",
	.carries = CARRIES_INLINES | CARRIES_LOOPS | CARRIES_LINES | CARRIES_CONTEXT | CARRIES_FORMULAS,
	.loops_by_default = true,
	.max_nodes = 5000, /* about 150 bytes per row: more is too much for a panel */
	.write = rows_write,
};
