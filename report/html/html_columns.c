/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html_columns: the profile in the form that the page reads: blocks of u32 columns. Each column is split into
 * its byte planes so that it compresses well; high planes that are zero are omitted. The page unpacks a block
 * when a view first needs it.
 */
#include <stdlib.h>

#include "report/html/html.h"

#define GET(name, expression)                                     \
	static uint32_t name(struct document_cursor *c, size_t i) \
	{                                                         \
		const struct document *d = c->document;           \
		(void)d;                                          \
		return (uint32_t)(expression);                    \
	}
GET(frame_kind, d->frames.at[i].kind)
GET(frame_flags, d->frames.at[i].flags)
GET(frame_name, d->frames.at[i].name)
GET(frame_module, d->frames.at[i].image)
GET(frame_file, d->frames.at[i].file)
GET(frame_line, d->frames.at[i].line)
GET(frame_end_line, d->frames.at[i].end_line)
GET(frame_self_spread, d->frames.at[i].self_spread)
GET(frame_total_spread, d->frames.at[i].total_spread)
GET(frame_activations,
    d->seen->by_frame.n ? (d->seen->by_frame.at[i] < UINT32_MAX ? d->seen->by_frame.at[i] : UINT32_MAX) : 0)
GET(node_back, i ? i - document_parent(d, i) : 0)
GET(node_frame, document_frame(d, i))
GET(node_call_file, document_call(d, i)->file)
GET(node_call_line, document_call(d, i)->line)
GET(value_step, document_value(c, i).scope - (i ? document_value(c, i - 1).scope : 0))
GET(value_thread, document_value(c, i).thread)
GET(value_metric, document_value(c, i).metric)
GET(value_low, document_value(c, i).value)
GET(value_high, document_value(c, i).value >> 32)
GET(point_node, document_point(d, i).node)
GET(point_file, document_point(d, i).file)
GET(point_line, document_point(d, i).line)
GET(point_thread, document_point(d, i).thread)
GET(point_metric, document_point(d, i).metric)
GET(point_low, document_point(d, i).value)
GET(point_high, document_point(d, i).value >> 32)
GET(time_thread, d->profile->timeline.at[i].thread)
GET(time_bin, d->profile->timeline.at[i].bin)
GET(time_value, d->profile->timeline.at[i].samples)

/* The offset of a point from the start of its function; parts that were split off are far away from it. */
static uint32_t point_offset(struct document_cursor *cursor, size_t i)
{
	const struct document *d = cursor->document;
	struct document_point point = document_point(d, i);
	const struct function_map *map = profile_function(d->profile, point.image, point.vaddr);

	return map ? (uint32_t)(point.vaddr - map->parent_vaddr) : UINT32_MAX;
}

static size_t html_columns_count_frames(const struct document *d)
{
	return d->frames.n;
}

static size_t html_columns_count_nodes(const struct document *d)
{
	return d->n_nodes;
}

static size_t count_values(const struct document *d)
{
	return d->n_values;
}

static size_t html_columns_count_points(const struct document *d)
{
	return d->n_points;
}

static size_t count_bins(const struct document *d)
{
	return d->profile->timeline.n;
}

struct column {
	const char *name;
	size_t (*count)(const struct document *document);
	uint32_t (*get)(struct document_cursor *cursor, size_t i);
};

static const struct column tree_columns[] = {
	{ "frame.kind", html_columns_count_frames, frame_kind },
	{ "frame.flags", html_columns_count_frames, frame_flags },
	{ "frame.name", html_columns_count_frames, frame_name },
	{ "frame.module", html_columns_count_frames, frame_module },
	{ "frame.file", html_columns_count_frames, frame_file },
	{ "frame.line", html_columns_count_frames, frame_line },
	{ "frame.end_line", html_columns_count_frames, frame_end_line },
	{ "frame.self_spread", html_columns_count_frames, frame_self_spread },
	{ "frame.total_spread", html_columns_count_frames, frame_total_spread },
	{ "frame.activations", html_columns_count_frames, frame_activations },
	{ "node.back", html_columns_count_nodes, node_back },
	{ "node.frame", html_columns_count_nodes, node_frame },
	{ "value.step", count_values, value_step },
	{ "value.thread", count_values, value_thread },
	{ "value.metric", count_values, value_metric },
	{ "value.low", count_values, value_low },
	{ "value.high", count_values, value_high },
};

static const struct column site_columns[] = {
	{ "node.call_file", html_columns_count_nodes, node_call_file },
	{ "node.call_line", html_columns_count_nodes, node_call_line },
};

static const struct column line_columns[] = {
	{ "point.node", html_columns_count_points, point_node },
	{ "point.file", html_columns_count_points, point_file },
	{ "point.line", html_columns_count_points, point_line },
	{ "point.offset", html_columns_count_points, point_offset },
	{ "point.thread", html_columns_count_points, point_thread },
	{ "point.metric", html_columns_count_points, point_metric },
	{ "point.low", html_columns_count_points, point_low },
	{ "point.high", html_columns_count_points, point_high },
};

static const struct column time_columns[] = {
	{ "time.thread", count_bins, time_thread },
	{ "time.bin", count_bins, time_bin },
	{ "time.value", count_bins, time_value },
};

/* What every view needs, call sites, costs of single lines, times. */
static const struct block {
	const char *name;
	const struct column *columns;
	size_t n;
} blocks[] = {
	{ "tree", tree_columns, ARRAY_LEN(tree_columns) },
	{ "sites", site_columns, ARRAY_LEN(site_columns) },
	{ "lines", line_columns, ARRAY_LEN(line_columns) },
	{ "time", time_columns, ARRAY_LEN(time_columns) },
};

void html_column_directory(struct json *json)
{
	json_name(json, "columns");
	json_object(json);
	for (size_t i = 0; i < ARRAY_LEN(blocks); i++) {
		json_name(json, blocks[i].name);
		json_array(json);
		for (size_t c = 0; c < blocks[i].n; c++)
			json_text(json, blocks[i].columns[c].name);
		json_end_array(json);
	}
	json_end_object(json);
}

static void put_number(FILE *to, uint32_t value)
{
	for (unsigned shift = 0; shift < 32; shift += 8)
		fputc((int)(value >> shift & 0xff), to);
}

/* The number of values, the number of planes, the planes from the lowest on. */
static void html_columns_write_column(FILE *to, struct document_cursor *cursor, const struct column *column)
{
	size_t n = column->count(cursor->document);
	uint8_t *planes = alloc_resize(NULL, n, 4);
	uint32_t any = 0, used = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t value = column->get(cursor, i);
		any |= value;
		for (unsigned plane = 0; plane < 4; plane++)
			planes[plane * n + i] = (uint8_t)(value >> 8 * plane);
	}
	while (used < 4 && any >> 8 * used)
		used++;
	put_number(to, (uint32_t)n);
	put_number(to, used);
	fwrite(planes, used, n, to);
	free(planes);
}

void html_write_blocks(FILE *to, const struct document *document)
{
	struct document_cursor cursor;

	document_cursor_init(&cursor, document);
	for (size_t i = 0; i < ARRAY_LEN(blocks); i++) {
		struct html_part part;
		html_part_open(&part, to, "block", blocks[i].name);
		for (size_t c = 0; c < blocks[i].n; c++)
			html_columns_write_column(part.packed, &cursor, &blocks[i].columns[c]);
		html_part_close(&part);
	}
	document_cursor_done(&cursor);
}
