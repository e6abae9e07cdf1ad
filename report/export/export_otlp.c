/* SPDX-License-Identifier: Apache-2.0 */
/*
 * otlp: the profiles signal of OpenTelemetry, as one message ProfilesData, not compressed.
 *
 * The signal is not stable yet. The revision that is written is OTLP_REVISION, which is also in the message
 * (an attribute of its scope); report/export/otlp.proto describes the part of it that is used.
 *
 * There is one resource (the machine), one scope (cpprof), and a profile for each metric; a sample is a stack
 * and a thread. Everything is in tables of a dictionary, whose first rows are empty. A length precedes each
 * part, so all parts are first built in memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/export/proto.h"

#define OTLP_REVISION "v1development of opentelemetry-proto 1.11.0"

/* Tables of the dictionary, by their field numbers. */
enum otlp_table {
	TABLE_MAPPING = 1,
	TABLE_LOCATION,
	TABLE_FUNCTION,
	TABLE_LINK,
	TABLE_STRING,
	TABLE_ATTRIBUTE,
	TABLE_STACK,
	TABLE_N,
};

/* Fields of AnyValue. */
enum otlp_value { VALUE_STRING = 1, VALUE_INT = 3, VALUE_ARRAY = 5 };

struct otlp {
	const struct profile *profile;
	struct proto_tables tables;
	struct text rows[TABLE_N]; /* of the dictionary, except strings */
	struct text *profiles;     /* samples, by metric */
	struct text message, inner, value, packed;
	struct map attributes, stacks; /* hash of the row -> its number */
	uint32_t n_attributes, n_stacks;
	VEC(uint32_t) of_thread; /* attributes of each thread, OTLP_THREAD_ATTRIBUTES each; 0 = not yet */
	VEC(uint64_t) limits;    /* by image: the end of its highest address */
};
#define OTLP_THREAD_ATTRIBUTES 4

static const char *otlp_text(const struct otlp *o, uint32_t id)
{
	return profile_text(o->profile, id);
}

static void otlp_put_text(struct otlp *o, struct text *to, unsigned field, const char *text)
{
	struct bytes clean = proto_utf8(&o->tables, text);

	proto_bytes(to, field, clean.at, clean.len);
}

/* ---- attributes ------------------------------------------------------------------------------------- */

/* A row of a table without duplicates; takes the contents of `row`. Returns its number. */
static uint32_t otlp_row(struct otlp *o, enum otlp_table table, struct map *known, uint32_t *n,
			 struct text *row)
{
	uint64_t key = hash_bytes_secret((struct bytes){ (const uint8_t *)row->at, row->len });
	uint32_t id = map_find(known, key);

	if (id != MAP_NONE) {
		text_clear(row);
		return id;
	}
	id = ++*n;
	map_put(known, key, id);
	proto_message(&o->rows[table], table, row);
	return id;
}

/* An attribute whose value, an AnyValue, is in o->value. */
static uint32_t otlp_attribute(struct otlp *o, const char *key)
{
	proto_uint(&o->message, 1, proto_string(&o->tables, key));
	proto_message(&o->message, 2, &o->value);
	return otlp_row(o, TABLE_ATTRIBUTE, &o->attributes, &o->n_attributes, &o->message);
}

static uint32_t otlp_text_attribute(struct otlp *o, const char *key, const char *text)
{
	otlp_put_text(o, &o->value, VALUE_STRING, text);
	return otlp_attribute(o, key);
}

static uint32_t otlp_number_attribute(struct otlp *o, const char *key, int64_t number)
{
	proto_varint(&o->value, VALUE_INT << 3); /* 0 must be written here */
	proto_varint(&o->value, (uint64_t)number);
	return otlp_attribute(o, key);
}

/* A list of numbers, all in one field. */
static void otlp_put_list(struct otlp *o, struct text *to, unsigned field, const uint32_t *numbers, size_t n)
{
	for (size_t i = 0; i < n; i++)
		proto_varint(&o->packed, numbers[i]);
	if (n)
		proto_message(to, field, &o->packed);
}

/* ---- the tables ------------------------------------------------------------------------------------- */

static void otlp_add_function(void *context, const struct proto_function *function)
{
	struct otlp *o = context;

	proto_uint(&o->message, 1, function->name);
	proto_uint(&o->message, 2, function->linkage);
	proto_uint(&o->message, 3, function->file);
	proto_uint(&o->message, 4, function->line);
	proto_message(&o->rows[TABLE_FUNCTION], TABLE_FUNCTION, &o->message);
}

