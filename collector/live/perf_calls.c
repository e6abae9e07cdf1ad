/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_calls: what is measured for the calls of chosen functions.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collector/live/event_choice.h"
#include "collector/live/perf_source_private.h"

/* ---- what is asked for -------------------------------------------------------------------------------- */

static void calls_add_metric(struct source_info *info, const char *name, const char *unit, uint64_t period)
{
	struct source_event event = { .period = period, .excludes_kernel = true };

	snprintf(event.name, sizeof(event.name), "%s", name);
	snprintf(event.unit, sizeof(event.unit), "%s", unit);
	vec_push(&info->events, event);
}

static void calls_describe_blocks(struct source_info *info, const struct perf_source_options *options)
{
	calls_add_metric(info, "bytes", "bytes", options->every);
	calls_add_metric(info, "allocations", "count", 1);
	if (!options->held)
		return;
	calls_add_metric(info, "held-bytes", "bytes", 1);
	calls_add_metric(info, "held-allocations", "count", 1);
}

/* What is known about every call; perf_live_finish_call has the same order. */
static void calls_describe(struct source_info *info)
{
	calls_add_metric(info, "wall", "ns", 1);
	calls_add_metric(info, "off-cpu", "ns", 1);
	calls_add_metric(info, "cpu", "ns", 1);
	calls_add_metric(info, "calls", "count", 1);
	calls_add_metric(info, "page-faults", "count", 1);
}

static bool calls_have(const struct source_info *info, const char *name)
{
	for (size_t i = 0; i < info->events.n; i++)
		if (strcmp(info->events.at[i].name, name) == 0)
			return true;
	return false;
}

/* Counters on every CPU; events that cannot be counted are reported, and left out. */
static int calls_add_counters(struct perf_live *live, const struct event_choice *choice, struct diag *diag)
{
	struct source_info *info = &live->source.info;
	struct perf_events *events = &live->events;

	if (choice->n && !bpf_trace_sees_waits(events->probe.program)) {
		diag_set(diag, -EOPNOTSUPP, "cannot count events per call");
		diag_why(diag, "this kernel does not report which thread runs");
		diag_hint(diag, "leave out -e");
		return -EOPNOTSUPP;
	}
	for (size_t i = 0; i < choice->n; i++) {
		const struct event_spec *spec = &choice->specs[i];
		struct perf_event_attr attr = perf_event_attr_of(spec, true);
		if (calls_have(info, spec->name))
			continue;
		int error = perf_counters_add(&events->probe.counters, events->probe.program,
					      live->n_counters, &attr, events->cpus.at, events->cpus.n);
		if (error) {
			source_info_note(
				info, "this machine cannot count '%s' on every CPU (%s): it is ignored",
				spec->name, error == -EBUSY ? "no counter is free" : strerror(-error));
			continue;
		}
		calls_add_metric(info, spec->name, spec->is_clock ? "ns" : "count", 1);
		live->n_counters++;
	}
	info->n_counters = live->n_counters;
	return 0;
}

static int calls_choose_metrics(struct perf_live *live, const struct perf_source_options *options,
				const struct event_choice *choice, struct diag *diag)
{
	struct source_info *info = &live->source.info;

	if (options->every) {
		calls_describe_blocks(info, options);
		return 0;
	}
	calls_describe(info);
	int error = calls_add_counters(live, choice, diag);
	if (options->arg || options->adds_results)
		calls_add_metric(info, "argument", "count", 1);
	if (options->adds_results)
		calls_add_metric(info, "result", "count", 1);
	return error;
}

int perf_live_open_calls(struct perf_live *live, const struct perf_source_options *options, struct diag *diag)
{
	struct perf_events *events = &live->events;
	struct event_choice choice = { 0 };
	int error = event_choice_counters(&choice, options, &live->source.info, diag);
	struct perf_probe_want want = { .isa = live->source.info.isa,
					.arg = options->arg,
					.every = options->every,
					.counts = options->counts,
					.paths = !options->every,
					.held = options->held,
					.n_counters = (uint32_t)choice.n,
					.like = &events->attrs.at[0],
					.cpus = events->cpus.at,
					.anchors = events->anchors.at,
					.n_cpus = events->cpus.n };

	live->adds_results = options->adds_results;
	live->every = perf_probe_every(options->every);
	live->random = live->source.info.start_ns;
	if (!error)
		error = perf_probe_open(&events->probe, &want, NULL, diag);
	if (!error)
		error = calls_choose_metrics(live, options, &choice, diag);
	if (!error && !options->every && !bpf_trace_sees_waits(events->probe.program))
		source_info_note(&live->source.info,
				 "this kernel does not report when threads wait: off-cpu time is shown as 0");
	return error;
}

/* ---- what is told ------------------------------------------------------------------------------------- */

/* Rounded up or down at random, so that the average is the exact number. */
static uint64_t calls_round(struct perf_live *live, double number)
{
	live->random = live->random * 6364136223846793005u + 1442695040888963407u;
	return (uint64_t)(number + (double)(live->random >> 11) * 0x1p-53);
}

/*
 * The metrics of an allocation. It is sampled with probability 1 - exp(-size / every), and represents those
 * that were not.
 */
static void calls_finish_block(struct perf_live *live, const struct trace_call *call, struct sample *sample)
{
	double chance = -expm1(-(double)call->arg / live->every);
	double n = 1 / chance, bytes = (double)call->arg * n;

	sample->block = call->block;
	sample->weight = calls_round(live, bytes);
	sample->more[sample->n_more++] = calls_round(live, n);
	sample->doubts[0] = calls_round(live, (1 - chance) * bytes * bytes);
	sample->doubts[1] = calls_round(live, (1 - chance) * n * n);
}

/* The metrics of a call, in the order of calls_describe. */
bool perf_live_finish_call(struct perf_live *live, struct sample *sample)
{
	struct trace_call call;

	if (!perf_probe_read(live->record.sample.raw, &call))
		return false;
	sample->n_hidden = (uint32_t)call.n_hidden;
	for (uint32_t i = 0; i < sample->n_hidden; i++)
		live->hidden[i] =
			(struct hidden_return){ call.hidden[i].stack, call.hidden[i].address, false };
	sample->hidden = live->hidden;
	if (call.block) {
		calls_finish_block(live, &call, sample);
		return true;
	}
	sample->callee = call.site == TRACE_RETURN ? call.entry : 0;
	sample->is_call = true;
	uint64_t n = sample->n_stands = call.n_stands ? call.n_stands : 1;
	sample->weight = call.wall * n;
	sample->function = call.function;
	sample->duration = call.whole_wall ? call.whole_wall : 1;
	uint64_t off_cpu = call.off_cpu < call.wall ? call.off_cpu : call.wall;
	sample->more[sample->n_more++] = off_cpu * n;
	sample->more[sample->n_more++] = (call.wall - off_cpu) * n;
	sample->more[sample->n_more++] = n;
	sample->more[sample->n_more++] = call.faults * n;
	for (uint32_t i = 0; i < live->n_counters; i++)
		sample->more[sample->n_more++] = call.counted[i] * n;
	sample->more[sample->n_more++] = call.arg * n;
	/* A negative result is an error. */
	sample->more[sample->n_more++] = live->adds_results && (int64_t)call.ret > 0 ? call.ret * n : 0;
	return true;
}
