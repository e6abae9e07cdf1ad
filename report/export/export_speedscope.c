/* SPDX-License-Identifier: Apache-2.0 */
/*
 * speedscope: one "sampled" profile per metric for all threads together, then one per thread for the default
 * metric. Frames are shared: the viewer identifies a frame only by its index.
 *
 * Stacks are written in full, root first, so the size grows with leaves times depth; for deep trees the
 * evented form (open and close events in depth-first order) is smaller and is used instead.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "report/export/exporter.h"
#include "report/label.h"
#include "report/limit.h"
#include "report/tree/children.h"
#include "report/tree/document.h"

#define MAX_THREADS 48 /* the viewer's list of profiles becomes unusable beyond that */
#define DEEP 20        /* mean depth at which the evented form is smaller */

struct speedscope {
	struct json json;
	const struct document *document;
	VEC(uint32_t) path;
};

static void speedscope_write_frames(struct speedscope *s)
{
	const struct document *document = s->document;
	char label[512];

	json_name(&s->json, "shared");
	json_object(&s->json);
	json_name(&s->json, "frames");
	json_array(&s->json);
	for (uint32_t i = 0; i < document->frames.n; i++) {
		const struct scope_frame *f = &document->frames.at[i];
		json_object(&s->json);
		json_text_of(&s->json, "name", document_frame_label(document, i, label, sizeof(label)));
		if (f->file)
			json_text_of(&s->json, "file", profile_text(document->profile, f->file));
		if (f->line)
			json_uint_of(&s->json, "line", f->line);
		json_end_object(&s->json);
	}
	json_end_array(&s->json);
	json_end_object(&s->json);
}

static const char *unit_of(const struct profile *profile, uint32_t metric)
{
	return strcmp(profile_text(profile, profile->metrics.at[metric].unit), "ns") == 0 ? "nanoseconds"
											  : "none";
}

static void write_stack(struct speedscope *s, uint32_t node)
{
	vec_clear(&s->path);
	for (uint32_t at = node; at != NO_NODE && at != 0; at = document_parent(s->document, at))
		vec_push(&s->path, document_frame(s->document, at));
	json_array(&s->json);
	for (size_t i = s->path.n; i-- > 0;)
		json_uint(&s->json, s->path.at[i]);
	json_end_array(&s->json);
}

static void begin_profile(struct speedscope *s, const char *type, const char *name, uint32_t metric,
			  uint64_t total)
{
	json_object(&s->json);
	json_text_of(&s->json, "type", type);
	json_text_of(&s->json, "name", name);
	json_text_of(&s->json, "unit", unit_of(s->document->profile, metric));
	json_uint_of(&s->json, "startValue", 0);
	json_uint_of(&s->json, "endValue", total);
}

/* self: one value per node. */
static void write_sampled(struct speedscope *s, const char *name, uint32_t metric, const uint64_t *self)
{
	size_t n = s->document->n_nodes;
	uint64_t total = 0;

	for (size_t i = 0; i < n; i++)
		total += self[i];
	begin_profile(s, "sampled", name, metric, total);
	json_name(&s->json, "samples");
	json_array(&s->json);
	for (uint32_t i = 0; i < n; i++)
		if (self[i])
			write_stack(s, i);
	json_end_array(&s->json);
	json_name(&s->json, "weights");
	json_array(&s->json);
	for (size_t i = 0; i < n; i++)
		if (self[i])
			json_uint(&s->json, self[i]);
	json_end_array(&s->json);
	json_end_object(&s->json);
}

static void write_event(struct speedscope *s, const char *type, uint32_t node, uint64_t at)
{
	json_object(&s->json);
	json_text_of(&s->json, "type", type);
	json_uint_of(&s->json, "frame", document_frame(s->document, node));
	json_uint_of(&s->json, "at", at);
	json_end_object(&s->json);
}

struct evented {
	struct speedscope *s;
	const uint64_t *self;
	uint64_t now;
};

/* Closes everything that is deeper than the node about to be opened; depth 1 is below the root. */
static void open_node(void *context, uint32_t node, uint32_t depth)
{
	struct evented *e = context;

	if (depth == 0) {
		e->now = e->self[0];
		return;
	}
	while (e->s->path.n >= depth)
		write_event(e->s, "C", e->s->path.at[--e->s->path.n], e->now);
	write_event(e->s, "O", node, e->now);
	vec_push(&e->s->path, node);
	e->now += e->self[node];
}

