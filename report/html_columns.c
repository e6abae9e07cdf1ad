/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html_columns: the profile as the page reads it: u32 columns, one behind the other, each split into its four
 * byte planes so that it deflates well.
 */
#include <stdlib.h>

#include "report/html.h"

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


/* Where in its function a point stands. */
static uint32_t point_offset(const void *context, size_t i)
{
	const struct document *d = context;
	struct document_point point = document_point(d, i);
	const struct function_map *map = profile_function(d->profile, point.image, point.vaddr);

	return map ? (uint32_t)(point.vaddr - map->vaddr) : UINT32_MAX;
}

static size_t count_frames(const struct document *d)
{
	return d->frames.n;
}

static size_t count_nodes(const struct document *d)
{
	return d->scope.n;
}

static size_t count_values(const struct document *d)
{
	return d->values.n;
}

static size_t count_points(const struct document *d)
{
	return d->points.n;
}

static size_t count_bins(const struct document *d)
{
	return d->profile->timeline.n;
}

static const struct {
	const char *name;
	size_t (*count)(const struct document *document);
	uint32_t (*get)(const void *context, size_t i);
} columns[] = {
	{ "frame.kind", count_frames, frame_kind },
	{ "frame.flags", count_frames, frame_flags },
	{ "frame.name", count_frames, frame_name },
	{ "frame.module", count_frames, frame_module },
	{ "frame.file", count_frames, frame_file },
	{ "frame.line", count_frames, frame_line },
	{ "frame.end_line", count_frames, frame_end_line },
	{ "node.back", count_nodes, node_back },
	{ "node.frame", count_nodes, node_frame },
	{ "node.relation", count_nodes, node_relation },
	{ "node.call_file", count_nodes, node_call_file },
	{ "node.call_line", count_nodes, node_call_line },
	{ "value.node", count_values, value_node },
	{ "value.thread", count_values, value_thread },
	{ "value.metric", count_values, value_metric },
	{ "value.low", count_values, value_low },
	{ "value.high", count_values, value_high },
	{ "point.node", count_points, point_node },
	{ "point.file", count_points, point_file },
	{ "point.line", count_points, point_line },
	{ "point.offset", count_points, point_offset },
	{ "point.thread", count_points, point_thread },
	{ "point.metric", count_points, point_metric },
	{ "point.low", count_points, point_low },
	{ "point.high", count_points, point_high },
	{ "time.thread", count_bins, time_thread },
	{ "time.bin", count_bins, time_bin },
	{ "time.value", count_bins, time_value },
};

void html_column_directory(struct json *json, const struct document *document)
{
	json_name(json, "columns");
	json_array(json);
	for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
		json_array(json);
		json_text(json, columns[i].name);
		json_uint(json, columns[i].count(document));
		json_end_array(json);
	}
	json_end_array(json);
}

void html_write_columns(FILE *to, const struct document *document)
{
	for (size_t c = 0; c < ARRAY_LEN(columns); c++) {
		size_t n = columns[c].count(document);
		uint8_t *planes = alloc_resize(NULL, n, 4);
		for (size_t i = 0; i < n; i++) {
			uint32_t value = columns[c].get(document, i);
			for (unsigned plane = 0; plane < 4; plane++)
				planes[plane * n + i] = (uint8_t)(value >> 8 * plane);
		}
		fwrite(planes, 4, n, to);
		free(planes);
	}
}
