/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source: what all sources share.
 */
#include "collector/source.h"

#include <string.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"

int source_next(struct source *source, struct event *ret, int timeout_ms, struct diag *diag)
{
	source->next = (struct sample_place){ 0 };
	return source->ops->next(source, ret, timeout_ms, diag);
}

int source_each(struct source *source, void (*take)(void *context, const struct event *event), void *context,
		struct diag *diag)
{
	struct event event;
	int status;

	while ((status = source_next(source, &event, -1, diag)) > 0)
		take(context, &event);
	return status;
}

void source_close(struct source *source)
{
	if (source)
		source->ops->close(source);
}

void source_info_note(struct source_info *info, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	vec_push(&info->notes, alloc_text(text));
}

void source_info_done(struct source_info *info)
{
	vec_done(&info->events);
	free(info->host);
	free(info->kernel);
	free(info->cpu);
	free(info->cpu_id);
	free(info->command);
	free(info->no_deep);
	free(info->bpf_log);
	for (size_t i = 0; i < info->notes.n; i++)
		free(info->notes.at[i]);
	vec_done(&info->notes);
	*info = (struct source_info){ 0 };
}

uint32_t source_info_find(const struct source_info *info, enum source_values values)
{
	for (uint32_t i = 0; i < info->events.n; i++)
		if (info->events.at[i].values == values)
			return i;
	return UINT32_MAX;
}

bool source_event_counts_all(const struct source_info *info, uint32_t event)
{
	if (event >= info->events.n || info->events.at[event].values != SOURCE_WEIGHTS)
		return false;
	return strcmp(info->events.at[event].unit, "ns") != 0 || !info->events.at[event].excludes_kernel;
}

static void source_info_add_event(struct source_info *info, enum source_values values, const char *name,
				  const char *unit)
{
	struct source_event event = { .values = values, .period = 1 };

	snprintf(event.name, sizeof(event.name), "%s%s", info->has_near_waits ? "approximate-" : "", name);
	snprintf(event.unit, sizeof(event.unit), "%s", unit);
	vec_push(&info->events, event);
}

void source_info_add_waits(struct source_info *info)
{
	bool has_clock = false;

	for (size_t i = 0; i < info->events.n; i++)
		has_clock |= info->events.at[i].values == SOURCE_WEIGHTS &&
			     strcmp(info->events.at[i].unit, "ns") == 0;
	if (info->has_near_waits)
		source_info_add_event(info, SOURCE_OFF_CPU, "off-cpu", "ns");
	source_info_add_event(info, SOURCE_WAITS, "waits", "count");
	if (info->has_timed_waits)
		source_info_add_event(info, SOURCE_RUNNABLE, "runnable", "ns");
	if (info->has_timed_waits || info->has_sampled_waits)
		source_info_add_event(info, SOURCE_SAMPLED_WAITS, "sampled-waits", "count");
	if (info->has_run_delays && !info->has_timed_waits)
		source_info_add_event(info, SOURCE_RUNNABLE, "kept-from-running", "ns");
	if (has_clock)
		source_info_add_event(info, SOURCE_WALL, "wall", "ns");
}
