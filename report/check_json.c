/* SPDX-License-Identifier: Apache-2.0 */
#include "report/check_json.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compress.h"
#include "base/json_reader.h"
#include "report/json_sections.h"

#define GZIP_LIMIT (8ull << 30)
#define MAX_METRICS 64

/* Every column we know: how long it is and the greatest number in it. Others are skipped: minor versions add. */
enum column_id {
	FRAME_NAME, FRAME_LINKAGE, FRAME_MODULE, FRAME_FILE, FRAME_LINE, FRAME_KIND,
	NODE_PARENT, NODE_FRAME, NODE_RELATION, NODE_CALL_FILE, NODE_CALL_LINE,
	POINT_NODE, POINT_FILE, POINT_METRIC, POINT_VALUE,
	PROCESS_PID, PROCESS_COMM, THREAD_PROCESS, THREAD_TID, THREAD_NAME,
	VALUE_THREAD, VALUE_NODE, VALUE_METRIC, VALUE_VALUE, TIME_THREAD, TIME_BIN, TIME_VALUE,
	N_COLUMNS,
};

enum thing { NOTHING, STRINGS, MODULES, FRAMES, NODES, PROCESSES, THREADS, METRICS };

static const struct {
	const char *section, *name;
	enum thing refers; /* what its numbers count */
} columns[N_COLUMNS] = {
	[FRAME_NAME] = { "frames", "name", STRINGS },	      [FRAME_LINKAGE] = { "frames", "linkage", STRINGS },
	[FRAME_MODULE] = { "frames", "module", MODULES },     [FRAME_FILE] = { "frames", "file", STRINGS },
	[FRAME_LINE] = { "frames", "line", NOTHING },	      [FRAME_KIND] = { "frames", "kind", NOTHING },
	[NODE_PARENT] = { "nodes", "parent", NODES },	      [NODE_FRAME] = { "nodes", "frame", FRAMES },
	[NODE_RELATION] = { "nodes", "relation", NOTHING },   [NODE_CALL_FILE] = { "nodes", "call_file", STRINGS },
	[NODE_CALL_LINE] = { "nodes", "call_line", NOTHING }, [POINT_NODE] = { "points", "node", NODES },
	[POINT_FILE] = { "points", "file", STRINGS },	      [POINT_METRIC] = { "points", "metric", METRICS },
	[POINT_VALUE] = { "points", "value", NOTHING },	      [PROCESS_PID] = { "processes", "pid", NOTHING },
	[PROCESS_COMM] = { "processes", "comm", STRINGS },    [THREAD_PROCESS] = { "threads", "process", PROCESSES },
	[THREAD_TID] = { "threads", "tid", NOTHING },	      [THREAD_NAME] = { "threads", "name", STRINGS },
	[VALUE_THREAD] = { "thread_values", "thread", THREADS }, [VALUE_NODE] = { "thread_values", "node", NODES },
	[VALUE_METRIC] = { "thread_values", "metric", METRICS }, [VALUE_VALUE] = { "thread_values", "value", NOTHING },
	[TIME_THREAD] = { "timeline", "thread", THREADS },    [TIME_BIN] = { "timeline", "bin", NOTHING },
	[TIME_VALUE] = { "timeline", "value", NOTHING },
};

struct checker {
	struct json_reader in;
	const char *path;
	struct diag *diag;
	uint64_t length[N_COLUMNS];
	int64_t greatest[N_COLUMNS];
	uint64_t sum[N_COLUMNS];
	uint64_t n_strings, n_modules, n_metrics, samples, end_nodes;
	uint64_t exclusive[MAX_METRICS], exclusive_length[MAX_METRICS]; /* sum and count, per metric */
	uint64_t root_inclusive[MAX_METRICS];
	bool has_inclusive, has_end, has_quality, has_schema, has_version;
};