static void write_evented(struct speedscope *s, const char *name, uint32_t metric, const uint64_t *self)
{
	struct evented e = { s, self, 0 };
	struct children children;
	size_t n = s->document->n_nodes;
	uint64_t total = 0;

	for (size_t i = 0; i < n; i++)
		total += self[i];
	vec_clear(&s->path);
	children_of_document(&children, s->document, metric);
	begin_profile(s, "evented", name, metric, total);
	json_name(&s->json, "events");
	json_array(&s->json);
	children_walk(&children, n, open_node, &e);
	while (s->path.n)
		write_event(s, "C", s->path.at[--s->path.n], e.now);
	json_end_array(&s->json);
	json_end_object(&s->json);
	children_done(&children);
}

static double mean_depth(const struct document *document)
{
	uint32_t *depth = alloc_zero(document->n_nodes, sizeof(uint32_t));
	uint64_t sum = 0, n = 0;
	struct document_cursor cursor;

	document_cursor_init(&cursor, document);
	for (size_t i = 1; i < document->n_nodes; i++) {
		depth[i] = depth[document_parent(document, i)] + 1;
		if (document_self(&cursor, i, 0)) {
			sum += depth[i];
			n++;
		}
	}
	document_cursor_done(&cursor);
	free(depth);
	return n ? (double)sum / (double)n : 0;
}

/* One value per node: of a metric, of one thread or (UINT32_MAX) of all. False if all are 0. */
static bool gather(const struct document *document, uint32_t metric, uint32_t thread, uint64_t *self)
{
	struct document_cursor cursor;
	bool has_any = false;

	document_cursor_init(&cursor, document);
	memset(self, 0, document->n_nodes * sizeof(uint64_t));
	for (size_t i = 0; i < document->n_values; i++) {
		struct scope_value v = document_value(&cursor, i);
		if (v.metric == metric && (thread == UINT32_MAX || v.thread == thread))
			self[v.scope] += v.value;
		has_any |= v.metric == metric && (thread == UINT32_MAX || v.thread == thread) && v.value > 0;
	}
	document_cursor_done(&cursor);
	return has_any;
}

static void write_profiles(struct speedscope *s, const struct export_options *options)
{
	const struct document *document = s->document;
	const struct profile *profile = document->profile;
	uint64_t *self = alloc_resize(NULL, document->n_nodes, sizeof(uint64_t));
	void (*write)(struct speedscope *, const char *, uint32_t, const uint64_t *) =
		mean_depth(document) > DEEP ? write_evented : write_sampled;
	char name[256];

	for (uint32_t m = 0; m < document->n_metrics; m++) {
		gather(document, m, UINT32_MAX, self);
		snprintf(name, sizeof(name), "%s: all threads (aggregated)",
			 profile_text(profile, profile->metrics.at[m].name));
		write(s, name, m, self);
	}
	for (uint32_t t = 0; profile->threads.n > 1 && t < profile->threads.n && t < MAX_THREADS; t++) {
		if (!gather(document, options->metric, t, self))
			continue;
		snprintf(name, sizeof(name), "%s: %s tid %d (aggregated)",
			 profile_text(profile, profile->metrics.at[options->metric].name),
			 profile_text(profile, profile->threads.at[t].comm), profile->threads.at[t].tid);
		write(s, name, options->metric, self);
	}
	free(self);
}

static int write_speedscope(const struct export_input *input, const struct export_options *options, FILE *to,
			    struct diag *diag)
{
	struct document document;
	struct text title = { 0 }, folded = { 0 };

	(void)diag;
	document_init(&document, input->profile, input->tree);
	struct speedscope s = { .document = &document };
	json_init(&s.json, to);
	json_object(&s.json);
	json_text_of(&s.json, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_text_of(&s.json, "exporter", "cpprof@" CPPROF_VERSION);
	label_run(input->profile, &title);
	limit_note(input->tree, input->profile, &folded);
	if (folded.len)
		text_printf(&title, " (%s)", folded.at);
	json_text_of(&s.json, "name", title.at);
	text_done(&title);
	text_done(&folded);
	json_uint_of(&s.json, "activeProfileIndex", options->metric);
	speedscope_write_frames(&s);
	json_name(&s.json, "profiles");
	json_array(&s.json);
	write_profiles(&s, options);
	json_end_array(&s.json);
	json_end_object(&s.json);
	json_line(&s.json);
	vec_done(&s.path);
	document_done(&document);
	return json_done(&s.json);
}

const struct exporter exporter_speedscope = {
	.name = "speedscope",
	.suffixes = ".speedscope.json .speedscope",
	.summary = "for the speedscope viewer",
	.carries = CARRIES_INLINES | CARRIES_LOOPS | CARRIES_THREADS | CARRIES_METRICS | CARRIES_LINES |
		   CARRIES_CONTEXT,
	.loops_by_default = true,
	.max_nodes = 500000,
	.write = write_speedscope,
};