/* The loops that contain the location, innermost first: "file.c:12-15". */
static uint32_t otlp_loops(struct otlp *o, const struct proto_location *location)
{
	for (size_t i = 0; i < location->n_loops; i++) {
		const struct scope_frame *loop = &o->tables.tree->frames.at[location->loops[i]];
		const char *file = otlp_text(o, loop->file), *slash = strrchr(file, '/');
		CLEANUP(text_done) struct text label = { 0 };
		text_printf(&label, "%s:%u", slash ? slash + 1 : file, loop->line);
		if (loop->end_line > loop->line)
			text_printf(&label, "-%u", loop->end_line);
		otlp_put_text(o, &o->inner, VALUE_STRING, label.at);
		proto_message(&o->packed, 1, &o->inner);
	}
	proto_message(&o->value, VALUE_ARRAY, &o->packed);
	return otlp_attribute(o, "cpprof.loops");
}

static void otlp_add_location(void *context, const struct proto_location *location)
{
	struct otlp *o = context;
	uint32_t loops = location->n_loops ? otlp_loops(o, location) : 0;

	if (location->image < o->profile->images.n) {
		uint64_t *limit = &o->limits.at[location->image];
		proto_uint(&o->message, 1, (uint64_t)location->image + 1);
		*limit = location->vaddr >= *limit ? location->vaddr + 1 : *limit;
	}
	proto_uint(&o->message, 2, location->vaddr);
	for (size_t i = 0; i < location->n_lines; i++) {
		proto_uint(&o->inner, 1, location->lines[i].function);
		proto_uint(&o->inner, 2, location->lines[i].line);
		proto_message(&o->message, 3, &o->inner);
	}
	otlp_put_list(o, &o->message, 4, &loops, loops ? 1 : 0);
	proto_message(&o->rows[TABLE_LOCATION], TABLE_LOCATION, &o->message);
}

static void otlp_put_mappings(struct otlp *o)
{
	char build_id[2 * BUILD_ID_MAX + 1];

	for (size_t i = 0; i < o->profile->images.n; i++) {
		const struct profile_image *image = &o->profile->images.at[i];
		uint32_t attribute = 0;
		build_id_format(&image->build_id, build_id);
		if (*build_id)
			attribute = otlp_text_attribute(o, "process.executable.build_id.gnu", build_id);
		proto_uint(&o->message, 2, o->limits.at[i] ? o->limits.at[i] : 1);
		proto_uint(&o->message, 4, proto_string(&o->tables, otlp_text(o, image->path)));
		otlp_put_list(o, &o->message, 5, &attribute, attribute ? 1 : 0);
		proto_message(&o->rows[TABLE_MAPPING], TABLE_MAPPING, &o->message);
	}
}

/* ---- samples ---------------------------------------------------------------------------------------- */

static const uint32_t *otlp_thread(struct otlp *o, uint32_t thread)
{
	uint32_t *ids = &o->of_thread.at[(size_t)thread * OTLP_THREAD_ATTRIBUTES];
	const struct profile_thread *t = &o->profile->threads.at[thread];
	const struct profile_process *process =
		t->process < o->profile->processes.n ? &o->profile->processes.at[t->process] : NULL;

	if (!ids[0]) {
		ids[0] = otlp_number_attribute(o, "thread.id", t->tid);
		ids[1] = otlp_text_attribute(o, "thread.name", otlp_text(o, t->comm));
		ids[2] = otlp_number_attribute(o, "process.pid", process ? process->pid : t->tid);
		ids[3] = otlp_text_attribute(o, "process.executable.name",
					     otlp_text(o, process ? process->comm : t->comm));
	}
	return ids;
}

static void otlp_put_sample(void *context, uint32_t scope, uint32_t thread, const uint64_t *values)
{
	struct otlp *o = context;

	proto_tables_stack(&o->tables, scope);
	for (size_t i = 0; i < o->tables.stack.n; i++)
		proto_varint(&o->packed, o->tables.stack.at[i]);
	proto_message(&o->message, 1, &o->packed);
	uint32_t stack = otlp_row(o, TABLE_STACK, &o->stacks, &o->n_stacks, &o->message);

	bool has_thread = thread < o->profile->threads.n;
	const uint32_t *attributes = has_thread ? otlp_thread(o, thread) : NULL;
	for (uint32_t m = 0; m < o->tables.tree->n_metrics; m++) {
		if (!values[m])
			continue;
		proto_uint(&o->message, 1, stack);
		otlp_put_list(o, &o->message, 2, attributes, has_thread ? OTLP_THREAD_ATTRIBUTES : 0);
		proto_varint(&o->packed, values[m]);
		proto_message(&o->message, 4, &o->packed);
		proto_message(&o->profiles[m], 2, &o->message);
	}
}