__attribute__((format(printf, 2, 3))) static int refuse(struct checker *c, const char *why, ...)
{
	char text[200];
	va_list args;

	va_start(args, why);
	vsnprintf(text, sizeof(text), why, args);
	va_end(args);
	diag_set(c->diag, -EBADMSG, "'%s' is not a sound cpprof-profile", c->path);
	diag_why(c->diag, "at offset %llu: %s", (unsigned long long)json_reader_offset(&c->in), text);
	return -EBADMSG;
}

static int refuse_syntax(struct checker *c)
{
	return refuse(c, "%s", c->in.why ? c->in.why : "not what is expected here");
}

static int skip(struct checker *c)
{
	return json_reader_skip(&c->in, json_reader_next(&c->in)) ? 0 : refuse_syntax(c);
}

static int read_int(struct checker *c, int64_t *ret)
{
	enum json_event event = json_reader_next(&c->in);

	if (event == JSON_BAD)
		return refuse_syntax(c);
	return event == JSON_NUMBER && json_reader_int(&c->in, ret) ? 0 : refuse(c, "not a whole number");
}

/* Calls each(context, event) for the elements of an array whose value comes next. */
static int read_array(struct checker *c, int (*each)(struct checker *c, enum json_event event, void *context), void *context)
{
	if (json_reader_next(&c->in) != JSON_ARRAY)
		return refuse(c, "not an array");
	for (;;) {
		enum json_event event = json_reader_next(&c->in);
		if (event == JSON_CLOSE)
			return 0;
		if (event == JSON_BAD)
			return refuse_syntax(c);
		int error = each(c, event, context);
		if (error < 0)
			return error;
	}
}

/* The same for the members of an object; each reads the value. */
static int read_members(struct checker *c, int (*each)(struct checker *c, void *context), void *context)
{
	for (;;) {
		enum json_event event = json_reader_next(&c->in);
		if (event == JSON_CLOSE)
			return 0;
		if (event != JSON_NAME)
			return refuse_syntax(c);
		int error = each(c, context);
		if (error < 0)
			return error;
	}
}

static int read_object(struct checker *c, int (*each)(struct checker *c, void *context), void *context)
{
	if (json_reader_next(&c->in) != JSON_OBJECT)
		return refuse(c, "not an object");
	return read_members(c, each, context);
}

/* ---- columns ------------------------------------------------------------------------------------- */

static int see_cell(struct checker *c, enum json_event event, void *context)
{
	enum column_id id = *(enum column_id *)context;
	uint64_t row = c->length[id]++;
	int64_t value;

	if (id == FRAME_KIND || id == NODE_RELATION)
		return event == JSON_STRING ? 0 : refuse(c, "%s.%s[%llu] is not a string", columns[id].section, columns[id].name, (unsigned long long)row);
	if (event != JSON_NUMBER || !json_reader_int(&c->in, &value))
		return refuse(c, "%s.%s[%llu] is not a whole number", columns[id].section, columns[id].name, (unsigned long long)row);
	if (value < -1 || (value == -1 && id != FRAME_MODULE && id != NODE_PARENT && id != PROCESS_PID))
		return refuse(c, "%s.%s[%llu] is negative", columns[id].section, columns[id].name, (unsigned long long)row);
	if (id == NODE_PARENT && (row == 0 ? value != -1 : value < 0 || (uint64_t)value >= row))
		return refuse(c, "node %llu does not follow its parent", (unsigned long long)row);
	if (value > c->greatest[id])
		c->greatest[id] = value;
	c->sum[id] += (uint64_t)value;
	return 0;
}

static int see_column(struct checker *c, void *context)
{
	const char *section = context;

	for (enum column_id id = 0; id < N_COLUMNS; id++)
		if (strcmp(columns[id].section, section) == 0 && json_reader_is(&c->in, columns[id].name))
			return read_array(c, see_cell, &id);
	return skip(c);
}

/* ---- values --------------------------------------------------------------------------------------- */

struct metric_column {
	unsigned metric;
	bool is_inclusive, is_first;
};

