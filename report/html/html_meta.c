/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html_meta: what of the profile is not a column: the run, its quality, names.
 */
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "report/export/json_sections.h"
#include "report/html/html.h"
#include "report/limit.h"
#include "report/quality.h"

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

/* The object of the JSON export, and beside it what the page shows as text. */
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
		json_end_object(json);
	}
	json_end_array(json);
	json_uint_of(json, "bin_ns", profile->bin_ns);
}

void html_write_meta(FILE *to, const struct document *document, const struct export_options *options)
{
	struct json json;

	json_init(&json, to);
	json_object(&json);
	html_column_directory(&json);
	write_names(&json, document->profile);
	json_uint_of(&json, "default_metric", options->metric);
	json_bool_of(&json, "is_diff", options->is_diff);
	html_meta_write_run(&json, document->profile);
	write_quality(&json, document);
	json_end_object(&json);
}
