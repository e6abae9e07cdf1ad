/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html: the report that most people look at: one file, no network, opens from disk.
 *
 * The page (report/html/) is embedded at build time. The profile travels in it as u32 columns, each
 * split into byte planes so that it deflates well, and a JSON object for what is not a column.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/compress.h"
#include "base/embed.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "binary/isa.h"
#include "report/exporter.h"
#include "report/flatten.h"
#include "report/quality.h"
#include "report/source_text.h"

EMBED(html_index, "report/html/index.html");
EMBED(html_style, "report/html/style.css");
EMBED(html_data, "report/html/data.js");
EMBED(html_model, "report/html/model.js");
EMBED(html_dom, "report/html/dom.js");
EMBED(html_state, "report/html/state.js");
EMBED(html_grid, "report/html/grid.js");
EMBED(html_columns, "report/html/columns.js");
EMBED(html_view_tree, "report/html/view_tree.js");
EMBED(html_view_callers, "report/html/view_callers.js");
EMBED(html_view_flat, "report/html/view_flat.js");
EMBED(html_view_sandwich, "report/html/view_sandwich.js");
EMBED(html_view_flame, "report/html/view_flame.js");
EMBED(html_view_source, "report/html/view_source.js");
EMBED(html_view_threads, "report/html/view_threads.js");
EMBED(html_view_summary, "report/html/view_summary.js");
EMBED(html_app, "report/html/app.js");

/* In the order in which they need each other. */
static const char *const scripts[] = { html_data,	  html_model,	   html_dom,	     html_state,       html_grid,
				       html_columns,	  html_view_tree,  html_view_callers, html_view_flat,   html_view_sandwich,
				       html_view_flame,	  html_view_source, html_view_threads, html_view_summary, html_app };

#define SOURCE_LIMIT (8u << 20) /* bytes of source text in one report */
#define SOURCE_SHARE 0.99       /* of the cost whose source is embedded */

/* ---- columns --------------------------------------------------------------------------------------- */

struct columns {
	struct text planes;   /* all columns, byte planes, one behind the other */
	struct json *directory;
};

/* One column of n values, get(context, i) each. */
static void add_column(struct columns *columns, const char *name, size_t n, uint32_t (*get)(const void *context, size_t i),
		       const void *context)
{
	uint8_t *planes = alloc_resize(NULL, n * 4, 1);

	for (size_t i = 0; i < n; i++) {
		uint32_t value = get(context, i);
		for (unsigned plane = 0; plane < 4; plane++)
			planes[plane * n + i] = (uint8_t)(value >> 8 * plane);
	}
	text_add(&columns->planes, (const char *)planes, n * 4);
	free(planes);
	json_array(columns->directory);
	json_text(columns->directory, name);
	json_uint(columns->directory, n);
	json_end_array(columns->directory);
}

#define GET(name, expression)                                \
	static uint32_t name(const void *context, size_t i)  \
	{                                                    \
		const struct document *d = context;          \
		return (uint32_t)(expression);               \
	}
GET(frame_kind, d->frames.at[i].kind)
GET(frame_flags, d->frames.at[i].flags)
GET(frame_name, d->frames.at[i].name)
GET(frame_module, d->frames.at[i].image)
GET(frame_file, d->frames.at[i].file)
GET(frame_line, d->frames.at[i].line)
GET(frame_end_line, d->frames.at[i].end_line)
GET(node_back, i ? i - d->parent.at[i] : 0)
GET(node_frame, d->frame.at[i])
GET(node_relation, d->tree->scopes.at[d->scope.at[i]].relation)
GET(node_call_file, d->tree->scopes.at[d->scope.at[i]].call_file)
GET(node_call_line, d->tree->scopes.at[d->scope.at[i]].call_line)
GET(value_node, d->values.at[i].scope)
GET(value_thread, d->values.at[i].thread)
GET(value_metric, d->values.at[i].metric)
GET(value_low, d->values.at[i].value)
GET(value_high, d->values.at[i].value >> 32)
GET(point_node, d->points.at[i].node)
GET(point_file, d->points.at[i].file)
GET(point_line, d->points.at[i].line)
GET(point_metric, d->points.at[i].metric)
GET(point_low, d->points.at[i].value)
GET(point_high, d->points.at[i].value >> 32)
GET(time_thread, d->profile->timeline.at[i].thread)
GET(time_bin, d->profile->timeline.at[i].bin)
GET(time_value, d->profile->timeline.at[i].samples)