static int see_value(struct checker *c, enum json_event event, void *context)
{
	struct metric_column *column = context;
	int64_t value;

	if (event != JSON_NUMBER || !json_reader_int(&c->in, &value) || value < 0)
		return refuse(c, "a value of metric %u is not a count", column->metric);
	if (!column->is_inclusive) {
		c->exclusive[column->metric] += (uint64_t)value;
		c->exclusive_length[column->metric]++;
	} else if (column->is_first) {
		c->root_inclusive[column->metric] += (uint64_t)value;
	}
	column->is_first = false;
	return 0;
}

static int see_metric(struct checker *c, void *context)
{
	struct metric_column *column = context;
	int64_t metric;

	if (!json_reader_int(&c->in, &metric) || metric < 0 || metric >= MAX_METRICS)
		return refuse(c, "no metric has this name");
	column->metric = (unsigned)metric;
	column->is_first = !column->is_inclusive || c->root_inclusive[metric] == 0;
	return read_array(c, see_value, column);
}

static int see_node_values(struct checker *c, void *context)
{
	struct metric_column column = { .is_inclusive = json_reader_is(&c->in, "inclusive") };

	(void)context;
	if (!column.is_inclusive && !json_reader_is(&c->in, "exclusive"))
		return skip(c);
	c->has_inclusive |= column.is_inclusive;
	return read_object(c, see_metric, &column);
}

/* ---- the sections ---------------------------------------------------------------------------------- */

static int count_one(struct checker *c, enum json_event event, void *context)
{
	++*(uint64_t *)context;
	return json_reader_skip(&c->in, event) ? 0 : refuse_syntax(c);
}

static int see_quality(struct checker *c, void *context)
{
	int64_t samples;

	(void)context;
	if (!json_reader_is(&c->in, "samples"))
		return skip(c);
	if (read_int(c, &samples) < 0)
		return -EBADMSG;
	c->samples = (uint64_t)samples;
	c->has_quality = true;
	return 0;
}

static int see_end(struct checker *c, void *context)
{
	int64_t nodes;

	(void)context;
	c->has_end = true;
	if (!json_reader_is(&c->in, "nodes"))
		return skip(c);
	if (read_int(c, &nodes) < 0)
		return -EBADMSG;
	c->end_nodes = (uint64_t)nodes;
	return 0;
}

static int see_schema(struct checker *c)
{
	if (json_reader_next(&c->in) != JSON_STRING || !json_reader_is(&c->in, SCHEMA_NAME))
		return refuse(c, "its schema is not %s", SCHEMA_NAME);
	c->has_schema = true;
	return 0;
}

/* Minor versions only add; another major one is another format. */
static int see_version(struct checker *c)
{
	size_t len = strcspn(SCHEMA_VERSION, ".") + 1;

	if (json_reader_next(&c->in) != JSON_STRING || c->in.text.len < len || memcmp(c->in.text.at, SCHEMA_VERSION, len) != 0)
		return refuse(c, "its version is none that is known here: %s", SCHEMA_VERSION);
	c->has_version = true;
	return 0;
}

static const char *const column_sections[] = { "frames", "nodes", "points", "processes", "threads", "thread_values", "timeline" };

static int see_section(struct checker *c, void *context)
{
	(void)context;
	if (json_reader_is(&c->in, "schema"))
		return see_schema(c);
	if (json_reader_is(&c->in, "version"))
		return see_version(c);
	if (json_reader_is(&c->in, "strings"))
		return read_array(c, count_one, &c->n_strings);
	if (json_reader_is(&c->in, "modules"))
		return read_array(c, count_one, &c->n_modules);
	if (json_reader_is(&c->in, "metrics"))
		return read_array(c, count_one, &c->n_metrics);
	if (json_reader_is(&c->in, "quality"))
		return read_object(c, see_quality, NULL);
	if (json_reader_is(&c->in, "end"))
		return read_object(c, see_end, NULL);
	if (json_reader_is(&c->in, "node_values"))
		return read_object(c, see_node_values, NULL);
	for (size_t i = 0; i < ARRAY_LEN(column_sections); i++)
		if (json_reader_is(&c->in, column_sections[i]))
			return read_object(c, see_column, (void *)(uintptr_t)column_sections[i]);
	return skip(c);
}

