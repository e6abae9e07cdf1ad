/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html_meta: what of the profile is not a column: the run, its quality, names, and for the functions that cost most
 * their source text and instructions.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/hash.h"
#include "base/text.h"
#include "binary/isa.h"
#include "report/flatten.h"
#include "report/html.h"
#include "report/limit.h"
#include "report/quality.h"
#include "report/source_text.h"

#define SOURCE_LIMIT (8u << 20) /* bytes of source text in one report */
#define SHORT_FILE 1500          /* lines: such a file is embedded whole */
#define NEAR 5                  /* lines around one that is shown */
#define SOURCE_SHARE 0.99       /* of the cost whose source is embedded */

static void write_run(struct json *json, const struct profile *profile)
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

static double share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)(whole - part) / (double)whole : 0;
}

static void write_quality(struct json *json, const struct document *document)
{
	const struct profile *profile = document->profile;
	const struct profile_quality *q = &profile->quality;
	struct text line = { 0 }, folded = { 0 };

	quality_line(profile, &line);
	json_name(json, "quality");
	json_object(json);
	json_text_of(json, "line", line.at);
	json_uint_of(json, "samples", q->samples);
	json_uint_of(json, "complete", q->by_end[STACK_COMPLETE]);
	json_uint_of(json, "lost", q->lost);
	json_number_of(json, "symbolized_pct", share(q->unsymbolized, q->samples));
	json_number_of(json, "line_info_pct", share(q->without_lines, q->samples));
	json_uint_of(json, "own_cpu_ns", q->own_cpu_ns);
	json_name(json, "by_end");
	json_object(json);
	for (unsigned i = STACK_COMPLETE + 1; i < STACK_END_N; i++)
		json_uint_of(json, stack_end_name(i), q->by_end[i]);
	json_end_object(json);
	json_name(json, "by_witness");
	json_object(json);
	for (unsigned i = WITNESS_NONE + 1; i < WITNESS_N; i++)
		json_uint_of(json, witness_name(i), q->steps_by_witness[i]);
	json_end_object(json);
	json_name(json, "notes");
	json_array(json);
	for (size_t i = 0; i < profile->notes.n; i++)
		json_text(json, profile_text(profile, profile->notes.at[i]));
	json_end_array(json);
	limit_note(document->tree, profile, &folded);
	json_text_of(json, "folded", folded.at);
	text_done(&folded);
	json_end_object(json);
	text_done(&line);
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

/* ---- source text ------------------------------------------------------------------------------------ */

/* Lines from first to last, as one piece. */
static void write_piece(struct json *json, uint32_t file, const struct source_text *text, size_t first, size_t last, size_t *used)
{
	json_object(json);
	json_uint_of(json, "file", file);
	json_uint_of(json, "first", first + 1);
	json_name(json, "lines");
	json_array(json);
	for (size_t i = first; i <= last; i++) {
		json_text(json, text->lines.at[i]);
		*used += strlen(text->lines.at[i]) + 3;
	}
	json_end_array(json);
	json_end_object(json);
}

/* Lines are counted from 1; what lies outside the text is left out. */
static void want(bool *wanted, size_t n, uint64_t first, uint64_t last)
{
	for (uint64_t line = first > NEAR ? first - NEAR : 1; line <= last + NEAR && line <= n; line++)
		wanted[line - 1] = true;
}

/* Of a long file, the functions and loops that stand in the tree and the lines that cost something. */
static bool *wanted_lines(const struct document *d, uint32_t file, size_t n)
{
	bool *wanted = alloc_zero(n + 1, sizeof(bool));

	for (size_t i = 0; i < d->frames.n; i++) {
		const struct document_frame *f = &d->frames.at[i];
		if (f->file == file && f->line)
			want(wanted, n, f->line, f->end_line > f->line ? f->end_line : f->line);
	}
	for (size_t i = 0; i < d->points.n; i++) {
		struct document_point point = document_point(d, i);
		if (point.file == file && point.line)
			want(wanted, n, point.line, point.line);
	}
	return wanted;
}

static void write_lines(struct json *json, const struct document *d, uint32_t file, const struct source_text *text, size_t *used)
{
	size_t n = text->lines.n;
	bool *wanted = n > SHORT_FILE ? wanted_lines(d, file, n) : NULL;

	for (size_t first = 0; first < n && *used < SOURCE_LIMIT; first++) {
		size_t last = first;
		if (wanted && !wanted[first])
			continue;
		while (last + 1 < n && (!wanted || wanted[last + 1]))
			last++;
		write_piece(json, file, text, first, last, used);
		first = last;
	}
	free(wanted);
}

/* The files of the functions that make up most of the cost, heaviest first. */
static void write_sources(struct json *json, const struct document *d, const struct export_options *options)
{
	struct flat_table table;
	struct map seen = { 0 };
	uint64_t sum = 0;
	size_t used = 0;

	flatten_frames(d, &table);
	flat_table_sort(&table, options->metric);
	json_name(json, "sources");
	json_array(json);
	for (size_t i = 0; i < table.rows.n && used < SOURCE_LIMIT; i++) {
		const struct flat_row *row = &table.rows.at[i];
		struct source_text text;
		if ((double)sum > SOURCE_SHARE * (double)d->inclusive[options->metric])
			break;
		sum += row->self[options->metric];
		if (!row->file || map_find(&seen, row->file) != MAP_NONE)
			continue;
		map_put(&seen, row->file, 1);
		if (source_text_read(profile_text(d->profile, row->file), options->sources, &text) < 0)
			continue;
		write_lines(json, d, row->file, &text, &used);
		source_text_done(&text);
	}
	json_end_array(json);
	map_done(&seen);
	flat_table_done(&table);
}

/* ---- instructions ------------------------------------------------------------------------------------ */

static size_t write_insns(struct json *json, const struct isa *isa, struct bytes code, uint64_t vaddr, const struct function_map *map)
{
	char text[128];
	size_t used = 0;

	json_array(json);
	for (uint64_t at = 0; at < code.len;) {
		struct insn insn;
		uint32_t len = isa->decode(bytes_from(code, at), vaddr + at, &insn) == 0 ? insn.len : isa->min_insn;
		isa->format(bytes_from(code, at), vaddr + at, text, sizeof(text));
		const struct line_row *row = map ? function_map_line(map, (uint32_t)at) : NULL;
		json_array(json);
		json_uint(json, at);
		json_text(json, text);
		json_uint(json, row ? row->file : 0);
		json_uint(json, row ? row->line : 0);
		json_end_array(json);
		used += strlen(text) + 12;
		at += len;
	}
	json_end_array(json);
	return used;
}

/* Of the functions that make up most of the cost, as far as the profile holds their code. */
static void write_code(struct json *json, const struct document *d, const struct export_options *options)
{
	struct flat_table table;
	uint64_t sum = 0;
	size_t used = 0;

	flatten_frames(d, &table);
	flat_table_sort(&table, options->metric);
	json_name(json, "code");
	json_array(json);
	for (size_t i = 0; i < table.rows.n && used < SOURCE_LIMIT && (double)sum <= SOURCE_SHARE * (double)d->inclusive[options->metric]; i++) {
		const struct flat_row *row = &table.rows.at[i];
		const struct document_frame *f = &d->frames.at[row->frame];
		if (f->kind != SCOPE_FUNCTION || f->image >= d->profile->images.n)
			continue;
		struct bytes code = profile_code_at(d->profile, f->image, f->vaddr);
		const struct isa *isa = isa_for_machine((uint16_t)d->profile->images.at[f->image].elf_machine);
		sum += row->self[options->metric];
		if (!isa || !code.len)
			continue;
		json_object(json);
		json_uint_of(json, "frame", row->frame);
		json_name(json, "insns");
		used += write_insns(json, isa, code, f->vaddr, profile_function(d->profile, f->image, f->vaddr));
		json_end_object(json);
	}
	json_end_array(json);
	flat_table_done(&table);
}

void html_write_meta(FILE *to, const struct document *document, const struct export_options *options)
{
	struct json json;

	json_init(&json, to);
	json_object(&json);
	html_column_directory(&json, document);
	write_names(&json, document->profile);
	json_uint_of(&json, "default_metric", options->metric);
	write_run(&json, document->profile);
	write_quality(&json, document);
	write_sources(&json, document, options);
	write_code(&json, document, options);
	json_end_object(&json);
}