/* Where in its function a point stands. */
static uint32_t point_offset(const void *context, size_t i)
{
	const struct document *d = context;
	const struct function_map *map = profile_function(d->profile, d->points.at[i].image, d->points.at[i].vaddr);

	return map ? (uint32_t)(d->points.at[i].vaddr - map->vaddr) : UINT32_MAX;
}

static void write_columns(struct columns *columns, const struct document *d)
{
	const struct {
		const char *name;
		size_t n;
		uint32_t (*get)(const void *context, size_t i);
	} all[] = {
		{ "frame.kind", d->frames.n, frame_kind },
		{ "frame.flags", d->frames.n, frame_flags },
		{ "frame.name", d->frames.n, frame_name },
		{ "frame.module", d->frames.n, frame_module },
		{ "frame.file", d->frames.n, frame_file },
		{ "frame.line", d->frames.n, frame_line },
		{ "frame.end_line", d->frames.n, frame_end_line },
		{ "node.back", d->scope.n, node_back },
		{ "node.frame", d->scope.n, node_frame },
		{ "node.relation", d->scope.n, node_relation },
		{ "node.call_file", d->scope.n, node_call_file },
		{ "node.call_line", d->scope.n, node_call_line },
		{ "value.node", d->values.n, value_node },
		{ "value.thread", d->values.n, value_thread },
		{ "value.metric", d->values.n, value_metric },
		{ "value.low", d->values.n, value_low },
		{ "value.high", d->values.n, value_high },
		{ "point.node", d->points.n, point_node },
		{ "point.file", d->points.n, point_file },
		{ "point.line", d->points.n, point_line },
		{ "point.offset", d->points.n, point_offset },
		{ "point.metric", d->points.n, point_metric },
		{ "point.low", d->points.n, point_low },
		{ "point.high", d->points.n, point_high },
		{ "time.thread", d->profile->timeline.n, time_thread },
		{ "time.bin", d->profile->timeline.n, time_bin },
		{ "time.value", d->profile->timeline.n, time_value },
	};

	json_name(columns->directory, "columns");
	json_array(columns->directory);
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		add_column(columns, all[i].name, all[i].n, all[i].get, d);
	json_end_array(columns->directory);
}

/* ---- what is not a column --------------------------------------------------------------------------- */

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

static void write_quality(struct json *json, const struct profile *profile)
{
	const struct profile_quality *q = &profile->quality;
	struct text line = { 0 };

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

/* Lines around a function that the report may want to show. */
static void write_lines(struct json *json, uint32_t file, const struct source_text *text, size_t *used)
{
	json_object(json);
	json_uint_of(json, "file", file);
	json_uint_of(json, "first", 1);
	json_name(json, "lines");
	json_array(json);
	for (size_t i = 0; i < text->lines.n; i++) {
		json_text(json, text->lines.at[i]);
		*used += strlen(text->lines.at[i]) + 3;
	}
	json_end_array(json);
	json_end_object(json);
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
		write_lines(json, row->file, &text, &used);
		source_text_done(&text);
	}
	json_end_array(json);
	map_done(&seen);
	flat_table_done(&table);
}

/* ---- instructions ------------------------------------------------------------------------------------ */

static size_t write_insns(struct json *json, const struct isa *isa, struct bytes code, uint64_t vaddr)
{
	char text[128];
	size_t used = 0;

	json_array(json);
	for (uint64_t at = 0; at < code.len;) {
		struct insn insn;
		uint32_t len = isa->decode(bytes_from(code, at), vaddr + at, &insn) == 0 ? insn.len : isa->min_insn;
		isa->format(bytes_from(code, at), vaddr + at, text, sizeof(text));
		json_array(json);
		json_uint(json, at);
		json_text(json, text);
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
		used += write_insns(json, isa, code, f->vaddr);
		json_end_object(json);
	}
	json_end_array(json);
	flat_table_done(&table);
}

/* ---- the page ---------------------------------------------------------------------------------------- */

static void write_base64(FILE *to, struct bytes bytes)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < bytes.len; i += 3) {
		size_t left = bytes.len - i;
		uint32_t b = (uint32_t)bytes.at[i] << 16 | (left > 1 ? (uint32_t)bytes.at[i + 1] << 8 : 0) | (left > 2 ? bytes.at[i + 2] : 0u);
		putc(digits[b >> 18], to);
		putc(digits[b >> 12 & 63], to);
		putc(left > 1 ? digits[b >> 6 & 63] : '=', to);
		putc(left > 2 ? digits[b & 63] : '=', to);
	}
}

static void write_packed(FILE *to, struct bytes bytes)
{
	struct buffer packed = { 0 };

	compress_deflate_raw(bytes, &packed);
	write_base64(to, (struct bytes){ packed.at, packed.len });
	free(packed.at);
}