/* A record of a stream: {"t":"nodes","i0":0, columns...}; `t` comes first. */
static int see_record_member(struct checker *c, void *context)
{
	const char *type = context;

	if (strcmp(type, "header") == 0 || strcmp(type, "quality") == 0)
		return see_section(c, NULL);
	if (strcmp(type, "end") == 0)
		return see_end(c, NULL);
	if (strcmp(type, "node_values") == 0)
		return see_node_values(c, NULL);
	if (json_reader_is(&c->in, "rows") && strcmp(type, "strings") == 0)
		return read_array(c, count_one, &c->n_strings);
	if (json_reader_is(&c->in, "rows") && strcmp(type, "modules") == 0)
		return read_array(c, count_one, &c->n_modules);
	return see_column(c, context);
}

static int next_interval(struct checker *c);

static int see_record(struct checker *c)
{
	char type[32];

	if (json_reader_next(&c->in) != JSON_NAME || !json_reader_is(&c->in, "t") || json_reader_next(&c->in) != JSON_STRING ||
	    c->in.text.len >= sizeof(type))
		return refuse(c, "a record does not begin with its type");
	memcpy(type, c->in.text.at, c->in.text.len);
	type[c->in.text.len] = '\0';
	if (strcmp(type, "header") == 0 && c->has_schema) {
		int error = next_interval(c);
		if (error < 0)
			return error;
	}
	return read_members(c, see_record_member, type);
}

/* ---- what must hold at the end ------------------------------------------------------------------------ */

static int check_lengths(struct checker *c)
{
	for (enum column_id id = 1; id < N_COLUMNS; id++)
		if (strcmp(columns[id].section, columns[id - 1].section) == 0 && c->length[id] != c->length[id - 1])
			return refuse(c, "columns %s and %s of %s are not of one length", columns[id - 1].name, columns[id].name, columns[id].section);
	for (unsigned m = 0; m < c->n_metrics && m < MAX_METRICS; m++)
		if (c->exclusive_length[m] != c->length[NODE_PARENT])
			return refuse(c, "metric %u has values for %llu of %llu nodes", m, (unsigned long long)c->exclusive_length[m],
				      (unsigned long long)c->length[NODE_PARENT]);
	return 0;
}

static int check_ranges(struct checker *c)
{
	const uint64_t limits[] = { [STRINGS] = c->n_strings, [MODULES] = c->n_modules, [FRAMES] = c->length[FRAME_NAME],
				    [NODES] = c->length[NODE_PARENT], [PROCESSES] = c->length[PROCESS_PID],
				    [THREADS] = c->length[THREAD_TID], [METRICS] = c->n_metrics };

	for (enum column_id id = 0; id < N_COLUMNS; id++)
		if (columns[id].refers != NOTHING && c->greatest[id] >= 0 && (uint64_t)c->greatest[id] >= limits[columns[id].refers])
			return refuse(c, "%s.%s refers to %lld, but there are only %llu", columns[id].section, columns[id].name,
				      (long long)c->greatest[id], (unsigned long long)limits[columns[id].refers]);
	return 0;
}

/* The same costs, told again by thread, and the same samples by time. */
static int check_other_sums(struct checker *c)
{
	uint64_t all = 0;

	for (unsigned m = 0; m < c->n_metrics && m < MAX_METRICS; m++)
		all += c->exclusive[m];
	if (c->length[VALUE_VALUE] && c->sum[VALUE_VALUE] != all)
		return refuse(c, "the threads' values add up to %llu, the nodes' to %llu", (unsigned long long)c->sum[VALUE_VALUE],
			      (unsigned long long)all);
	if (c->length[TIME_VALUE] && c->sum[TIME_VALUE] != c->exclusive[0])
		return refuse(c, "the timeline holds %llu samples, the nodes %llu", (unsigned long long)c->sum[TIME_VALUE],
			      (unsigned long long)c->exclusive[0]);
	return 0;
}

