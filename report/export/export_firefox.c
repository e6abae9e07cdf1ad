/* SPDX-License-Identifier: Apache-2.0 */
/*
 * firefox: the Firefox Profiler's processed format. Always version 60: newer viewers read older files, older
 * viewers refuse newer ones.
 *
 * The profile is a sum over time, but the viewer expects samples in time: the samples of a thread are placed
 * end to end, in depth-first order, each as long as its weight. The file says so. A frame has the address of
 * the sample or the call; functions inlined there have the same address, one level further in.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "report/export/exporter.h"
#include "report/export/firefox.h"

/* ---- columns ---------------------------------------------------------------------------------- */

static uint32_t firefox_string(struct firefox *f, const char *text)
{
	return intern_add(&f->strings, text);
}

/* Position of a value in a list of distinct values. */
static uint32_t number_in(struct map *index, uint32_t value, uint32_t next)
{
	uint32_t at = map_find(index, value);

	if (at != MAP_NONE)
		return at;
	map_put(index, value, next);
	return next;
}

static uint32_t firefox_source_of(struct firefox *f, uint32_t file)
{
	uint32_t at = number_in(&f->file_index, file, (uint32_t)f->files.n);

	if (at == f->files.n)
		vec_push(&f->files, file);
	return at;
}

static uint32_t native_of(struct firefox *f, uint32_t frame)
{
	if (f->document->frames.at[frame].image >= f->document->profile->images.n)
		return FIREFOX_NONE;
	uint32_t at = number_in(&f->native_index, frame, (uint32_t)f->natives.n);
	if (at == f->natives.n)
		vec_push(&f->natives, frame);
	return at;
}

static void write_index(struct json *json, uint32_t index)
{
	if (index == FIREFOX_NONE)
		json_null(json);
	else
		json_uint(json, index);
}

typedef void write_cell(struct firefox *f, size_t row);

static void firefox_write_column(struct firefox *f, const char *name, size_t n, write_cell *cell)
{
	json_name(&f->json, name);
	json_array(&f->json);
	for (size_t i = 0; i < n; i++)
		cell(f, i);
	json_end_array(&f->json);
}

static void cell_null(struct firefox *f, size_t row)
{
	(void)row;
	json_null(&f->json);
}

static void cell_zero(struct firefox *f, size_t row)
{
	(void)row;
	json_uint(&f->json, 0);
}

static void cell_one(struct firefox *f, size_t row)
{
	(void)row;
	json_uint(&f->json, 1);
}

static void cell_false(struct firefox *f, size_t row)
{
	(void)row;
	json_bool(&f->json, false);
}

static void cell_row(struct firefox *f, size_t row)
{
	json_uint(&f->json, row);
}

struct column {
	const char *name;
	write_cell *cell;
};

static void firefox_write_table(struct firefox *f, const char *name, size_t n, const struct column *columns)
{
	json_name(&f->json, name);
	json_object(&f->json);
	for (; columns->name; columns++)
		firefox_write_column(f, columns->name, n, columns->cell);
	json_uint_of(&f->json, "length", n);
	json_end_object(&f->json);
}

/* ---- tables ----------------------------------------------------------------------------------- */

static void stack_frame(struct firefox *f, size_t row)
{
	json_uint(&f->json, firefox_stack(f, row)->frame);
}

static void stack_prefix(struct firefox *f, size_t row)
{
	write_index(&f->json, firefox_stack(f, row)->prefix);
}

static const struct column stack_columns[] = { { "frame", stack_frame }, { "prefix", stack_prefix }, { 0 } };

static void frame_address(struct firefox *f, size_t row)
{
	const struct firefox_place *p = firefox_frame(f, row);
	bool has = f->document->frames.at[p->function].image < f->document->profile->images.n;

	json_int(&f->json, has ? (int64_t)p->vaddr : -1);
}

static void frame_depth(struct firefox *f, size_t row)
{
	json_uint(&f->json, firefox_frame(f, row)->depth);
}

static void frame_category(struct firefox *f, size_t row)
{
	const struct scope_frame *frame = &f->document->frames.at[firefox_frame(f, row)->function];

	json_uint(&f->json, frame->flags & SCOPE_KERNEL  ? CATEGORY_KERNEL
			    : frame->image == IMAGE_NONE ? CATEGORY_OTHER
							 : CATEGORY_USER);
}

static void frame_func(struct firefox *f, size_t row)
{
	json_uint(&f->json, firefox_frame(f, row)->function);
}

static void frame_native(struct firefox *f, size_t row)
{
	write_index(&f->json, native_of(f, firefox_frame(f, row)->native));
}

static void frame_line(struct firefox *f, size_t row)
{
	const struct firefox_place *p = firefox_frame(f, row);
	bool has = p->line && f->document->frames.at[p->function].image != IMAGE_NONE;

	write_index(&f->json, has ? p->line : FIREFOX_NONE);
}

