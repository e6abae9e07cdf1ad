/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openmetrics: the most expensive functions as gauges, for Prometheus and node_exporter's textfile collector.
 *
 * The number of series is limited: the top functions and one "other"; no addresses, threads or lines in
 * labels. Values that could be counters are gauges, because the next recording starts again from 0. The text
 * is valid both in the Prometheus format and in OpenMetrics.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/intern.h"
#include "base/json.h"
#include "base/text.h"
#include "report/export/exporter.h"
#include "report/label.h"
#include "report/limit.h"
#include "report/quality.h"
#include "report/tree/flatten.h"

#define TOP 20       /* functions, by default */
#define MAX_NAME 200 /* bytes of a label's value */

struct openmetrics {
	FILE *to;
	const struct document *document;
	struct intern labels; /* function, module and kind as written: equal ones are one series */
	uint32_t *group;      /* of each frame: its labels */
	struct flat_table table;
	struct text run; /* labels of every series: two services on one host must be distinguishable */
	size_t n_listed;
};

/* ---- labels ----------------------------------------------------------------------------------- */

static void openmetrics_add_escaped(struct text *ret, const char *value)
{
	size_t left = strlen(value), start = ret->len;

	while (left && ret->len - start < MAX_NAME) {
		unsigned len = utf8_length(value, left);
		if (len == 0)
			text_printf(ret, "\xef\xbf\xbd");
		else if (*value == '\n')
			text_printf(ret, "\\n");
		else if (*value == '"' || *value == '\\')
			text_printf(ret, "\\%c", *value);
		else if (utf8_is_control(value, len))
			text_printf(ret, " ");
		else
			text_add(ret, value, len);
		value += len ? len : 1;
		left -= len ? len : 1;
	}
}

static void add_label(struct text *ret, const char *name, const char *value)
{
	text_printf(ret, "%s%s=\"", ret->len ? "," : "", name);
	openmetrics_add_escaped(ret, value);
	text_printf(ret, "\"");
}

/* Labels that identify this recording, then those that the user adds. */
static void label_every_series(struct openmetrics *o, const struct export_options *options)
{
	const struct profile *profile = o->document->profile;
	CLEANUP(text_done) struct text target = { 0 };
	char pid[16] = "";

	label_run(profile, &target);
	if (profile->processes.n)
		snprintf(pid, sizeof(pid), "%d", profile->processes.at[0].pid);
	add_label(&o->run, "target", target.at ? target.at : "");
	add_label(&o->run, "pid", pid);
	for (size_t i = 0; i < options->n_labels; i++) {
		CLEANUP(freep) char *name = alloc_text(options->labels[i]);
		size_t len = strcspn(name, "=");
		bool has_value = name[len] != '\0';
		name[len] = '\0';
		add_label(&o->run, name, has_value ? options->labels[i] + len + 1 : "");
	}
}

static void group_frames(struct openmetrics *o)
{
	const struct document *document = o->document;
	struct text labels = { 0 };
	char label[512];

	intern_init(&o->labels);
	o->group = alloc_resize(NULL, document->frames.n, sizeof(uint32_t));
	for (uint32_t i = 0; i < document->frames.n; i++) {
		const struct scope_frame *f = &document->frames.at[i];
		text_clear(&labels);
		add_label(&labels, "function", document_frame_label(document, i, label, sizeof(label)));
		add_label(&labels, "module", profile_image_name(document->profile, f->image));
		add_label(&labels, "kind", scope_kind_name(f->kind));
		o->group[i] = intern_add(&o->labels, labels.at);
	}
	text_done(&labels);
	flatten_groups(document, o->group, (uint32_t)o->labels.strings.n, &o->table);
}

/* Loops are part of their functions; group 0 is the empty label. */
static bool openmetrics_is_listed(const struct openmetrics *o, const struct flat_row *row, uint32_t metric)
{
	unsigned kind = o->document->frames.at[row->frame].kind;

	return kind != SCOPE_ROOT && kind != SCOPE_INCOMPLETE && kind != SCOPE_LOOP && row->total[metric] > 0;
}

/* The most expensive first, and only those. */
static void openmetrics_choose_rows(struct openmetrics *o, const struct export_options *options)
{
	size_t limit = options->limit ? options->limit : TOP;

	flat_table_sort(&o->table, options->metric);
	for (size_t i = 0; i < o->table.rows.n && o->n_listed < limit; i++)
		if (openmetrics_is_listed(o, &o->table.rows.at[i], options->metric))
			o->table.rows.at[o->n_listed++] = o->table.rows.at[i];
}

/* ---- families --------------------------------------------------------------------------------- */

