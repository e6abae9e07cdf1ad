/* SPDX-License-Identifier: Apache-2.0 */
#include "report/export/check_json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compress.h"
#include "report/export/json_checker.h"
#include "report/export/json_sections.h"

#define GZIP_FIRST 0x1f /* no text begins with this byte */

static int refuse_syntax(struct json_checker *c)
{
	return json_checker_refuse(c, "%s", c->in.why ? c->in.why : "not what is expected here");
}

static int skip(struct json_checker *c)
{
	return json_reader_skip(&c->in, json_reader_next(&c->in)) ? 0 : refuse_syntax(c);
}

static int read_int(struct json_checker *c, int64_t *ret)
{
	enum json_event event = json_reader_next(&c->in);

	if (event == JSON_BAD)
		return refuse_syntax(c);
	return event == JSON_NUMBER && json_reader_int(&c->in, ret)
		       ? 0
		       : json_checker_refuse(c, "not a whole number");
}

/* Calls each(context, event) for the elements of the array that is the next value. */
static int check_json_read_array(struct json_checker *c,
				 int (*each)(struct json_checker *c, enum json_event event, void *context),
				 void *context)
{
	if (json_reader_next(&c->in) != JSON_ARRAY)
		return json_checker_refuse(c, "not an array");
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
static int read_members(struct json_checker *c, int (*each)(struct json_checker *c, void *context),
			void *context)
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

static int read_object(struct json_checker *c, int (*each)(struct json_checker *c, void *context),
		       void *context)
{
	if (json_reader_next(&c->in) != JSON_OBJECT)
		return json_checker_refuse(c, "not an object");
	return read_members(c, each, context);
}

/* ---- columns ------------------------------------------------------------------------------------- */

static bool may_be_none(enum column_id id)
{
	return id == FRAME_MODULE || id == NODE_PARENT || id == PROCESS_PID || id == FILE_DIR ||
	       id == FRAME_LOOP_PARENT;
}

static int see_cell(struct json_checker *c, enum json_event event, void *context)
{
	enum column_id id = *(enum column_id *)context;
	uint64_t row = c->length[id]++;
	int64_t value;

	if (id == FILE_DIGEST && event == JSON_NULL)
		return 0;
	if (id == FRAME_KIND || id == NODE_RELATION || id == FILE_DIGEST)
		return event == JSON_STRING
			       ? 0
			       : json_checker_refuse(c, "%s.%s[%llu] is not a string",
						     json_columns[id].section, json_columns[id].name,
						     (unsigned long long)row);
	if (event != JSON_NUMBER || !json_reader_int(&c->in, &value))
		return json_checker_refuse(c, "%s.%s[%llu] is not a whole number", json_columns[id].section,
					   json_columns[id].name, (unsigned long long)row);
	if (value < -1 || (value == -1 && !may_be_none(id)))
		return json_checker_refuse(c, "%s.%s[%llu] is negative", json_columns[id].section,
					   json_columns[id].name, (unsigned long long)row);
	if (id == NODE_PARENT && (row == 0 ? value != -1 : value < 0 || (uint64_t)value >= row))
		return json_checker_refuse(c, "node %llu does not follow its parent",
					   (unsigned long long)row);
	if (id == FILE_PATH && row > 0 && value <= c->greatest[id])
		return json_checker_refuse(c, "file %llu does not follow the one before it",
					   (unsigned long long)row);
	if (value > c->greatest[id])
		c->greatest[id] = value;
	c->sum[id] += (uint64_t)value;
	return 0;
}

static int see_column(struct json_checker *c, void *context)
{
	const char *section = context;

	for (enum column_id id = 0; id < N_COLUMNS; id++)
		if (strcmp(json_columns[id].section, section) == 0 &&
		    json_reader_is(&c->in, json_columns[id].name))
			return check_json_read_array(c, see_cell, &id);
	return skip(c);
}

/* ---- values --------------------------------------------------------------------------------------- */

struct metric_column {
	unsigned metric;
	bool is_inclusive, is_first;
};

static int see_value(struct json_checker *c, enum json_event event, void *context)
{
	struct metric_column *column = context;
	int64_t value;

	if (event != JSON_NUMBER || !json_reader_int(&c->in, &value) || value < 0)
		return json_checker_refuse(c, "a value of metric %u is not a count", column->metric);
	if (!column->is_inclusive) {
		c->exclusive[column->metric] += (uint64_t)value;
		c->exclusive_length[column->metric]++;
	} else if (column->is_first) {
		c->root_inclusive[column->metric] += (uint64_t)value;
	}
	column->is_first = false;
	return 0;
}

static int see_metric(struct json_checker *c, void *context)
{
	struct metric_column *column = context;
	int64_t metric;

	if (!json_reader_int(&c->in, &metric) || metric < 0 || metric >= MAX_METRICS)
		return json_checker_refuse(c, "no metric has this name");
	column->metric = (unsigned)metric;
	column->is_first = !column->is_inclusive || c->root_inclusive[metric] == 0;
	return check_json_read_array(c, see_value, column);
}

static int see_node_values(struct json_checker *c, void *context)
{
	struct metric_column column = { .is_inclusive = json_reader_is(&c->in, "inclusive") };

	(void)context;
	if (!column.is_inclusive && !json_reader_is(&c->in, "exclusive"))
		return skip(c);
	c->has_inclusive |= column.is_inclusive;
	return read_object(c, see_metric, &column);
}

/* ---- the sections ---------------------------------------------------------------------------------- */

static int count_one(struct json_checker *c, enum json_event event, void *context)
{
	++*(uint64_t *)context;
	return json_reader_skip(&c->in, event) ? 0 : refuse_syntax(c);
}

static int read_count(struct json_checker *c, uint64_t *ret)
{
	int64_t value;

	if (read_int(c, &value) < 0)
		return -EBADMSG;
	*ret = (uint64_t)value;
	return value < 0 ? json_checker_refuse(c, "a negative count") : 0;
}

static int see_stack_end(struct json_checker *c, void *context)
{
	bool is_snapshot = json_reader_is(&c->in, "snapshot_ended");
	uint64_t n;
	int error = read_count(c, &n);

	(void)context;
	if (error < 0)
		return error;
	c->incomplete += n;
	c->snapshot_ended += is_snapshot ? n : 0;
	return 0;
}

static int see_unwind(struct json_checker *c, void *context)
{
	(void)context;
	if (json_reader_is(&c->in, "complete"))
		return read_count(c, &c->complete);
	if (json_reader_is(&c->in, "by_end"))
		return read_object(c, see_stack_end, NULL);
	return skip(c);
}

static int see_quality(struct json_checker *c, void *context)
{
	(void)context;
	if (json_reader_is(&c->in, "unwind"))
		return read_object(c, see_unwind, NULL);
	if (json_reader_is(&c->in, "modules_without_debug"))
		return check_json_read_array(c, count_one, &c->n_without_debug);
	if (json_reader_is(&c->in, "stack_truncated")) {
		c->has_truncated = true;
		return read_count(c, &c->truncated);
	}
	if (!json_reader_is(&c->in, "samples"))
		return skip(c);
	c->has_quality = true;
	return read_count(c, &c->samples);
}

static int see_end(struct json_checker *c, void *context)
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

static int see_schema(struct json_checker *c)
{
	if (json_reader_next(&c->in) != JSON_STRING || !json_reader_is(&c->in, SCHEMA_NAME))
		return json_checker_refuse(c, "its schema is not %s", SCHEMA_NAME);
	c->has_schema = true;
	return 0;
}

/* Minor versions only add; another major version is another format. */
static int see_version(struct json_checker *c)
{
	size_t len = strcspn(SCHEMA_VERSION, ".") + 1;

	if (json_reader_next(&c->in) != JSON_STRING || c->in.text.len < len ||
	    memcmp(c->in.text.at, SCHEMA_VERSION, len) != 0)
		return json_checker_refuse(c, "its version is not supported: %s", SCHEMA_VERSION);
	c->has_version = true;
	return 0;
}

static const char *const column_sections[] = { "files",     "frames",  "nodes",         "points",
					       "processes", "threads", "thread_values", "timeline" };

static int see_section(struct json_checker *c, void *context)
{
	(void)context;
	if (json_reader_is(&c->in, "schema"))
		return see_schema(c);
	if (json_reader_is(&c->in, "version"))
		return see_version(c);
	if (json_reader_is(&c->in, "strings"))
		return check_json_read_array(c, count_one, &c->n_strings);
	if (json_reader_is(&c->in, "modules"))
		return check_json_read_array(c, count_one, &c->n_modules);
	if (json_reader_is(&c->in, "metrics"))
		return check_json_read_array(c, count_one, &c->n_metrics);
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

/* A record of a stream: {"t":"nodes","i0":0, columns...}; `t` is first. */
static int see_record_member(struct json_checker *c, void *context)
{
	const char *type = context;

	if (strcmp(type, "header") == 0 || strcmp(type, "quality") == 0)
		return see_section(c, NULL);
	if (strcmp(type, "end") == 0)
		return see_end(c, NULL);
	if (strcmp(type, "node_values") == 0)
		return see_node_values(c, NULL);
	if (json_reader_is(&c->in, "rows") && strcmp(type, "strings") == 0)
		return check_json_read_array(c, count_one, &c->n_strings);
	if (json_reader_is(&c->in, "rows") && strcmp(type, "modules") == 0)
		return check_json_read_array(c, count_one, &c->n_modules);
	return see_column(c, context);
}

static int check_json_next_interval(struct json_checker *c);

static int see_record(struct json_checker *c)
{
	char type[32];

	if (json_reader_next(&c->in) != JSON_NAME || !json_reader_is(&c->in, "t") ||
	    json_reader_next(&c->in) != JSON_STRING || c->in.text.len >= sizeof(type))
		return json_checker_refuse(c, "a record does not begin with its type");
	memcpy(type, c->in.text.at, c->in.text.len);
	type[c->in.text.len] = '\0';
	if (strcmp(type, "header") == 0 && c->has_schema) {
		int error = check_json_next_interval(c);
		if (error < 0)
			return error;
	}
	return read_members(c, see_record_member, type);
}

/* A stream may contain several intervals, each complete in itself. */
static int check_json_next_interval(struct json_checker *c)
{
	int error = json_checker_end(c);
	struct json_checker fresh = { .in = c->in, .path = c->path, .diag = c->diag };

	for (size_t i = 0; i < N_COLUMNS; i++)
		fresh.greatest[i] = -1;
	*c = fresh;
	return error;
}

static int check_json_read_all(struct json_checker *c)
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

static int check_reader(struct json_checker *c, struct json_findings *ret)
{
	for (size_t i = 0; i < N_COLUMNS; i++)
		c->greatest[i] = -1;
	c->in.is_stream = json_reader_starts(&c->in, "{\"t\"");
	int error = check_json_read_all(c);
	if (error == 0 && !c->in.is_stream && json_reader_next(&c->in) != JSON_END)
		error = json_checker_refuse(c, "unexpected data after the document");
	if (error == 0)
		error = json_checker_end(c);
	*ret = (struct json_findings){ c->length[NODE_PARENT],
				       c->length[FRAME_NAME],
				       c->n_strings,
				       c->length[THREAD_TID],
				       c->samples,
				       c->in.is_stream };
	return error;
}

int json_check(struct bytes bytes, const char *path, struct json_findings *ret, struct diag *diag)
{
	struct json_checker c = { .path = path, .diag = diag };

	json_reader_init(&c.in, bytes, false);
	return check_reader(&c, ret);
}

bool json_check_looks_like(struct bytes start)
{
	return start.len >= JSON_CHECK_START &&
	       (start.at[0] == '{' || (start.at[0] == GZIP_FIRST && start.at[1] == 0x8b));
}

int json_check_file(FILE *from, const char *path, struct json_findings *ret, struct diag *diag)
{
	struct json_checker c = { .path = path, .diag = diag };
	int first = getc(from);
	FILE *plain = NULL;

	ungetc(first, from);
	if (first == GZIP_FIRST && !(plain = decompress_stream(from)))
		return diag_set(diag, -ENOMEM, "cannot unpack '%s'", path);
	json_reader_init_stream(&c.in, plain ? plain : from);
	int error = check_reader(&c, ret);
	if (ferror(plain ? plain : from)) {
		error = diag_set(diag, -EBADMSG, plain ? "cannot unpack '%s'" : "cannot read '%s'", path);
		diag_why(diag, "it is corrupt or truncated");
	}
	json_reader_done(&c.in);
	if (plain)
		fclose(plain);
	return error;
}