static const struct column frame_columns[] = {
	{ "address", frame_address },   { "inlineDepth", frame_depth },
	{ "category", frame_category }, { "subcategory", cell_zero },
	{ "func", frame_func },         { "nativeSymbol", frame_native },
	{ "innerWindowID", cell_zero }, { "line", frame_line },
	{ "column", cell_null },        { 0 },
};

static void func_name(struct firefox *f, size_t row)
{
	char label[512];

	json_uint(&f->json,
		  firefox_string(f, document_frame_label(f->document, (uint32_t)row, label, sizeof(label))));
}

static void func_resource(struct firefox *f, size_t row)
{
	image_id image = f->document->frames.at[row].image;

	json_int(&f->json, image < f->document->profile->images.n ? (int64_t)image : -1);
}

static void func_source(struct firefox *f, size_t row)
{
	uint32_t file = f->document->frames.at[row].file;

	write_index(&f->json, file ? firefox_source_of(f, file) : FIREFOX_NONE);
}

static void func_line(struct firefox *f, size_t row)
{
	uint32_t line = f->document->frames.at[row].line;

	write_index(&f->json, line ? line : FIREFOX_NONE);
}

static const struct column func_columns[] = {
	{ "name", func_name },           { "isJS", cell_false },
	{ "relevantForJS", cell_false }, { "resource", func_resource },
	{ "source", func_source },       { "lineNumber", func_line },
	{ "columnNumber", cell_null },   { 0 },
};

static void resource_name(struct firefox *f, size_t row)
{
	json_uint(&f->json, firefox_string(f, profile_image_name(f->document->profile, (image_id)row)));
}

static const struct column resource_columns[] = {
	{ "name", resource_name }, { "host", cell_null }, { "type", cell_one }, { "lib", cell_row }, { 0 },
};

static void native_lib(struct firefox *f, size_t row)
{
	json_uint(&f->json, f->document->frames.at[f->natives.at[row]].image);
}

static void native_address(struct firefox *f, size_t row)
{
	json_uint(&f->json, f->document->frames.at[f->natives.at[row]].vaddr);
}

static void native_name(struct firefox *f, size_t row)
{
	func_name(f, f->natives.at[row]);
}

static const struct column native_columns[] = {
	{ "libIndex", native_lib },
	{ "address", native_address },
	{ "name", native_name },
	{ "functionSize", cell_null },
	{ 0 },
};

static void source_file(struct firefox *f, size_t row)
{
	json_uint(&f->json, firefox_string(f, profile_text(f->document->profile, f->files.at[row])));
}

static const struct column source_columns[] = { { "uuid", cell_null }, { "filename", source_file }, { 0 } };

static void cell_string(struct firefox *f, size_t row)
{
	json_text(&f->json, f->strings.strings.at[row]);
}

/* The strings come last: they are collected while the tables are written. */
static void write_shared(struct firefox *f)
{
	json_name(&f->json, "shared");
	json_object(&f->json);
	firefox_write_table(f, "stackTable", f->stacks.n, stack_columns);
	firefox_write_table(f, "frameTable", f->frames.n, frame_columns);
	firefox_write_table(f, "funcTable", f->document->frames.n, func_columns);
	firefox_write_table(f, "resourceTable", f->document->profile->images.n, resource_columns);
	firefox_write_table(f, "nativeSymbols", f->natives.n, native_columns);
	firefox_write_table(f, "sources", f->files.n, source_columns);
	firefox_write_column(f, "stringArray", f->strings.strings.n, cell_string);
	json_end_object(&f->json);
}

/* ---- threads ---------------------------------------------------------------------------------- */

/* A weight in the unit of the file: milliseconds or counts. */
static double firefox_weight_of(const struct firefox *f, uint64_t value)
{
	return f->is_time ? (double)value / 1e6 : (double)value;
}

/* Without a time unit, a sample is as long as its count. */
static void write_samples(struct firefox *f, size_t first, size_t end)
{
	uint64_t now = 0;

	json_name(&f->json, "samples");
	json_object(&f->json);
	json_name(&f->json, "stack");
	json_array(&f->json);
	for (size_t i = first; i < end; i++)
		write_index(&f->json, f->samples.at[i].stack);
	json_end_array(&f->json);
	json_name(&f->json, "time");
	json_array(&f->json);
	for (size_t i = first; i < end; i++) {
		json_number(&f->json, firefox_weight_of(f, now));
		now += f->samples.at[i].weight;
	}
	json_end_array(&f->json);
	json_name(&f->json, "weight");
	json_array(&f->json);
	for (size_t i = first; i < end; i++)
		json_number(&f->json, firefox_weight_of(f, f->samples.at[i].weight));
	json_end_array(&f->json);
	json_text_of(&f->json, "weightType", f->is_time ? "tracing-ms" : "samples");
	json_uint_of(&f->json, "length", end - first);
	json_end_object(&f->json);
}

