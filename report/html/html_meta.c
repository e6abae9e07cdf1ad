/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html_meta: the parts of the profile that are not columns: the run, its quality, names.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "report/annotate/source_lines.h"
#include "report/diff/diff_html.h"
#include "report/export/json_sections.h"
#include "report/html/html.h"
#include "report/label.h"
#include "report/limit.h"
#include "report/names.h"
#include "report/quality.h"
#include "report/text/text_loops.h"
#include "report/tree/ranks.h"

#define SHORT_NAME 64 /* columns of a name that is shown in full */

static void html_meta_write_run(struct json *json, const struct profile *profile)
{
	const struct profile_run *run = &profile->run;
	time_t start = (time_t)(run->start_unix_ns / 1000000000);
	char stamp[40] = "";
	struct tm utc;

	if (start)
		strftime(stamp, sizeof(stamp), "%Y-%m-%d %H:%M:%S UTC", gmtime_r(&start, &utc));
	json_name(json, "run");
	json_object(json);
	json_text_of(json, "command", profile_text(profile, run->command_line));
	json_text_of(json, "target", profile_text(profile, run->target));
	json_text_of(json, "host", profile_text(profile, run->host));
	json_text_of(json, "arch", profile_text(profile, run->arch));
	json_text_of(json, "cpu", profile_text(profile, run->cpu));
	json_text_of(json, "kernel", profile_text(profile, run->kernel));
	json_text_of(json, "start", stamp);
	json_uint_of(json, "duration_ns", run->duration_ns);
	json_end_object(json);
}

/* The object of the JSON export, plus what the page shows as text. */
static void write_quality(struct json *json, const struct document *document)
{
	const struct profile *profile = document->profile;
	CLEANUP(text_done) struct text line = { 0 }, folded = { 0 };

	quality_line(profile, &line);
	limit_note(document->tree, profile, &folded);
	json_name(json, "quality");
	json_quality(json, document);
	json_text_of(json, "quality_line", line.at);
	json_text_of(json, "folded", folded.at);
	json_name(json, "notes");
	json_array(json);
	for (size_t i = 0; i < profile->notes.n; i++)
		json_text(json, profile_text(profile, profile->notes.at[i]));
	json_end_array(json);
}

static void write_names(struct json *json, const struct profile *profile)
{
	json_name(json, "strings");
	json_array(json);
	for (uint32_t i = 0; i < profile->strings.strings.n; i++)
		json_text(json, profile_text(profile, i));
	json_end_array(json);
	json_name(json, "modules");
	json_array(json);
	for (uint32_t i = 0; i < profile->images.n; i++)
		json_text(json, profile_image_name(profile, i));
	json_end_array(json);
	json_name(json, "metrics");
	json_array(json);
	for (size_t i = 0; i < profile->metrics.n; i++) {
		json_object(json);
		json_text_of(json, "name", profile_text(profile, profile->metrics.at[i].name));
		json_text_of(json, "unit", profile_text(profile, profile->metrics.at[i].unit));
		json_end_object(json);
	}
	json_end_array(json);
	json_name(json, "threads");
	json_array(json);
	for (size_t i = 0; i < profile->threads.n; i++) {
		json_object(json);
		json_text_of(json, "name", profile_text(profile, profile->threads.at[i].comm));
		json_int_of(json, "tid", profile->threads.at[i].tid);
		json_uint_of(json, "process", profile->threads.at[i].process);
		json_end_object(json);
	}
	json_end_array(json);
	json_name(json, "processes");
	json_array(json);
	for (size_t i = 0; i < profile->processes.n; i++) {
		json_object(json);
		json_text_of(json, "name", profile_text(profile, profile->processes.at[i].comm));
		json_int_of(json, "pid", profile->processes.at[i].pid);
		json_end_object(json);
	}
	json_end_array(json);
	json_uint_of(json, "bin_ns", profile->bin_ns);
}

/* "short": string id -> a name that fits into a row, for those that do not. No two of them look the same. */
static void write_short_names(struct json *json, const struct document *document)
{
	const struct profile *profile = document->profile;
	struct names *names = names_new(profile);
	bool *seen = alloc_zero(profile->strings.strings.n + 1, sizeof(bool));

	json_name(json, "short");
	json_object(json);
	for (size_t i = 0; i < document->frames.n; i++) {
		uint32_t id = document->frames.at[i].name;
		const char *name = profile_text(profile, id);
		CLEANUP(text_done) struct text shown = { 0 };
		char key[16];
		if (seen[id] || strlen(name) <= SHORT_NAME)
			continue;
		seen[id] = true;
		names_shorten(names, name, SHORT_NAME, &shown);
		snprintf(key, sizeof(key), "%u", id);
		json_text_of(json, key, shown.at);
	}
	json_end_object(json);
	free(seen);
	names_free(names);
}

