/* SPDX-License-Identifier: Apache-2.0 */
#include "report/json_sections.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/hash.h"
#include "report/limit.h"

static const char *text(const struct profile *profile, uint32_t id)
{
	return id ? profile_text(profile, id) : NULL;
}

/* A run's name for ever, made of what was run, where and when. */
static void write_run_id(struct json *json, const struct profile *profile)
{
	const struct profile_run *run = &profile->run;
	const char *host = profile_text(profile, run->host), *command = profile_text(profile, run->command_line);
	uint64_t a = hash_u64(run->start_unix_ns ^ hash_bytes((struct bytes){ (const uint8_t *)host, strlen(host) }));
	uint64_t b = hash_u64(a ^ run->duration_ns ^ hash_bytes((struct bytes){ (const uint8_t *)command, strlen(command) }));

	json_name(json, "id");
	json_printf(json, "%08x-%04x-8%03x-8%03x-%012llx", (unsigned)(a >> 32), (unsigned)(a >> 16 & 0xffff), (unsigned)(a & 0xfff),
		    (unsigned)(b >> 48 & 0xfff), (unsigned long long)(b & 0xffffffffffff));
}

static void write_start(struct json *json, uint64_t unix_ns)
{
	time_t seconds = (time_t)(unix_ns / 1000000000);
	char stamp[32];
	struct tm utc;

	gmtime_r(&seconds, &utc);
	strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%SZ", &utc);
	json_text_of(json, "start", unix_ns ? stamp : NULL);
	json_name(json, "start_unix_ns");
	json_printf(json, "%llu", (unsigned long long)unix_ns);
}

static void write_targets(struct json *json, const struct profile *profile)
{
	json_name(json, "targets");
	json_array(json);
	for (size_t i = 0; i < profile->processes.n; i++) {
		const struct profile_process *process = &profile->processes.at[i];
		json_object(json);
		json_int_of(json, "pid", process->pid);
		json_text_of(json, "comm", profile_text(profile, process->comm));
		json_text_of(json, "cmdline", text(profile, process->command_line));
		json_end_object(json);
	}
	json_end_array(json);
}

static void write_run(struct json *json, const struct profile *profile)
{
	const struct profile_run *run = &profile->run;

	json_name(json, "run");
	json_object(json);
	write_run_id(json, profile);
	write_start(json, run->start_unix_ns);
	json_uint_of(json, "duration_ns", run->duration_ns);
	json_name(json, "host");
	json_object(json);
	json_text_of(json, "name", text(profile, run->host));
	json_text_of(json, "kernel", text(profile, run->kernel));
	json_text_of(json, "arch", text(profile, run->arch));
	json_text_of(json, "cpu", text(profile, run->cpu));
	json_uint_of(json, "cpus_online", run->n_cpus);
	json_end_object(json);
	json_text_of(json, "mode", text(profile, run->mode));
	json_text_of(json, "target", text(profile, run->target));
	json_bool_of(json, "complete", !run->is_checkpoint);
	write_targets(json, profile);
	json_end_object(json);
}

static void write_events(struct json *json, const struct profile *profile)
{
	json_name(json, "events");
	json_array(json);
	for (size_t i = 0; i < profile->events.n; i++) {
		const struct profile_event *event = &profile->events.at[i];
		json_object(json);
		json_uint_of(json, "id", i);
		json_text_of(json, "name", profile_text(profile, event->name));
		json_name(json, "sampling");
		json_object(json);
		json_text_of(json, "kind", event->frequency ? "freq" : "period");
		json_uint_of(json, "value", event->frequency ? event->frequency : event->period);
		json_end_object(json);
		json_text_of(json, "scope", event->excludes_kernel ? "user" : "user+kernel");
		json_end_object(json);
	}
	json_end_array(json);
}

static void write_metrics(struct json *json, const struct profile *profile)
{
	json_name(json, "metrics");
	json_array(json);
	for (size_t i = 0; i < profile->metrics.n; i++) {
		const struct profile_metric *metric = &profile->metrics.at[i];
		json_object(json);
		json_uint_of(json, "id", i);
		json_text_of(json, "name", profile_text(profile, metric->name));
		json_text_of(json, "unit", profile_text(profile, metric->unit));
		json_name(json, "event");
		if (metric->event < profile->events.n)
			json_uint(json, metric->event);
		else
			json_null(json);
		json_text_of(json, "domain", "oncpu");
		json_text_of(json, "agg", "sum");
		if (i == 1)
			json_bool_of(json, "default", true);
		json_end_object(json);
	}
	json_end_array(json);
}