static void begin_family(struct openmetrics *o, const char *name, const char *unit, const char *help)
{
	fprintf(o->to, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
	if (unit)
		fprintf(o->to, "# UNIT %s %s\n", name, unit);
}

static void write_number(FILE *to, uint64_t value, bool is_time)
{
	if (is_time)
		fprintf(to, " %llu.%09llu\n", (unsigned long long)(value / 1000000000),
			(unsigned long long)(value % 1000000000));
	else
		fprintf(to, " %llu\n", (unsigned long long)value);
}

static void write_series(struct openmetrics *o, const char *name, uint32_t metric, bool is_self, bool is_time)
{
	const struct profile *profile = o->document->profile;
	uint64_t rest = document_inclusive(o->document, 0, metric);
	struct text event = { 0 };

	add_label(&event, "event", profile_text(profile, profile->metrics.at[metric].name));
	for (size_t i = 0; i < o->n_listed; i++) {
		const struct flat_row *row = &o->table.rows.at[i];
		fprintf(o->to, "%s{%s,%s,%s}", name, intern_text(&o->labels, o->group[row->frame]), event.at,
			o->run.at);
		write_number(o->to, is_self ? row->self[metric] : row->total[metric], is_time);
		rest -= row->self[metric];
	}
	if (is_self) {
		fprintf(o->to, "%s{function=\"other\",module=\"\",kind=\"other\",%s,%s}", name, event.at,
			o->run.at);
		write_number(o->to, rest, is_time);
	}
	text_done(&event);
}

/* Metrics in ns as seconds, or all others except samples as they are. */
static void openmetrics_write_costs(struct openmetrics *o, bool is_time, bool is_self, const char *name,
				    const char *help)
{
	const struct profile *profile = o->document->profile;
	bool has_begun = false;

	for (uint32_t m = 1; m < o->document->n_metrics; m++) {
		if ((strcmp(profile_text(profile, profile->metrics.at[m].unit), "ns") == 0) != is_time)
			continue;
		if (!has_begun)
			begin_family(o, name, is_time ? "seconds" : NULL, help);
		has_begun = true;
		write_series(o, name, m, is_self, is_time);
	}
}

static void write_gauge(struct openmetrics *o, const char *name, const char *help, uint64_t value)
{
	begin_family(o, name, NULL, help);
	fprintf(o->to, "%s{%s} %llu\n", name, o->run.at, (unsigned long long)value);
}

static void openmetrics_write_run(struct openmetrics *o)
{
	const struct profile *profile = o->document->profile;
	const struct profile_quality *q = &profile->quality;
	struct text labels = { 0 };

	write_gauge(o, "cpprof_samples", "samples received", q->samples);
	write_gauge(o, "cpprof_lost_samples", "samples lost by the kernel", q->lost);
	write_gauge(o, "cpprof_unwind_failures", "samples with an incomplete stack",
		    q->samples - q->by_end[STACK_COMPLETE]);
	if (limit_count(o->document->tree))
		write_gauge(o, "cpprof_folded_contexts", "contexts that were folded into <other>",
			    limit_count(o->document->tree));
	begin_family(o, "cpprof_complete_ratio", "ratio",
		     "share of samples with a complete stack, among all samples including lost ones");
	fprintf(o->to, "cpprof_complete_ratio{%s} %.6g\n", o->run.at, quality_percent(q) / 100);
	begin_family(o, "cpprof_run_seconds", "seconds", "duration of the recording");
	fprintf(o->to, "cpprof_run_seconds{%s}", o->run.at);
	write_number(o->to, profile->run.duration_ns, true);
	add_label(&labels, "host", profile_text(profile, profile->run.host));
	add_label(&labels, "kernel", profile_text(profile, profile->run.kernel));
	add_label(&labels, "event",
		  profile->events.n ? profile_text(profile, profile->events.at[0].name) : "");
	add_label(&labels, "version", profile_text(profile, profile->run.tool_version));
	begin_family(o, "cpprof_run_info", NULL, "the recording that these numbers come from");
	fprintf(o->to, "cpprof_run_info{%s,%s} 1\n", labels.at, o->run.at);
	text_done(&labels);
}

static int write_openmetrics(const struct export_input *input, const struct export_options *options, FILE *to,
			     struct diag *diag)
{
	struct document document;

	(void)diag;
	document_init(&document, input->profile, input->tree);
	struct openmetrics o = { .to = to, .document = &document };
	label_every_series(&o, options);
	group_frames(&o);
	openmetrics_choose_rows(&o, options);
	openmetrics_write_costs(&o, true, true, "cpprof_self_seconds", "time spent in a function itself");
	openmetrics_write_costs(&o, true, false, "cpprof_total_seconds",
				"time spent in a function and what it calls");
	openmetrics_write_costs(&o, false, true, "cpprof_self_events", "events in a function itself");
	openmetrics_write_costs(&o, false, false, "cpprof_total_events",
				"events in a function and what it calls");
	openmetrics_write_run(&o);
	fputs("# EOF\n", to);
	text_done(&o.run);
	free(o.group);
	flat_table_done(&o.table);
	intern_done(&o.labels);
	document_done(&document);
	return 0;
}

const struct exporter exporter_openmetrics = {
	.name = "openmetrics",
	.suffixes = ".prom .om",
	.summary = "the most expensive functions as gauges, for Prometheus",
	.carries = CARRIES_INLINES | CARRIES_METRICS,
	.write = write_openmetrics,
};