/* ---- the message ------------------------------------------------------------------------------------ */

/* Unique, and the same each time the same profile is written. */
static void otlp_put_id(struct otlp *o, struct text *to, uint32_t metric)
{
	uint64_t halves[2] = { hash_u64(o->profile->run.start_unix_ns ^ metric),
			       o->profile->run.duration_ns };
	const char *host = otlp_text(o, o->profile->run.host), *target = otlp_text(o, o->profile->run.target);

	halves[0] ^= hash_bytes((struct bytes){ (const uint8_t *)host, strlen(host) });
	halves[1] =
		hash_u64(halves[1] ^ hash_bytes((struct bytes){ (const uint8_t *)target, strlen(target) }) ^
			 halves[0]);
	proto_bytes(to, 7, halves, sizeof(halves));
}

static void otlp_put_type(struct otlp *o, struct text *to, unsigned field, uint32_t name, uint32_t unit)
{
	proto_uint(&o->inner, 1, proto_string(&o->tables, otlp_text(o, name)));
	proto_uint(&o->inner, 2, proto_string(&o->tables, proto_unit(otlp_text(o, unit))));
	proto_message(to, field, &o->inner);
}

/* The fields of a Profile other than its samples. */
static void otlp_put_head(struct otlp *o, uint32_t m, struct text *to)
{
	const struct profile *profile = o->profile;
	const struct profile_metric *metric = &profile->metrics.at[m];

	otlp_put_type(o, to, 1, metric->name, metric->unit);
	proto_fixed64(to, 3, profile->run.start_unix_ns);
	proto_uint(to, 4, profile->run.duration_ns);
	if (metric->event < profile->events.n) {
		const struct profile_event *event = &profile->events.at[metric->event];
		bool is_time = strcmp(otlp_text(o, event->unit), "ns") == 0;
		otlp_put_type(o, to, 5, event->name, event->unit);
		proto_uint(to, 6,
			   event->period                 ? event->period
			   : is_time && event->frequency ? 1000000000 / event->frequency
							 : 1);
	}
	otlp_put_id(o, to, m);
}

/* A KeyValue: the attributes of resources and scopes are not in a table. */
static void otlp_put_pair(struct otlp *o, struct text *to, unsigned field, const char *key, size_t key_len,
			  const char *text)
{
	proto_bytes(&o->inner, 1, key, key_len);
	otlp_put_text(o, &o->value, VALUE_STRING, text);
	proto_message(&o->inner, 2, &o->value);
	proto_message(to, field, &o->inner);
}

static void otlp_put_resource(struct otlp *o, const struct export_options *options, struct text *to)
{
	const struct profile_run *run = &o->profile->run;

	otlp_put_pair(o, &o->message, 1, "host.name", 9, otlp_text(o, run->host));
	otlp_put_pair(o, &o->message, 1, "host.arch", 9,
		      strcmp(otlp_text(o, run->arch), "x86_64") == 0 ? "amd64" : "arm64");
	otlp_put_pair(o, &o->message, 1, "os.type", 7, "linux");
	for (size_t i = 0; i < options->n_labels; i++) {
		const char *label = options->labels[i], *equals = strchr(label, '=');
		otlp_put_pair(o, &o->message, 1, label, equals ? (size_t)(equals - label) : strlen(label),
			      equals ? equals + 1 : "");
	}
	proto_message(to, 1, &o->message);
}

static void otlp_put_scope(struct otlp *o, struct text *to)
{
	proto_bytes(&o->message, 1, "cpprof", 6);
	otlp_put_text(o, &o->message, 2, otlp_text(o, o->profile->run.tool_version));
	otlp_put_pair(o, &o->message, 3, "otlp.profiles.revision", 22, OTLP_REVISION);
	proto_message(to, 1, &o->message);
}

/* The tag and length before a part. */
static void otlp_put_length(struct text *to, unsigned field, size_t len)
{
	proto_varint(to, field << 3 | 2);
	proto_varint(to, len);
}

static bool otlp_write(struct text *text, FILE *to)
{
	bool is_written = !text->len || fwrite(text->at, 1, text->len, to) == text->len;

	text_done(text);
	return is_written;
}