static int check_sums(struct checker *c)
{
	if (c->has_quality && c->exclusive[0] != c->samples)
		return refuse(c, "the nodes hold %llu samples, the quality section says %llu", (unsigned long long)c->exclusive[0],
			      (unsigned long long)c->samples);
	for (unsigned m = 0; c->has_inclusive && m < c->n_metrics && m < MAX_METRICS; m++)
		if (c->root_inclusive[m] != c->exclusive[m])
			return refuse(c, "the root's total of metric %u is %llu, the sum is %llu", m, (unsigned long long)c->root_inclusive[m],
				      (unsigned long long)c->exclusive[m]);
	if (c->has_end && c->end_nodes != c->length[NODE_PARENT])
		return refuse(c, "it should have %llu nodes and has %llu", (unsigned long long)c->end_nodes, (unsigned long long)c->length[NODE_PARENT]);
	return 0;
}

static int check_all(struct checker *c)
{
	if (!c->has_schema || !c->has_version)
		return refuse(c, "it does not say that it is a %s, or of which version", SCHEMA_NAME);
	if (!c->has_end)
		return refuse(c, "it has no end: it was cut off");
	if (!c->n_metrics || !c->length[NODE_PARENT])
		return refuse(c, "it has no %s", c->n_metrics ? "nodes" : "metrics");
	int error = check_lengths(c);
	if (error == 0)
		error = check_ranges(c);
	if (error == 0)
		error = check_sums(c);
	return error < 0 ? error : check_other_sums(c);
}

/* A stream may hold one interval after another, each whole in itself. */
static int next_interval(struct checker *c)
{
	int error = check_all(c);
	struct checker fresh = { .in = c->in, .path = c->path, .diag = c->diag };

	for (size_t i = 0; i < N_COLUMNS; i++)
		fresh.greatest[i] = -1;
	*c = fresh;
	return error;
}

static int read_all(struct checker *c)
{
	int error = 0;

	if (!c->in.is_stream)
		return read_object(c, see_section, NULL);
	while (error == 0) {
		enum json_event event = json_reader_next(&c->in);
		if (event == JSON_END)
			return 0;
		error = event == JSON_OBJECT ? see_record(c) : refuse_syntax(c);
	}
	return error;
}

static bool is_gzip(struct bytes bytes)
{
	return bytes.len > 2 && bytes.at[0] == 0x1f && bytes.at[1] == 0x8b;
}

bool json_looks_like(struct bytes bytes)
{
	return is_gzip(bytes) || (bytes.len && bytes.at[0] == '{');
}

int json_check(struct bytes bytes, const char *path, struct json_findings *ret, struct diag *diag)
{
	struct checker c = { .path = path, .diag = diag };
	struct buffer plain = { 0 };

	if (is_gzip(bytes)) {
		int error = decompress_zlib(bytes, GZIP_LIMIT, &plain);
		if (error < 0)
			return diag_set(diag, error, "cannot unpack '%s'", path);
		bytes = (struct bytes){ plain.at, plain.len };
	}
	for (size_t i = 0; i < N_COLUMNS; i++)
		c.greatest[i] = -1;
	json_reader_init(&c.in, bytes, bytes.len > 4 && memcmp(bytes.at, "{\"t\"", 4) == 0);
	int error = read_all(&c);
	if (error == 0 && !c.in.is_stream && json_reader_next(&c.in) != JSON_END)
		error = refuse(&c, "something follows the document");
	if (error == 0)
		error = check_all(&c);
	*ret = (struct json_findings){ c.length[NODE_PARENT], c.length[FRAME_NAME], c.n_strings, c.length[THREAD_TID], c.samples, c.in.is_stream };
	free(plain.at);
	return error;
}