static void begin_column(struct firefox *f, const char *name)
{
	json_name(&f->json, name);
	json_array(&f->json);
}

/* It is not known when samples were lost: the marker covers the whole recording. */
static void write_markers(struct firefox *f, bool is_first)
{
	const struct profile *profile = f->document->profile;
	size_t n = is_first && profile->quality.lost ? 1 : 0;
	struct json *json = &f->json;

	json_name(json, "markers");
	json_object(json);
	begin_column(f, "data");
	if (n) {
		json_object(json);
		json_text_of(json, "type", "cpprof-lost");
		json_uint_of(json, "samples", profile->quality.lost);
		json_end_object(json);
	}
	json_end_array(json);
	begin_column(f, "name");
	if (n)
		json_uint(json, firefox_string(f, "lost samples"));
	json_end_array(json);
	firefox_write_column(f, "startTime", n, cell_zero);
	begin_column(f, "endTime");
	if (n)
		json_number(json, (double)profile->run.duration_ns / 1e6);
	json_end_array(json);
	firefox_write_column(f, "phase", n, cell_one);
	firefox_write_column(f, "category", n, cell_zero);
	json_uint_of(json, "length", n);
	json_end_object(json);
}

static void write_thread(struct firefox *f, size_t first, size_t end)
{
	static const struct profile_thread nobody;
	const struct profile *profile = f->document->profile;
	uint32_t index = f->samples.at[first].thread;
	const struct profile_thread *t = index < profile->threads.n ? &profile->threads.at[index] : &nobody;
	const struct profile_process *p =
		t != &nobody && t->process < profile->processes.n ? &profile->processes.at[t->process] : NULL;
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", p ? p->pid : 0);
	json_object(&f->json);
	json_text_of(&f->json, "processType", "default");
	json_uint_of(&f->json, "processStartupTime", 0);
	json_name(&f->json, "processShutdownTime");
	json_null(&f->json);
	json_uint_of(&f->json, "registerTime", 0);
	json_name(&f->json, "unregisterTime");
	json_null(&f->json);
	begin_column(f, "pausedRanges");
	json_end_array(&f->json);
	json_text_of(&f->json, "name", profile_text(profile, t->comm));
	json_bool_of(&f->json, "isMainThread", p && p->pid == t->tid);
	json_text_of(&f->json, "processName", p ? profile_text(profile, p->comm) : "");
	json_text_of(&f->json, "pid", pid);
	json_int_of(&f->json, "tid", t->tid);
	write_samples(f, first, end);
	write_markers(f, first == 0);
	json_end_object(&f->json);
}

static void firefox_write_threads(struct firefox *f)
{
	begin_column(f, "threads");
	for (size_t i = 0, end; i < f->samples.n; i = end) {
		for (end = i; end < f->samples.n && f->samples.at[end].thread == f->samples.at[i].thread;)
			end++;
		write_thread(f, i, end);
	}
	json_end_array(&f->json);
}

/* ---- the whole -------------------------------------------------------------------------------- */

static void firefox_release(struct firefox *f)
{
	free(f->rank);
	vec_done(&f->path);
	numbering_done(&f->frames);
	numbering_done(&f->stacks);
	vec_done(&f->samples);
	vec_done(&f->files);
	vec_done(&f->natives);
	map_done(&f->file_index);
	map_done(&f->native_index);
	intern_done(&f->strings);
}

static int write_firefox(const struct export_input *input, const struct export_options *options, FILE *to,
			 struct diag *diag)
{
	const struct profile *profile = input->profile;
	struct document document;

	(void)diag;
	document_init(&document, profile, input->tree);
	struct firefox f = { .document = &document, .metric = options->metric };
	f.is_time = strcmp(profile_text(profile, profile->metrics.at[f.metric].unit), "ns") == 0;
	intern_init(&f.strings);
	json_init(&f.json, to);
	firefox_collect(&f);
	json_object(&f.json);
	firefox_write_head(&f);
	firefox_write_threads(&f);
	write_shared(&f);
	json_end_object(&f.json);
	json_line(&f.json);
	firefox_release(&f);
	document_done(&document);
	return json_done(&f.json);
}

const struct exporter exporter_firefox = {
	.name = "firefox",
	.suffixes = ".firefox.json .firefox",
	.summary = "for the Firefox Profiler and Perfetto; samples are placed end to end",
	.carries = CARRIES_INLINES | CARRIES_LOOPS | CARRIES_THREADS | CARRIES_BUILD_IDS | CARRIES_LINES |
		   CARRIES_CALL_SITES | CARRIES_CONTEXT,
	.needs_lines = true,
	.max_nodes = 500000,
	.walks_stacks = true,
	.write = write_firefox,
};