static void html_meta_tell(const struct loop_teller *teller, const struct scope_frame *frame,
			   const struct loop_facts *facts, struct text *label, struct text *told)
{
	struct scope scope = { .kind = frame->kind,
			       .flags = frame->flags,
			       .name = frame->name,
			       .file = frame->file,
			       .line = frame->line,
			       .image = frame->image,
			       .vaddr = frame->vaddr };

	if (frame->flags & (SCOPE_PARALLEL | SCOPE_SCHEDULE))
		label_scope(teller->profile, &scope, label);
	if (frame->flags & SCOPE_JOINED)
		text_printf(told, "joined");
	if (frame->flags & SCOPE_WAITING)
		text_printf(told, "waiting");
	if (facts)
		loop_tell(teller, frame, facts, told);
}

static void write_remark(struct json *json, const struct loop_teller *teller, uint32_t index,
			 const struct scope_frame *frame, const struct loop_facts *facts)
{
	CLEANUP(text_done) struct text label = { 0 }, told = { 0 };
	char number[16];

	html_meta_tell(teller, frame, facts, &label, &told);
	if (!label.len && !told.len)
		return;
	snprintf(number, sizeof(number), "%u", index);
	json_name(json, number);
	json_array(json);
	json_text(json, label.at ? label.at : "");
	json_text(json, told.at ? told.at : "");
	json_end_array(json);
}

/* By frame: a label other than its name, and remarks; only for frames that have them. */
static void write_remarks(struct json *json, const struct document *document,
			  const struct export_options *options)
{
	CLEANUP(loop_table_done) struct loop_table loops;
	CLEANUP(source_lines_done) struct source_lines lines = { .search = options->sources };
	struct text_source source = source_lines_for(&lines);
	const struct loop_teller teller = { document->profile, options->counts, &source,
					    document_inclusive(document, 0, options->metric) };
	uint32_t n_seen = 0;

	loop_table_init(&loops, document->profile, document->tree, options->metric, NULL);
	json_name(json, "remarks");
	json_object(json);
	for (uint32_t node = 0; node < document->n_nodes; node++) {
		uint32_t frame = document_frame(document, node);
		if (frame < n_seen) /* frames are in the order of the nodes that show them first */
			continue;
		n_seen = frame + 1;
		write_remark(json, &teller, frame, &document->frames.at[frame],
			     loop_table_find(&loops, document->tree, node));
	}
	json_end_object(json);
}

static void write_ranks(struct json *json, const struct ranks *ranks)
{
	json_name(json, "ranks");
	json_object(json);
	json_uint_of(json, "n_ranks", ranks->n_ranks);
	json_uint_of(json, "first_metric", ranks->first_metric);
	json_name(json, "slowest");
	json_array(json);
	for (uint32_t i = 0; i < ranks->n; i++)
		json_uint(json, ranks->rank[i]);
	json_end_array(json);
	json_end_object(json);
}

#define T_STEPS 16 /* of a degree of freedom */
#define T_LAST 20  /* degrees of freedom */

/* What the page needs to compute intervals of changes as in diff.c: the weight of a sample, by run, and the
 * quantiles of Student's t by degrees of freedom, in steps from one on, and finally for infinity. */
static void write_runs(struct json *json, const struct diff *diff)
{
	json_name(json, "runs");
	json_object(json);
	json_uint_of(json, "n_before", diff->n_a);
	json_uint_of(json, "n_after", diff->n_b);
	json_uint_of(json, "first_metric", DIFF_HTML_RUNS);
	json_bool_of(json, "from_runs", diff->from_runs);
	json_name(json, "weight");
	json_array(json);
	for (uint32_t i = 0; i < diff->n_a + diff->n_b; i++)
		json_number(json, diff->weight[i]);
	json_end_array(json);
	json_name(json, "t");
	json_array(json);
	for (int i = 0; i <= (T_LAST - 1) * T_STEPS; i++)
		json_number(json, student_quantile((1 + DIFF_CONFIDENCE) / 2, 1 + (double)i / T_STEPS));
	json_number(json, student_quantile((1 + DIFF_CONFIDENCE) / 2, INFINITY));
	json_end_array(json);
	json_uint_of(json, "t_steps", T_STEPS);
	json_end_object(json);
}

/* Columns that are shown from the start. */
static void write_formulas(struct json *json, const struct derived *derived)
{
	json_name(json, "formulas");
	json_array(json);
	for (size_t i = 0; i < derived->texts.n; i++)
		json_text(json, derived->texts.at[i]);
	json_end_array(json);
}

void html_write_meta(FILE *to, const struct document *document, const struct export_options *options,
		     const struct derived *derived)
{
	struct json json;

	json_init(&json, to);
	json_object(&json);
	html_column_directory(&json);
	write_names(&json, document->profile);
	write_short_names(&json, document);
	json_uint_of(&json, "default_metric", options->metric);
	write_formulas(&json, derived);
	write_remarks(&json, document, options);
	json_bool_of(&json, "is_diff", options->diff != NULL);
	if (options->diff && diff_html_has_runs(options->diff))
		write_runs(&json, options->diff);
	if (options->ranks)
		write_ranks(&json, options->ranks);
	html_meta_write_run(&json, document->profile);
	write_quality(&json, document);
	json_end_object(&json);
}
