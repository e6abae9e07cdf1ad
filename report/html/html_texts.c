/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html_texts: source text and instructions of the most expensive functions. Each file and each function is a
 * separate part, which the page unpacks when it is first shown.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "binary/isa/isa.h"
#include "report/annotate/insn_loops.h"
#include "report/annotate/insn_text.h"
#include "report/annotate/source_text.h"
#include "report/annotate/way_lines.h"
#include "report/html/html.h"
#include "report/tree/flatten.h"
#include "report/tree/loop_counts.h"

#define SOURCE_LIMIT (8u << 20) /* bytes of source text in one report */
#define SHORT_FILE 1500         /* lines: such a file is embedded whole */
#define NEAR 5                  /* lines around one that is shown */
#define SOURCE_SHARE 0.99       /* share of the cost whose source is embedded */
#define MOST_WAYS 8             /* of a function, shown in the margin */

/* A part of JSON text, named by a number. */
struct text_part {
	struct html_part part;
	struct json json;
};

static void text_part_open(struct text_part *part, FILE *to, const char *kind, uint32_t number)
{
	char name[16];

	snprintf(name, sizeof(name), "%u", number);
	html_part_open(&part->part, to, kind, name);
	json_init(&part->json, part->part.packed);
}

/* ---- source text ------------------------------------------------------------------------------------ */

