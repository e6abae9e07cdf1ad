/* SPDX-License-Identifier: Apache-2.0 */
#include "report/export/json_sections.h"

#include <stdlib.h>

static size_t count_strings(const struct document *document)
{
	return document->profile->strings.strings.n;
}

static void write_strings(struct json *json, const struct document *document, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		json_text(json, profile_text(document->profile, (uint32_t)i));
}

static size_t count_modules(const struct document *document)
{
	return document->profile->images.n;
}

static void write_modules(struct json *json, const struct document *document, size_t from, size_t to)
{
	static const char *const kinds[] = { "elf", "vdso", "kernel", "jit", "unknown" };
	const struct profile *profile = document->profile;

	for (size_t i = from; i < to; i++) {
		const struct profile_image *image = &profile->images.at[i];
		char id[2 * BUILD_ID_MAX + 1];
		build_id_format(&image->build_id, id);
		json_object(json);
		json_uint_of(json, "id", i);
		json_text_of(json, "path", profile_text(profile, image->path));
		json_text_of(json, "build_id", image->build_id.len ? id : NULL);
		json_text_of(json, "kind", image->kind < ARRAY_LEN(kinds) ? kinds[image->kind] : "unknown");
		json_text_of(json, "debug", image->debug ? profile_text(profile, image->debug) : NULL);
		json_end_object(json);
	}
}

static size_t count_files(const struct document *document)
{
	return document->files.n;
}

static int64_t index_or_none(uint32_t index)
{
	return index == UINT32_MAX ? -1 : (int64_t)index;
}

/* One column: `value` is an expression of the row number i. */
#define COLUMN(name, write, value)                 \
	do {                                       \
		json_name(json, name);             \
		json_array(json);                  \
		for (size_t i = from; i < to; i++) \
			write(json, value);        \
		json_end_array(json);              \
	} while (0)

static void put_nothing(struct json *json, size_t row)
{
	(void)row;
	json_null(json);
}

/* Whole paths, as in the debug information; the files themselves were not opened. */
static void write_files(struct json *json, const struct document *document, size_t from, size_t to)
{
	COLUMN("path", json_uint, document->files.at[i]);
	COLUMN("dir", json_int, -1);
	COLUMN("digest", put_nothing, i);
}

/* Of a function, if it is contiguous; 0 is unknown. */
static uint64_t size_of(const struct document *document, const struct scope_frame *frame)
{
	const struct function_map *map = NULL;

	if (frame->kind == SCOPE_FUNCTION && frame->image < document->profile->images.n)
		map = profile_function(document->profile, frame->image, frame->vaddr);
	return map && map->vaddr == frame->vaddr ? map->size : 0;
}

static size_t json_section_count_frames(const struct document *document)
{
	return document->frames.n;
}

static void json_section_write_frames(struct json *json, const struct document *document, size_t from,
				      size_t to)
{
	const struct scope_frame *f = document->frames.at;

	COLUMN("kind", json_text, scope_kind_name(f[i].kind));
	COLUMN("name", json_uint, f[i].name);
	COLUMN("linkage", json_uint, f[i].linkage);
	COLUMN("module", json_int, index_or_none(f[i].image));
	COLUMN("file", json_uint, f[i].file);
	COLUMN("line", json_uint, f[i].line);
	COLUMN("end_line", json_uint, f[i].end_line);
	COLUMN("addr", json_uint, f[i].vaddr);
	COLUMN("size", json_uint, size_of(document, &f[i]));
	COLUMN("loop_parent", json_int, index_or_none(document->loops.at[i].parent));
	COLUMN("loop_depth", json_uint, document->loops.at[i].depth);
	COLUMN("flags", json_uint, f[i].flags);
}

static size_t json_section_count_nodes(const struct document *document)
{
	return document->n_nodes;
}

/* 0 is none. Kernel addresses do not fit into a signed number. */
static void put_address(struct json *json, uint64_t vaddr)
{
	if (vaddr)
		json_uint(json, vaddr);
	else
		json_int(json, -1);
}

static void write_nodes(struct json *json, const struct document *document, size_t from, size_t to)
{
	COLUMN("parent", json_int, index_or_none(document_parent(document, i)));
	COLUMN("frame", json_uint, document_frame(document, i));
	COLUMN("relation", json_text, scope_relation_name(scope_relation(scope_kind(document->tree, i))));
	COLUMN("call_addr", put_address, document_call(document, i)->vaddr);
	COLUMN("call_file", json_uint, document_call(document, i)->file);
	COLUMN("call_line", json_uint, document_call(document, i)->line);
	if (document->seen && document->seen->by_scope.n)
		COLUMN("activations", json_uint, document->seen->by_scope.at[i]);
}

/* By name; null if there is no value. */
static void json_section_write_derived(struct json *json, const struct document *document, size_t from,
				       size_t to, const struct derived *derived)
{
	struct document_cursor cursor;
	struct derived_nodes nodes;

	if (!derived->of.n)
		return;
	document_cursor_init(&cursor, document);
	derived_nodes_init(&nodes, derived, &cursor);
	json_name(json, "derived");
	json_object(json);
	for (size_t f = 0; f < derived->of.n; f++)
		COLUMN(derived->of.at[f].label, json_number, derived_node(&nodes, f, i));
	json_end_object(json);
	derived_nodes_done(&nodes);
	document_cursor_done(&cursor);
}