static void write_escaped(FILE *to, const char *text)
{
	for (; *text; text++) {
		if (*text == '<' || *text == '>' || *text == '&' || (unsigned char)*text < ' ')
			fprintf(to, "&#%u;", (unsigned char)*text);
		else
			putc(*text, to);
	}
}

/* For mail previews and pagers: the heaviest functions as a plain table. */
static void write_plain_table(FILE *to, const struct document *d, uint32_t metric)
{
	struct flat_table table;
	struct text line = { 0 };
	char label[512];
	size_t rows = 0;

	quality_line(d->profile, &line);
	fputs("<h1>cpprof: ", to);
	write_escaped(to, profile_text(d->profile, d->profile->run.target));
	fputs("</h1><p>", to);
	write_escaped(to, line.at);
	fputs("</p><table><tr><th>self</th><th>total</th><th>name</th></tr>", to);
	flatten_frames(d, &table);
	flat_table_sort(&table, metric);
	for (size_t i = 0; i < table.rows.n && rows < 20; i++) {
		const struct flat_row *row = &table.rows.at[i];
		double all = d->inclusive[metric] ? (double)d->inclusive[metric] : 1;
		if (d->frames.at[row->frame].kind < SCOPE_FUNCTION)
			continue;
		fprintf(to, "<tr><td>%.2f%%</td><td>%.2f%%</td><td>", 100 * (double)row->self[metric] / all, 100 * (double)row->total[metric] / all);
		write_escaped(to, document_frame_label(d, row->frame, label, sizeof(label)));
		fputs("</td></tr>", to);
		rows++;
	}
	fputs("</table>", to);
	flat_table_done(&table);
	text_done(&line);
}

struct page {
	FILE *to;
	const struct document *document;
	struct bytes columns, meta;
	uint32_t metric;
};

static void write_part(const struct page *page, const char *name, size_t len)
{
	if (len == 5 && strncmp(name, "style", len) == 0)
		fputs(html_style, page->to);
	else if (len == 8 && strncmp(name, "noscript", len) == 0)
		write_plain_table(page->to, page->document, page->metric);
	else if (len == 7 && strncmp(name, "columns", len) == 0)
		write_packed(page->to, page->columns);
	else if (len == 4 && strncmp(name, "meta", len) == 0)
		write_packed(page->to, page->meta);
	else if (len == 6 && strncmp(name, "script", len) == 0)
		for (size_t i = 0; i < ARRAY_LEN(scripts); i++)
			fputs(scripts[i], page->to);
}

/* The page with each line "@name@" replaced by what it names. */
static void write_page(const struct page *page)
{
	const char *at = html_index;

	for (;;) {
		const char *mark = strchr(at, '@');
		const char *end = mark ? strchr(mark + 1, '@') : NULL;
		if (!end) {
			fputs(at, page->to);
			return;
		}
		fwrite(at, 1, (size_t)(mark - at), page->to);
		write_part(page, mark + 1, (size_t)(end - mark - 1));
		at = end + 1;
	}
}

static int write_html(const struct export_input *input, const struct export_options *options, FILE *to, struct diag *diag)
{
	struct document document;
	char *meta = NULL;
	size_t meta_len = 0;
	FILE *meta_file = open_memstream(&meta, &meta_len);
	struct json json;
	struct columns columns = { .directory = &json };

	(void)diag;
	document_init(&document, input->profile, input->tree);
	json_init(&json, meta_file);
	json_object(&json);
	write_columns(&columns, &document);
	write_names(&json, input->profile);
	json_uint_of(&json, "default_metric", options->metric);
	write_run(&json, input->profile);
	write_quality(&json, input->profile);
	write_sources(&json, &document, options);
	write_code(&json, &document, options);
	json_end_object(&json);
	fclose(meta_file);
	write_page(&(struct page){ to, &document, { (const uint8_t *)columns.planes.at, columns.planes.len },
				   { (const uint8_t *)meta, meta_len }, options->metric });
	free(meta);
	text_done(&columns.planes);
	document_done(&document);
	return 0;
}

const struct exporter exporter_html = {
	.name = "html",
	.suffixes = ".html .htm",
	.summary = "the report to look at: one file, opens in any browser",
	.carries = CARRIES_INLINES | CARRIES_LOOPS | CARRIES_THREADS | CARRIES_TIME | CARRIES_METRICS | CARRIES_LINES | CARRIES_CALL_SITES |
		   CARRIES_CONTEXT,
	.loops_by_default = true,
	.needs_lines = true,
	.max_nodes = 1000000,
	.write = write_html,
};