/* Lines from first to last, as one piece. */
static void write_piece(struct json *json, const struct source_text *text, size_t first, size_t last,
			size_t *used)
{
	json_object(json);
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

/* Lines are counted from 1; those outside the text are ignored. */
static void want(bool *wanted, size_t n, uint64_t first, uint64_t last)
{
	for (uint64_t line = first > NEAR ? first - NEAR : 1; line <= last + NEAR && line <= n; line++)
		wanted[line - 1] = true;
}

/* For a long file: the functions and loops of the tree and the lines with costs. */
static bool *wanted_lines(const struct document *d, uint32_t file, size_t n)
{
	bool *wanted = alloc_zero(n + 1, sizeof(bool));

	for (size_t i = 0; i < d->frames.n; i++) {
		const struct scope_frame *f = &d->frames.at[i];
		if (f->file == file && f->line)
			want(wanted, n, f->line, f->end_line > f->line ? f->end_line : f->line);
	}
	for (size_t i = 0; i < d->n_points; i++) {
		struct document_point point = document_point(d, i);
		if (point.file == file && point.line)
			want(wanted, n, point.line, point.line);
	}
	return wanted;
}

static void write_lines(struct json *json, const struct document *d, uint32_t file,
			const struct source_text *text, size_t *used)
{
	size_t n = text->lines.n;
	bool *wanted = n > SHORT_FILE ? wanted_lines(d, file, n) : NULL;

	json_array(json);
	for (size_t first = 0; first < n && *used < SOURCE_LIMIT; first++) {
		size_t last = first;
		if (wanted && !wanted[first])
			continue;
		while (last + 1 < n && (!wanted || wanted[last + 1]))
			last++;
		write_piece(json, text, first, last, used);
		first = last;
	}
	json_end_array(json);
	free(wanted);
}

/* The files of the functions that make up most of the cost, most expensive first. */
static void write_sources(FILE *to, const struct document *d, const struct export_options *options)
{
	struct flat_table table;
	struct map seen = { 0 };
	uint64_t sum = 0;
	size_t used = 0;

	flatten_frames(d, &table);
	flat_table_sort(&table, options->metric);
	for (size_t i = 0; i < table.rows.n && used < SOURCE_LIMIT; i++) {
		const struct flat_row *row = &table.rows.at[i];
		struct source_text text;
		if ((double)sum > SOURCE_SHARE * (double)document_inclusive(d, 0, options->metric))
			break;
		sum += row->self[options->metric];
		if (!row->file || map_find(&seen, row->file) != MAP_NONE)
			continue;
		map_put(&seen, row->file, 1);
		if (source_text_read(profile_text(d->profile, row->file), options->sources, &text) < 0)
			continue;
		struct text_part part;
		text_part_open(&part, to, "source", row->file);
		write_lines(&part.json, d, row->file, &text, &used);
		html_part_close(&part.part);
		source_text_done(&text);
	}
	map_done(&seen);
	flat_table_done(&table);
}

/* ---- instructions ------------------------------------------------------------------------------------ */

/* The function whose instructions are written. */
struct code {
	const struct profile *profile;
	image_id image;
	const struct isa *isa;
	struct bytes bytes;
	uint64_t vaddr;
	const struct function_map *map;    /* NULL = no lines are known */
	const struct structure *structure; /* NULL = no loops are known */
	struct insn_loops loops;
};

/* "insns": offset, text, file, line, innermost scope, innermost machine loop of each. Returns the approximate
 * size in bytes. */
static size_t write_insns(struct json *json, const struct code *code)
{
	CLEANUP(text_done) struct text text = { 0 };
	size_t used = 0;

	json_name(json, "insns");
	json_array(json);
	for (uint64_t at = 0; at < code->bytes.len;) {
		struct bytes here = bytes_from(code->bytes, at);
		struct insn insn;
		uint32_t len = code->isa->decode(here, code->vaddr + at, &insn) == 0 ? insn.len
										     : code->isa->min_insn;
		const struct line_row *row = code->map ? function_map_line(code->map, (uint32_t)at) : NULL;
		text_clear(&text);
		insn_text(code->profile, code->image, code->isa, here, code->vaddr + at, &text);
		json_array(json);
		json_uint(json, at);
		json_text(json, text.at);
		json_uint(json, row ? row->file : 0);
		json_uint(json, row ? row->line : 0);
		json_uint(json, code->structure ? structure_find(code->structure, code->vaddr + at) : 0);
		json_uint(json, insn_loops_at(&code->loops, code->vaddr + at));
		json_end_array(json);
		used += text.len + 14;
		at += len;
	}
	json_end_array(json);
	return used;
}

/* "scopes": parent, kind, name of each; the name of a loop is that of the function it is written in. */
static void write_scopes(struct json *json, const struct structure *structure)
{
	json_name(json, "scopes");
	json_array(json);
	for (size_t i = 0; structure && i < structure->scopes.n; i++) {
		const struct static_scope *scope = &structure->scopes.at[i];
		json_array(json);
		json_uint(json, scope->parent);
		json_uint(json, scope->kind);
		json_uint(json, scope->name);
		json_end_array(json);
	}
	json_end_array(json);
}

static size_t html_texts_write_function(FILE *to, uint32_t frame, const struct code *code)
{
	struct text_part part;
	size_t used;

	text_part_open(&part, to, "code", frame);
	json_object(&part.json);
	used = write_insns(&part.json, code);
	write_scopes(&part.json, code->structure);
	json_end_object(&part.json);
	html_part_close(&part.part);
	return used;
}

/* ---- ways ------------------------------------------------------------------------------------------------
 */

static void write_way(struct json *json, const struct function_map *map, const struct loop_counts *counts,
		      const struct counted_way *way)
{
	way_lines lines = { 0 };

	way_lines_find(map, counts->way_blocks.at + way->first_block, way->n_blocks, &lines);
	json_object(json);
	json_number_of(json, "count", way->count);
	json_bool_of(json, "leaves", way->leaves);
	json_uint_of(json, "next", way->next ? way_line(map, way->next) : 0);
	json_name(json, "lines");
	json_array(json);
	for (size_t i = 0; i < lines.n; i++)
		json_uint(json, lines.at[i]);
	json_end_array(json);
	json_end_object(json);
	vec_done(&lines);
}

static void write_ways(FILE *to, uint32_t frame, const struct code *code, const struct loop_counts *counts)
{
	const char *path = profile_text(code->profile, code->profile->images.at[code->image].path);
	const struct counted_function *f = counted_function_find(counts, path, code->vaddr);
	struct text_part part;

	if (!f || !f->n_ways || !code->map || !code->map->decl_file)
		return;
	text_part_open(&part, to, "ways", frame);
	json_object(&part.json);
	json_number_of(&part.json, "total", f->total);
	json_bool_of(&part.json, "relative", f->is_relative);
	json_name(&part.json, "ways");
	json_array(&part.json);
	for (size_t i = 0; i < f->n_ways && i < MOST_WAYS; i++)
		write_way(&part.json, code->map, counts, &counts->ways.at[f->first_way + i]);
	json_end_array(&part.json);
	json_end_object(&part.json);
	html_part_close(&part.part);
}

/* Of the functions that make up most of the cost, as far as the profile contains their code. */
static void html_texts_write_code(FILE *to, const struct document *d, const struct export_options *options)
{
	struct function_parts parts;
	struct flat_table table;
	uint64_t sum = 0;
	size_t used = 0;

	function_parts_init(&parts, d->profile);
	flatten_frames(d, &table);
	flat_table_sort(&table, options->metric);
	for (size_t i = 0; i < table.rows.n && used < SOURCE_LIMIT &&
			   (double)sum <= SOURCE_SHARE * (double)document_inclusive(d, 0, options->metric);
	     i++) {
		const struct flat_row *row = &table.rows.at[i];
		const struct scope_frame *f = &d->frames.at[row->frame];
		if (f->kind != SCOPE_FUNCTION || f->image >= d->profile->images.n)
			continue;
		struct code code = { .profile = d->profile,
				     .image = f->image,
				     .isa = isa_for_machine(
					     (uint16_t)d->profile->images.at[f->image].elf_machine),
				     .bytes = profile_code_at(d->profile, f->image, f->vaddr),
				     .vaddr = f->vaddr,
				     .map = profile_function(d->profile, f->image, f->vaddr),
				     .structure = profile_structure(d->profile, f->image, f->vaddr) };
		sum += row->self[options->metric];
		if (!code.isa || !code.bytes.len)
			continue;
		insn_loops_find(&parts, f->image, f->vaddr, &code.loops);
		used += html_texts_write_function(to, row->frame, &code);
		write_ways(to, row->frame, &code, options->counts);
		insn_loops_done(&code.loops);
	}
	flat_table_done(&table);
	function_parts_done(&parts);
}

void html_write_texts(FILE *to, const struct document *document, const struct export_options *options)
{
	write_sources(to, document, options);
	html_texts_write_code(to, document, options);
}
