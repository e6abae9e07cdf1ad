/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_sections, the parts without rows: the run, its events and metrics, and the quality of the profile.
 */
#include "report/export/json_sections.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "report/export/export_document.h"
#include "report/limit.h"
#include "report/quality.h"
#include "report/waits.h"

static const char *text(const struct profile *profile, uint32_t id)
{
	return id ? profile_text(profile, id) : NULL;
}

void json_run_id(struct json *json, const struct profile *profile)
{
	const struct profile_run *run = &profile->run;
	const char *host = profile_text(profile, run->host),
		   *command = profile_text(profile, run->command_line);
	uint64_t a = hash_u64(run->start_unix_ns ^
			      hash_bytes((struct bytes){ (const uint8_t *)host, strlen(host) }));
	uint64_t b = hash_u64(a ^ run->duration_ns ^
			      hash_bytes((struct bytes){ (const uint8_t *)command, strlen(command) }));

	json_printf(json, "%08x-%04x-8%03x-8%03x-%012llx", (unsigned)(a >> 32), (unsigned)(a >> 16 & 0xffff),
		    (unsigned)(a & 0xfff), (unsigned)(b >> 48 & 0xfff),
		    (unsigned long long)(b & 0xffffffffffff));
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

static void json_head_write_run(struct json *json, const struct profile *profile)
{
	const struct profile_run *run = &profile->run;

	json_name(json, "run");
	json_object(json);
	json_name(json, "id");
	json_run_id(json, profile);
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

static void json_head_write_events(struct json *json, const struct profile *profile)
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
		json_text_of(json, "domain", wait_metric_domain(profile, (uint32_t)i));
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
	json_head_write_run(json, profile);
	json_head_write_events(json, profile);
	write_metrics(json, profile);
}

static double json_head_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* The reasons that occurred, other than complete. */
static void write_stacks(struct json *json, const struct profile_quality *quality)
{
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
}

/* Files that were sampled, but in which no function has a line. */
static void write_modules_without_debug(struct json *json, const struct document *document)
{
	const struct profile *profile = document->profile;
	CLEANUP(freep) bool *is_sampled = alloc_zero(profile->images.n + 1, sizeof(bool));
	CLEANUP(freep) bool *has_lines = alloc_zero(profile->images.n + 1, sizeof(bool));

	/* Only sampled functions are listed; others may still be in the tree. */
	for (size_t i = 0; i < document->frames.n; i++)
		if (document->frames.at[i].image < profile->images.n)
			is_sampled[document->frames.at[i].image] = true;
	for (size_t i = 0; i < profile->functions.n; i++) {
		const struct function_map *map = &profile->functions.at[i];
		if (map->image >= profile->images.n)
			continue;
		is_sampled[map->image] = true;
		has_lines[map->image] |= map->lines.n > 0;
	}
	json_name(json, "modules_without_debug");
	json_array(json);
	for (image_id i = 0; i < profile->images.n; i++)
		if (is_sampled[i] && !has_lines[i] && profile->images.at[i].kind == IMAGE_ELF)
			json_text(json, profile_image_name(profile, i));
	json_end_array(json);
}

static void json_put_change(void *context, const char *name, uint64_t value)
{
	json_uint_of(context, name, value);
}

static void write_overhead(struct json *json, const struct profile *profile)
{
	const struct profile_quality *quality = &profile->quality;

	json_name(json, "overhead");
	json_object(json);
	json_uint_of(json, "cpprof_cpu_ns", quality->own_cpu_ns);
	json_uint_of(json, "cpprof_peak_kb", quality->own_peak_kb);
	json_uint_of(json, "ring_wakeups", quality->wakeups);
	quality_changes_each(profile, json_put_change, json);
	json_end_object(json);
}

static void write_warnings(struct json *json, const struct document *document)
{
	const struct profile *profile = document->profile;
	CLEANUP(text_done) struct text folded = { 0 };

	json_name(json, "warnings");
	json_array(json);
	for (size_t i = 0; i < profile->notes.n; i++)
		json_text(json, profile_text(profile, profile->notes.at[i]));
	if (quality_missing(profile))
		json_text(json, quality_missing(profile));
	limit_note(document->tree, profile, &folded);
	if (folded.len)
		json_text(json, folded.at);
	json_end_array(json);
}

void json_quality(struct json *json, const struct document *document)
{
	const struct profile_quality *quality = &document->profile->quality;

	json_object(json);
	json_uint_of(json, "samples", quality->samples);
	json_uint_of(json, "lost_samples", quality->lost);
	json_uint_of(json, "throttled", quality->throttled);
	json_uint_of(json, "stack_truncated", quality->by_end[STACK_SNAPSHOT_ENDED]);
	if (quality->folded_contexts) {
		json_uint_of(json, "folded_contexts", quality->folded_contexts);
		json_uint_of(json, "folded_samples", quality->folded_samples);
	}
	if (quality->thinned_samples) {
		json_uint_of(json, "thinned_below", quality->thinned_below);
		json_uint_of(json, "thinned_samples", quality->thinned_samples);
	}
	json_name(json, "unwind");
	json_object(json);
	json_uint_of(json, "complete", quality->by_end[STACK_COMPLETE]);
	write_stacks(json, quality);
	json_end_object(json);
	json_number_of(json, "symbolized_pct",
		       100 - json_head_percent(quality->unsymbolized, quality->samples));
	json_number_of(json, "line_info_pct",
		       100 - json_head_percent(quality->without_lines, quality->samples));
	write_modules_without_debug(json, document);
	write_overhead(json, document->profile);
	write_warnings(json, document);
	json_end_object(json);
}

int json_document_write(const struct export_input *input, const struct export_options *options, FILE *to,
			struct diag *diag, json_document_writer *write)
{
	struct export_document it;
	struct json json;
	int error = export_document_open(&it, input, options, diag);

	if (error)
		return error;
	document_index(&it.document);
	json_init(&json, to);
	write(&json, &it.document, options, &it.derived);
	export_document_done(&it);
	return json_done(&json);
}