static bool otlp_write_profiles(struct otlp *o, const struct export_options *options, FILE *to)
{
	CLEANUP(text_done) struct text scope = { 0 }, resource = { 0 }, head = { 0 }, out = { 0 };
	uint32_t n = o->tables.tree->n_metrics;
	struct text *heads = alloc_zero(n + 1, sizeof(*heads));

	otlp_put_scope(o, &scope);
	size_t len = scope.len;
	for (uint32_t m = 0; m < n; m++) {
		otlp_put_head(o, m, &head);
		otlp_put_length(&heads[m], 2, head.len + o->profiles[m].len);
		text_add(&heads[m], head.at, head.len);
		text_clear(&head);
		len += heads[m].len + o->profiles[m].len;
	}
	otlp_put_resource(o, options, &resource);
	otlp_put_length(&resource, 2, len);
	otlp_put_length(&out, 1, resource.len + len);
	bool is_written = otlp_write(&out, to) && otlp_write(&resource, to) && otlp_write(&scope, to);
	for (uint32_t m = 0; m < n; m++)
		is_written &= otlp_write(&heads[m], to) && otlp_write(&o->profiles[m], to);
	free(heads);
	return is_written;
}

static bool otlp_write_dictionary(struct otlp *o, FILE *to)
{
	CLEANUP(text_done) struct text out = { 0 };
	const struct intern *strings = &o->tables.strings;
	struct text first[TABLE_N] = { 0 };
	size_t len = 0;

	for (size_t i = 0; i < strings->strings.n; i++)
		proto_bytes(&o->rows[TABLE_STRING], TABLE_STRING, strings->strings.at[i],
			    strings->lengths.at[i]);
	for (unsigned table = 1; table < TABLE_N; table++) {
		if (table != TABLE_STRING) /* the first string is empty anyway */
			proto_bytes(&first[table], table, "", 0);
		len += first[table].len + o->rows[table].len;
	}
	otlp_put_length(&out, 2, len);
	bool is_written = otlp_write(&out, to);
	for (unsigned table = 1; table < TABLE_N; table++)
		is_written &= otlp_write(&first[table], to) && otlp_write(&o->rows[table], to);
	return is_written;
}

static void otlp_done(struct otlp *o)
{
	for (unsigned table = 0; table < TABLE_N; table++)
		text_done(&o->rows[table]);
	for (uint32_t m = 0; m < o->tables.tree->n_metrics; m++)
		text_done(&o->profiles[m]);
	free(o->profiles);
	text_done(&o->message);
	text_done(&o->inner);
	text_done(&o->value);
	text_done(&o->packed);
	map_done(&o->attributes);
	map_done(&o->stacks);
	vec_done(&o->of_thread);
	vec_done(&o->limits);
	proto_tables_done(&o->tables);
}

static int write_otlp(const struct export_input *input, const struct export_options *options, FILE *to,
		      struct diag *diag)
{
	struct otlp o = { .profile = input->profile };

	o.tables = (struct proto_tables){ .profile = input->profile,
					  .tree = input->tree,
					  .context = &o,
					  .add_function = otlp_add_function,
					  .add_location = otlp_add_location };
	o.profiles = alloc_zero(input->tree->n_metrics + 1, sizeof(*o.profiles));
	for (size_t i = 0; i < input->profile->images.n; i++)
		vec_push(&o.limits, 0);
	for (size_t i = 0; i < input->profile->threads.n * OTLP_THREAD_ATTRIBUTES; i++)
		vec_push(&o.of_thread, 0);
	proto_tables_init(&o.tables);
	proto_tables_samples(&o.tables, otlp_put_sample);
	otlp_put_mappings(&o);
	errno = 0;
	bool is_written = otlp_write_profiles(&o, options, to) && otlp_write_dictionary(&o, to);
	otlp_done(&o);
	if (!is_written)
		return diag_set(diag, errno ? -errno : -EIO, "cannot write the otlp export");
	return 0;
}

const struct exporter exporter_otlp = {
	.name = "otlp",
	.suffixes = ".otlp",
	.summary = "OpenTelemetry's profiles signal, for collectors",
	.carries = CARRIES_INLINES | CARRIES_LOOPS | CARRIES_THREADS | CARRIES_METRICS | CARRIES_BUILD_IDS |
		   CARRIES_LINES | CARRIES_CONTEXT,
	.loops_by_default = true,
	.needs_lines = true,
	.is_binary = true,
	.walks_stacks = true,
	.write = write_otlp,
};