void json_header(struct json *json, const struct profile *profile)
{
	json_name(json, "tool");
	json_object(json);
	json_text_of(json, "name", "cpprof");
	json_text_of(json, "version", text(profile, profile->run.tool_version));
	json_text_of(json, "command", text(profile, profile->run.command_line));
	json_end_object(json);
	write_run(json, profile);
	write_events(json, profile);
	write_metrics(json, profile);
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

void json_quality(struct json *json, const struct document *document)
{
	const struct profile *profile = document->profile;
	const struct profile_quality *quality = &profile->quality;
	struct text folded = { 0 };

	json_object(json);
	json_uint_of(json, "samples", quality->samples);
	json_uint_of(json, "lost_samples", quality->lost);
	json_uint_of(json, "throttled", quality->throttled);
	json_name(json, "unwind");
	json_object(json);
	json_uint_of(json, "complete", quality->by_end[STACK_COMPLETE]);
	json_name(json, "by_witness");
	json_object(json);
	for (unsigned i = WITNESS_NONE + 1; i < WITNESS_N; i++)
		json_uint_of(json, witness_name(i), quality->steps_by_witness[i]);
	json_end_object(json);
	json_name(json, "by_end");
	json_object(json);
	for (unsigned i = STACK_COMPLETE + 1; i < STACK_END_N; i++)
		if (quality->by_end[i])
			json_uint_of(json, stack_end_name(i), quality->by_end[i]);
	json_end_object(json);
	json_end_object(json);
	json_number_of(json, "symbolized_pct", 100 - percent(quality->unsymbolized, quality->samples));
	json_number_of(json, "line_info_pct", 100 - percent(quality->without_lines, quality->samples));
	json_name(json, "overhead");
	json_object(json);
	json_uint_of(json, "cpprof_cpu_ns", quality->own_cpu_ns);
	json_uint_of(json, "cpprof_peak_kb", quality->own_peak_kb);
	json_uint_of(json, "ring_wakeups", quality->wakeups);
	json_end_object(json);
	json_name(json, "warnings");
	json_array(json);
	for (size_t i = 0; i < profile->notes.n; i++)
		json_text(json, profile_text(profile, profile->notes.at[i]));
	limit_note(document->tree, profile, &folded);
	if (folded.len)
		json_text(json, folded.at);
	text_done(&folded);
	json_end_array(json);
	json_end_object(json);
}

/* ---- rows ----------------------------------------------------------------------------------- */

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
		json_text_of(json, "debug", text(profile, image->debug));
		json_end_object(json);
	}
}

static int64_t index_or_none(uint32_t index)
{
	return index == UINT32_MAX ? -1 : (int64_t)index;
}

/* One column: `value` is an expression of the row number i. */
#define COLUMN(name, write, value)                  \
	do {                                        \
		json_name(json, name);              \
		json_array(json);                   \
		for (size_t i = from; i < to; i++)  \
			write(json, value);         \
		json_end_array(json);               \
	} while (0)

static size_t count_frames(const struct document *document)
{
	return document->frames.n;
}

static void write_frames(struct json *json, const struct document *document, size_t from, size_t to)
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
	COLUMN("flags", json_uint, f[i].flags);
}

static size_t count_nodes(const struct document *document)
{
	return document->n_nodes;
}

/* 0 is none. Of the kernel they do not fit a signed number. */
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
}

static void write_metric_columns(struct json *json, const struct document *document, size_t from, size_t to,
				 uint64_t (*value)(const struct document *document, size_t node, uint32_t metric))
{
	char name[16];

	json_object(json);
	for (uint32_t m = 0; m < document->n_metrics; m++) {
		snprintf(name, sizeof(name), "%u", m);
		COLUMN(name, json_uint, value(document, i, m));
	}
	json_end_object(json);
}

void json_node_values(struct json *json, const struct document *document, size_t from, size_t to, bool totals)
{
	json_name(json, "exclusive");
	write_metric_columns(json, document, from, to, document_self);
	if (!totals)
		return;
	json_name(json, "inclusive");
	write_metric_columns(json, document, from, to, document_inclusive);
}

static size_t count_points(const struct document *document)
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

static void write_threads(struct json *json, const struct document *document, size_t from, size_t to)
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
	COLUMN("thread", json_uint, document_value(document, i).thread);
	COLUMN("node", json_uint, document_value(document, i).scope);
	COLUMN("metric", json_uint, document_value(document, i).metric);
	COLUMN("value", json_uint, document_value(document, i).value);
}

static size_t count_timeline(const struct document *document)
{
	return document->profile->timeline.n;
}

static void write_timeline(struct json *json, const struct document *document, size_t from, size_t to)
{
	const struct profile_bin *b = document->profile->timeline.at;

	json_uint_of(json, "bin_ns", document->profile->bin_ns);
	COLUMN("thread", json_uint, b[i].thread);
	COLUMN("bin", json_uint, b[i].bin);
	COLUMN("value", json_uint, b[i].samples);
}

const struct json_rows json_rows[] = {
	{ "strings", count_strings, write_strings, true },
	{ "modules", count_modules, write_modules, true },
	{ "frames", count_frames, write_frames, false },
	{ "nodes", count_nodes, write_nodes, false },
	{ "points", count_points, write_points, false },
	{ "processes", count_processes, write_processes, false },
	{ "threads", count_threads, write_threads, false },
	{ "thread_values", count_thread_values, write_thread_values, false },
	{ "timeline", count_timeline, write_timeline, false },
	{ NULL, NULL, NULL, false },
};
