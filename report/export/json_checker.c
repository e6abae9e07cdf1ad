/* SPDX-License-Identifier: Apache-2.0 */
#include "report/export/json_checker.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "report/export/json_sections.h"

const struct json_column json_columns[N_COLUMNS] = {
	[FILE_PATH] = { "files", "path", STRINGS, true },
	[FILE_DIR] = { "files", "dir", STRINGS, true },
	[FILE_DIGEST] = { "files", "digest", NOTHING, true },
	[FRAME_NAME] = { "frames", "name", STRINGS },
	[FRAME_LINKAGE] = { "frames", "linkage", STRINGS },
	[FRAME_MODULE] = { "frames", "module", MODULES },
	[FRAME_FILE] = { "frames", "file", STRINGS },
	[FRAME_LINE] = { "frames", "line", NOTHING },
	[FRAME_KIND] = { "frames", "kind", NOTHING },
	[FRAME_SIZE] = { "frames", "size", NOTHING, true },
	[FRAME_LOOP_PARENT] = { "frames", "loop_parent", FRAMES, true },
	[FRAME_LOOP_DEPTH] = { "frames", "loop_depth", NOTHING, true },
	[NODE_PARENT] = { "nodes", "parent", NODES },
	[NODE_FRAME] = { "nodes", "frame", FRAMES },
	[NODE_RELATION] = { "nodes", "relation", NOTHING },
	[NODE_CALL_FILE] = { "nodes", "call_file", STRINGS },
	[NODE_CALL_LINE] = { "nodes", "call_line", NOTHING },
	[POINT_NODE] = { "points", "node", NODES },
	[POINT_FILE] = { "points", "file", STRINGS },
	[POINT_METRIC] = { "points", "metric", METRICS },
	[POINT_VALUE] = { "points", "value", NOTHING },
	[PROCESS_PID] = { "processes", "pid", NOTHING },
	[PROCESS_COMM] = { "processes", "comm", STRINGS },
	[THREAD_PROCESS] = { "threads", "process", PROCESSES },
	[THREAD_TID] = { "threads", "tid", NOTHING },
	[THREAD_NAME] = { "threads", "name", STRINGS },
	[VALUE_THREAD] = { "thread_values", "thread", THREADS },
	[VALUE_NODE] = { "thread_values", "node", NODES },
	[VALUE_METRIC] = { "thread_values", "metric", METRICS },
	[VALUE_VALUE] = { "thread_values", "value", NOTHING },
	[TIME_THREAD] = { "timeline", "thread", THREADS },
	[TIME_BIN] = { "timeline", "bin", NOTHING },
	[TIME_METRIC] = { "timeline", "metric", METRICS, true },
	[TIME_VALUE] = { "timeline", "value", NOTHING },
};

int json_checker_refuse(struct json_checker *c, const char *why, ...)
{
	char text[200];
	va_list args;

	va_start(args, why);
	vsnprintf(text, sizeof(text), why, args);
	va_end(args);
	diag_set(c->diag, -EBADMSG, "'%s' is not a valid cpprof-profile", c->path);
	diag_why(c->diag, "at offset %llu: %s", (unsigned long long)json_reader_offset(&c->in), text);
	return -EBADMSG;
}

static int check_lengths(struct json_checker *c)
{
	for (enum column_id id = 1, first = 0; id < N_COLUMNS; id++) {
		if (strcmp(json_columns[id].section, json_columns[first].section) != 0)
			first = id;
		if (c->length[id] != c->length[first] && !(json_columns[id].is_later && c->length[id] == 0))
			return json_checker_refuse(c, "columns %s and %s of %s are not of one length",
						   json_columns[first].name, json_columns[id].name,
						   json_columns[id].section);
	}
	for (unsigned m = 0; m < c->n_metrics && m < MAX_METRICS; m++)
		if (c->exclusive_length[m] != c->length[NODE_PARENT])
			return json_checker_refuse(c, "metric %u has values for %llu of %llu nodes", m,
						   (unsigned long long)c->exclusive_length[m],
						   (unsigned long long)c->length[NODE_PARENT]);
	return 0;
}

