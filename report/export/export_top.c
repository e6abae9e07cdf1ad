/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top: functions, inlined functions, loops and lines side by side, most expensive first, as an array of flat
 * objects: for a table in a dashboard or a trend over runs.
 */
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "base/json.h"
#include "report/derived.h"
#include "report/export/exporter.h"
#include "report/export/json_sections.h"
#include "report/limit.h"
#include "report/tree/flatten.h"
#include "report/tree/frame_spread.h"

struct top {
	struct json json;
	const struct document *document;
	uint32_t metric;
	struct derived derived;
	uint64_t samples, total;
	char time[32];
};

/* Half the width of the 95 % interval of a share, in percent, from the number of samples and their spread. */
static double top_interval(const struct top *top, const struct flat_row *row, double share)
{
	double spread = 1;

	if (row->frame != UINT32_MAX && top->document->frames.at[row->frame].self_spread)
		spread = (double)top->document->frames.at[row->frame].self_spread / FRAME_SPREAD_UNIT;
	return top->samples ? 100 * 1.96 * sqrt(share * (1 - share) * spread / (double)top->samples) : 0;
}

static void top_write_name(struct top *top, const struct flat_row *row)
{
	const struct profile *profile = top->document->profile;
	char label[512];

	if (row->frame == UINT32_MAX) {
		snprintf(label, sizeof(label), "%s:%u", profile_text(profile, row->file), row->line);
		json_text_of(&top->json, "function", label);
		json_text_of(&top->json, "kind", "line");
		return;
	}
	json_text_of(&top->json, "function",
		     document_frame_label(top->document, row->frame, label, sizeof(label)));
	json_text_of(&top->json, "kind", scope_kind_name(top->document->frames.at[row->frame].kind));
}

static void top_write_row(struct top *top, const struct flat_row *row)
{
	const struct profile *profile = top->document->profile;
	double share = top->total ? (double)row->self[top->metric] / (double)top->total : 0;
	double whole = top->total ? (double)row->total[top->metric] / (double)top->total : 0;

	json_object(&top->json);
	top_write_name(top, row);
	json_text_of(&top->json, "module", profile_image_name(profile, row->image));
	json_text_of(&top->json, "file", profile_text(profile, row->file));
	json_uint_of(&top->json, "line", row->line);
	json_uint_of(&top->json, "self", row->self[top->metric]);
	json_number_of(&top->json, "self_pct", 100 * share);
	json_uint_of(&top->json, "total", row->total[top->metric]);
	json_number_of(&top->json, "total_pct", 100 * whole);
	json_uint_of(&top->json, "samples", row->self[0]);
	json_number_of(&top->json, "ci95_pct", top_interval(top, row, share));
	for (size_t i = 0; i < top->derived.of.n; i++)
		json_number_of(&top->json, top->derived.of.at[i].label,
			       derived_value(&top->derived, i, top->document, row->self, row->total));
	json_text_of(&top->json, "metric", profile_text(profile, profile->metrics.at[top->metric].name));
	json_text_of(&top->json, "unit", profile_text(profile, profile->metrics.at[top->metric].unit));
	json_text_of(&top->json, "time", top->time);
	json_text_of(&top->json, "host", profile_text(profile, profile->run.host));
	json_name(&top->json, "run");
	json_run_id(&top->json, profile);
	if (row->frame != UINT32_MAX && limit_is_other(&top->document->frames.at[row->frame]))
		json_uint_of(&top->json, "folded", limit_count(top->document->tree));
	json_end_object(&top->json);
}

static bool top_is_listed(const struct document *document, const struct flat_row *row, uint32_t metric)
{
	if (row->frame == UINT32_MAX)
		return row->self[metric] > 0 && row->line;
	uint8_t kind = document->frames.at[row->frame].kind;
	return kind != SCOPE_ROOT && kind != SCOPE_INCOMPLETE && row->total[metric] > 0;
}

static void top_write_table(struct top *top, struct flat_table *table, uint32_t limit)
{
	uint32_t written = 0;

	flat_table_sort(table, top->metric);
	for (size_t i = 0; i < table->rows.n && (!limit || written < limit); i++) {
		if (!top_is_listed(top->document, &table->rows.at[i], top->metric))
			continue;
		top_write_row(top, &table->rows.at[i]);
		written++;
	}
	flat_table_done(table);
}

/* Each frame is a separate row, but everything folded is one. */
static void flatten_things(const struct document *document, struct flat_table *ret)
{
	uint32_t n = 0, other = UINT32_MAX, *group = alloc_resize(NULL, document->frames.n, sizeof(uint32_t));

	for (size_t i = 0; i < document->frames.n; i++) {
		bool is_other = limit_is_other(&document->frames.at[i]);
		group[i] = is_other && other != UINT32_MAX ? other : n++;
		other = is_other ? group[i] : other;
	}
	flatten_groups(document, group, n, ret);
	free(group);
}

static int write_top(const struct export_input *input, const struct export_options *options, FILE *to,
		     struct diag *diag)
{
	struct document document;
	struct flat_table frames, lines;
	time_t start = (time_t)(input->profile->run.start_unix_ns / 1000000000);
	struct tm utc;

	struct top top = { .document = &document, .metric = options->metric };
	int error = derived_make(&top.derived, input->profile, options->derived, options->n_derived, diag);
	if (error)
		return error;
	document_init(&document, input->profile, input->tree);
	top.samples = document_inclusive(&document, 0, 0);
	top.total = document_inclusive(&document, 0, options->metric);
	strftime(top.time, sizeof(top.time), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&start, &utc));
	json_init(&top.json, to);
	json_array(&top.json);
	flatten_things(&document, &frames);
	top_write_table(&top, &frames, options->limit);
	flatten_lines(&document, &lines);
	top_write_table(&top, &lines, options->limit);
	json_end_array(&top.json);
	json_line(&top.json);
	document_done(&document);
	derived_done(&top.derived);
	return json_done(&top.json);
}

const struct exporter exporter_top = {
	.name = "top",
	.suffixes = ".top.json",
	.summary = "functions, loops and lines by cost, as flat rows",
	.carries = CARRIES_INLINES | CARRIES_LOOPS | CARRIES_LINES | CARRIES_FORMULAS,
	.loops_by_default = true,
	.needs_lines = true,
	.needs_spread = true,
	.write = write_top,
};