void json_node_values(struct json *json, const struct document *document, size_t from, size_t to, bool totals,
		      const struct derived *derived)
{
	struct document_cursor cursor;
	char name[16];

	document_cursor_init(&cursor, document);
	json_name(json, "exclusive");
	json_object(json);
	for (uint32_t m = 0; m < document->n_metrics; m++) {
		snprintf(name, sizeof(name), "%u", m);
		COLUMN(name, json_uint, document_self(&cursor, i, m));
	}
	json_end_object(json);
	document_cursor_done(&cursor);
	json_section_write_derived(json, document, from, to, derived);
	if (!totals)
		return;
	json_name(json, "inclusive");
	json_object(json);
	for (uint32_t m = 0; m < document->n_metrics; m++) {
		snprintf(name, sizeof(name), "%u", m);
		COLUMN(name, json_uint, document_inclusive(document, i, m));
	}
	json_end_object(json);
}

static size_t json_section_count_points(const struct document *document)
{
	return document->n_points;
}

static void write_points(struct json *json, const struct document *document, size_t from, size_t to)
{
	COLUMN("node", json_uint, document_point(document, i).node);
	COLUMN("file", json_uint, document_point(document, i).file);
	COLUMN("line", json_uint, document_point(document, i).line);
	COLUMN("addr", json_uint, document_point(document, i).vaddr);
	COLUMN("metric", json_uint, document_point(document, i).metric);
	COLUMN("value", json_uint, document_point(document, i).value);
}

static size_t count_processes(const struct document *document)
{
	return document->profile->processes.n;
}

static void write_processes(struct json *json, const struct document *document, size_t from, size_t to)
{
	const struct profile_process *p = document->profile->processes.at;

	COLUMN("pid", json_int, p[i].pid);
	COLUMN("ppid", json_int, p[i].parent_pid);
	COLUMN("comm", json_uint, p[i].comm);
	COLUMN("cmdline", json_uint, p[i].command_line);
	COLUMN("start_ns", json_uint, p[i].start_ns);
	COLUMN("exit_ns", json_uint, p[i].exit_ns);
}

static size_t count_threads(const struct document *document)
{
	return document->profile->threads.n;
}

static void json_section_write_threads(struct json *json, const struct document *document, size_t from,
				       size_t to)
{
	const struct profile_thread *t = document->profile->threads.at;

	COLUMN("process", json_uint, t[i].process);
	COLUMN("tid", json_int, t[i].tid);
	COLUMN("name", json_uint, t[i].comm);
	COLUMN("start_ns", json_uint, t[i].start_ns);
	COLUMN("exit_ns", json_uint, t[i].exit_ns);
}

static size_t count_thread_values(const struct document *document)
{
	return document->n_values;
}

static void write_thread_values(struct json *json, const struct document *document, size_t from, size_t to)
{
	struct document_cursor cursor;

	document_cursor_init(&cursor, document);
	COLUMN("thread", json_uint, document_value(&cursor, i).thread);
	COLUMN("node", json_uint, document_value(&cursor, i).scope);
	COLUMN("metric", json_uint, document_value(&cursor, i).metric);
	COLUMN("value", json_uint, document_value(&cursor, i).value);
	document_cursor_done(&cursor);
}

static size_t count_timeline(const struct document *document)
{
	return document->profile->timeline.n;
}

static void write_timeline(struct json *json, const struct document *document, size_t from, size_t to)
{
	const struct profile_bin *b = document->profile->timeline.at;
	uint64_t n_bins = 0;

	for (size_t i = 0; i < document->profile->timeline.n; i++)
		n_bins = b[i].bin >= n_bins ? (uint64_t)b[i].bin + 1 : n_bins;
	json_uint_of(json, "t0_ns", 0);
	json_uint_of(json, "bin_ns", document->profile->bin_ns);
	json_uint_of(json, "bins", n_bins);
	COLUMN("thread", json_uint, b[i].thread);
	COLUMN("bin", json_uint, b[i].bin);
	COLUMN("metric", json_uint, 0); /* samples */
	COLUMN("value", json_uint, b[i].samples);
}

const struct json_rows json_rows[] = {
	{ "strings", count_strings, write_strings, true, DETAIL_SUMMARY },
	{ "modules", count_modules, write_modules, true, DETAIL_SUMMARY },
	{ "files", count_files, write_files, false, DETAIL_SUMMARY },
	{ "frames", json_section_count_frames, json_section_write_frames, false, DETAIL_SUMMARY },
	{ "nodes", json_section_count_nodes, write_nodes, false, DETAIL_SUMMARY },
	{ "points", json_section_count_points, write_points, false, DETAIL_LINES },
	{ "processes", count_processes, write_processes, false, DETAIL_SUMMARY },
	{ "threads", count_threads, json_section_write_threads, false, DETAIL_SUMMARY },
	{ "thread_values", count_thread_values, write_thread_values, false, DETAIL_THREADS },
	{ "timeline", count_timeline, write_timeline, false, DETAIL_TIME },
	{ NULL, NULL, NULL, false, DETAIL_TIME },
};

size_t json_rows_count(const struct json_rows *rows, const struct document *document,
		       enum export_detail detail)
{
	return detail <= rows->detail ? rows->count(document) : 0;
}