static int check_ranges(struct json_checker *c)
{
	const uint64_t limits[] = { [STRINGS] = c->n_strings,
				    [MODULES] = c->n_modules,
				    [FRAMES] = c->length[FRAME_NAME],
				    [NODES] = c->length[NODE_PARENT],
				    [PROCESSES] = c->length[PROCESS_PID],
				    [THREADS] = c->length[THREAD_TID],
				    [METRICS] = c->n_metrics };

	for (enum column_id id = 0; id < N_COLUMNS; id++)
		if (json_columns[id].refers != NOTHING && c->greatest[id] >= 0 &&
		    (uint64_t)c->greatest[id] >= limits[json_columns[id].refers])
			return json_checker_refuse(c, "%s.%s refers to %lld, but there are only %llu",
						   json_columns[id].section, json_columns[id].name,
						   (long long)c->greatest[id],
						   (unsigned long long)limits[json_columns[id].refers]);
	return 0;
}

/* Every stack has a reason why it ended. */
static int check_quality(struct json_checker *c)
{
	if (c->has_quality && c->complete + c->incomplete != c->samples)
		return json_checker_refuse(c, "%llu stacks ended, of %llu samples",
					   (unsigned long long)c->complete + c->incomplete,
					   (unsigned long long)c->samples);
	if (c->has_truncated && c->truncated != c->snapshot_ended)
		return json_checker_refuse(c, "%llu stacks are truncated, but %llu ended so",
					   (unsigned long long)c->truncated,
					   (unsigned long long)c->snapshot_ended);
	if (c->n_without_debug > c->n_modules)
		return json_checker_refuse(c, "more modules lack debug information than there are");
	return 0;
}

/* The same costs by thread, and the same samples by time. */
static int check_other_sums(struct json_checker *c)
{
	uint64_t all = 0;

	for (unsigned m = 0; m < c->n_metrics && m < MAX_METRICS; m++)
		all += c->exclusive[m];
	if (c->length[VALUE_VALUE] && c->sum[VALUE_VALUE] != all)
		return json_checker_refuse(c, "the threads' values add up to %llu, the nodes' to %llu",
					   (unsigned long long)c->sum[VALUE_VALUE], (unsigned long long)all);
	if (c->length[TIME_VALUE] && c->sum[TIME_VALUE] != c->exclusive[0])
		return json_checker_refuse(c, "the timeline holds %llu samples, the nodes %llu",
					   (unsigned long long)c->sum[TIME_VALUE],
					   (unsigned long long)c->exclusive[0]);
	return 0;
}

static int check_sums(struct json_checker *c)
{
	if (c->has_quality && c->exclusive[0] != c->samples)
		return json_checker_refuse(c, "the nodes hold %llu samples, the quality section says %llu",
					   (unsigned long long)c->exclusive[0],
					   (unsigned long long)c->samples);
	for (unsigned m = 0; c->has_inclusive && m < c->n_metrics && m < MAX_METRICS; m++)
		if (c->root_inclusive[m] != c->exclusive[m])
			return json_checker_refuse(c,
						   "the root's total of metric %u is %llu, the sum is %llu",
						   m, (unsigned long long)c->root_inclusive[m],
						   (unsigned long long)c->exclusive[m]);
	if (c->has_end && c->end_nodes != c->length[NODE_PARENT])
		return json_checker_refuse(c, "it should have %llu nodes and has %llu",
					   (unsigned long long)c->end_nodes,
					   (unsigned long long)c->length[NODE_PARENT]);
	return 0;
}

int json_checker_end(struct json_checker *c)
{
	if (!c->has_schema || !c->has_version)
		return json_checker_refuse(c, "it does not say that it is a %s and of which version",
					   SCHEMA_NAME);
	if (!c->has_end)
		return json_checker_refuse(c, "it is truncated");
	if (!c->n_metrics || !c->length[NODE_PARENT])
		return json_checker_refuse(c, "it has no %s", c->n_metrics ? "nodes" : "metrics");
	int error = check_lengths(c);
	if (error == 0)
		error = check_ranges(c);
	if (error == 0)
		error = check_quality(c);
	if (error == 0)
		error = check_sums(c);
	return error < 0 ? error : check_other_sums(c);
}
