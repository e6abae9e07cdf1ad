/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/builder.h"

#include <string.h>
#include <sys/resource.h>

#include "base/cleanup.h"
#include "profile/timeline.h"
#include "recording/growth.h"
#include "recording/tasks.h"

/* Bytes of command lines in one profile: programs choose their length. */
#define COMMANDS_MAX (16u << 20)
#define WAKERS_MAX 24 /* names of threads that end waits: each becomes a metric */

struct builder {
	struct profile *profile;
	struct images *images; /* borrowed */
	struct tasks tasks;
	struct timeline timeline;
	struct growth growth; /* of the profile's tree */
	struct growth_events events;
	struct builder_place last;
	struct map waker_of, holder_of; /* name -> metric */
	size_t max_bytes;               /* limit of the tree; 0 = none */
	size_t command_bytes;           /* of command lines in the profile */
	bool has_started;               /* run.start_ns is known */
	uint64_t last_ns;               /* of the latest event */
	const struct source_info *info; /* borrowed */
	struct unwinder_stats before;   /* of the profiles before this one */
	uint64_t cpu_before_ns;
	bool notes_writers;     /* of images */
	uint64_t image_changes; /* at the last update: see images_changes */
};

static void builder_add_metric(struct profile *profile, const char *name, const char *unit, uint32_t event)
{
	vec_push(&profile->metrics, (struct profile_metric){ .name = intern_add(&profile->strings, name),
							     .unit = intern_add(&profile->strings, unit),
							     .event = event });
}

static void builder_add_events(struct profile *profile, const struct source_info *info)
{
	builder_add_metric(profile, "samples", "count", UINT32_MAX);
	for (size_t i = 0; i < info->events.n; i++) {
		const struct source_event *event = &info->events.at[i];
		vec_push(&profile->events,
			 (struct profile_event){ .name = intern_add(&profile->strings, event->name),
						 .unit = intern_add(&profile->strings, event->unit),
						 .frequency = event->frequency,
						 .period = event->period,
						 .excludes_kernel = event->excludes_kernel });
		builder_add_metric(profile, event->name, event->unit, (uint32_t)i);
	}
}

static uint32_t builder_add_text(struct profile *profile, const char *text)
{
	return text ? intern_add(&profile->strings, text) : 0;
}

/* An empty profile for the events from now on. */
static void builder_begin(struct builder *builder, uint64_t start_ns)
{
	const struct source_info *info = builder->info;
	struct profile *profile = profile_new();

	builder->profile = profile;
	builder->command_bytes = 0;
	map_done(&builder->waker_of);
	map_done(&builder->holder_of);
	builder->growth.max_bytes = builder->max_bytes;
	growth_next(&builder->growth, &profile->cct);
	timeline_init(&builder->timeline);
	builder_add_events(profile, info);
	profile->run.tool_version = intern_add(&profile->strings, CPPROF_VERSION);
	profile->run.host = builder_add_text(profile, info->host);
	profile->run.kernel = builder_add_text(profile, info->kernel);
	profile->run.cpu = builder_add_text(profile, info->cpu);
	profile->run.cpu_id = builder_add_text(profile, info->cpu_id);
	profile->run.cycle_fs = info->cycle_fs;
	profile->run.arch = builder_add_text(profile, info->isa ? info->isa->name : NULL);
	profile->run.target = builder_add_text(profile, info->command);
	profile->run.start_unix_ns = info->start_unix_ns ? info->start_unix_ns + (start_ns - info->start_ns)
							 : 0; /* 0 = not known */
	profile->run.start_ns = builder->last_ns = start_ns;
	builder->has_started = start_ns != 0;
	if (info->is_machine)
		timeline_align(&builder->timeline, profile->run.start_unix_ns);
	profile->run.stack_size = info->stack_size;
	for (size_t i = 0; i < info->notes.n; i++)
		builder_note(builder, info->notes.at[i]);
	if (info->no_deep)
		builder_note(builder, info->no_deep);
}

struct builder *builder_new(struct images *images, const struct source_info *info, size_t max_bytes)
{
	struct builder *builder = alloc_zero(1, sizeof(*builder));

	builder->images = images;
	builder->info = info;
	builder->max_bytes = max_bytes;
	builder->events = growth_events_of(info);
	builder_begin(builder, info->start_ns);
	builder->tasks.profile = builder->profile;
	builder->tasks.is_lazy = info->is_machine;
	return builder;
}

void builder_free(struct builder *builder)
{
	if (!builder)
		return;
	tasks_done(&builder->tasks);
	timeline_done(&builder->timeline);
	growth_done(&builder->growth);
	map_done(&builder->waker_of);
	map_done(&builder->holder_of);
	profile_free(builder->profile);
	free(builder);
}

void builder_note_writers(struct builder *builder)
{
	builder->notes_writers = true;
}

void builder_allocators(struct builder *builder, const struct chosen *allocators, bool held)
{
	builder->events.allocators = allocators;
	builder->events.held = held;
}

void builder_reset(struct builder *builder)
{
	struct profile *profile = builder->profile;

	profile->quality = (struct profile_quality){ 0 };
	cct_clear_values(&profile->cct);
	timeline_done(&builder->timeline);
	timeline_init(&builder->timeline);
	growth_reset(&builder->growth);
}

void builder_hold(struct builder *builder, const uint64_t *numbers, size_t n)
{
	growth_hold(&builder->growth, numbers, n);
}

void builder_note(struct builder *builder, const char *text)
{
	struct profile *profile = builder->profile;
	uint32_t id = intern_add(&profile->strings, text);

	for (size_t i = 0; i < profile->notes.n; i++)
		if (profile->notes.at[i] == id)
			return;
	vec_push(&profile->notes, id);
}

bool builder_wants_command(struct builder *builder, pid_t pid, bool is_program)
{
	uint32_t process = tasks_process(&builder->tasks, pid);

	if (process == MAP_NONE || (builder->profile->processes.at[process].command_line && !is_program))
		return false;
	if (builder->command_bytes < COMMANDS_MAX)
		return true;
	builder_note(builder, "command lines of some processes are left out: together they are too long");
	builder->profile->processes.at[process].command_line = 0; /* that was another program */
	return false;
}

void builder_command(struct builder *builder, pid_t pid, const char *command_line)
{
	struct intern *strings = &builder->profile->strings;
	uint32_t process = tasks_process(&builder->tasks, pid);
	size_t n_before = strings->strings.n;

	if (process == MAP_NONE)
		return;
	builder->profile->processes.at[process].command_line = intern_add(strings, command_line);
	builder->command_bytes += strings->strings.n > n_before ? strlen(command_line) : 0;
}

void builder_user(struct builder *builder, pid_t pid, const struct user *user)
{
	tasks_user(&builder->tasks, pid, user->uid + 1, user->gid);
}

void builder_user_is_unknown(struct builder *builder, pid_t pid)
{
	tasks_user_is_unknown(&builder->tasks, pid);
}

/*
 * Time since the start, at least 1: an exit at 0 would read as "still running". Whatever existed before the
 * recording has time 0 and starts with it.
 */
static uint64_t builder_since_start(struct builder *builder, uint64_t time_ns)
{
	struct profile_run *run = &builder->profile->run;

	if (time_ns == 0)
		return 0;
	if (!builder->has_started) {
		builder->has_started = true;
		run->start_ns = time_ns;
	}
	if (time_ns > builder->last_ns)
		builder->last_ns = time_ns;
	return time_ns > run->start_ns ? time_ns - run->start_ns : 1;
}

void builder_event(struct builder *builder, const struct event *event)
{
	uint64_t time_ns = builder_since_start(builder, event->time_ns);
	struct profile_quality *quality = &builder->profile->quality;

	switch (event->kind) {
	case EVENT_SAMPLE: /* handled by builder_sample and builder_count */
		break;
	case EVENT_FORK:
		tasks_fork(&builder->tasks, event->pid, event->tid, event->fork.parent_pid,
			   event->fork.parent_tid, time_ns);
		break;
	case EVENT_EXEC: /* it has a new stack */
		growth_forget(&builder->growth, event->tid);
		if (event->comm)
			tasks_name(&builder->tasks, event->pid, event->tid, event->comm, time_ns);
		break;
	case EVENT_COMM:
		if (event->comm)
			tasks_name(&builder->tasks, event->pid, event->tid, event->comm, time_ns);
		break;
	case EVENT_EXIT:
		growth_forget(&builder->growth, event->tid);
		tasks_exit(&builder->tasks, event->pid, event->tid, time_ns);
		break;
	case EVENT_LOST:
		quality->lost += event->lost;
		break;
	case EVENT_THROTTLE:
		quality->throttled++;
		break;
	case EVENT_MAPPING:
	case EVENT_UNTHROTTLE:
	case EVENT_SWITCH:
	case EVENT_CODE: /* of use only when it happened */
		break;
	}
}

uint32_t builder_count(struct builder *builder, const struct event *event)
{
	struct profile_quality *quality = &builder->profile->quality;
	uint64_t time_ns = builder_since_start(builder, event->time_ns);
	uint32_t thread = tasks_thread(&builder->tasks, event->pid, event->tid, time_ns);

	timeline_add(&builder->timeline, thread, time_ns);
	quality->samples++;
	quality->unseen += event->sample.n_stands > 1 ? event->sample.n_stands - 1 : 0;
	quality->clipped += event->sample.stack_was_clipped;
	quality->outer += event->sample.n_deep > 0;
	return thread;
}

uint32_t builder_find(struct builder *builder, const struct event *event)
{
	return tasks_thread(&builder->tasks, event->pid, event->tid,
			    builder_since_start(builder, event->time_ns));
}

void builder_wait(struct builder *builder, const struct event *event)
{
	growth_add_wait(&builder->growth, event, builder_find(builder, event), &builder->events);
}

/* One metric per name: known has the existing ones. Of other names none is kept. */
static uint32_t builder_name_metric(struct builder *builder, struct map *known, const char *what, pid_t pid,
				    pid_t tid)
{
	struct profile *profile = builder->profile;
	uint32_t thread = tasks_find(&builder->tasks, pid, tid);

	if (thread == MAP_NONE)
		return 0;
	const char *comm = tasks_comm(&builder->tasks, thread);
	uint32_t id = intern_find(&profile->strings, comm);
	uint32_t metric = id == INTERN_NONE ? MAP_NONE : map_find(known, id);
	if (metric != MAP_NONE || known->n >= WAKERS_MAX)
		return metric != MAP_NONE ? metric : 0;

	CLEANUP(freep) char *name = alloc_printf("%s%s", what, comm);
	metric = (uint32_t)profile->metrics.n;
	builder_add_metric(profile, name, "ns", (uint32_t)profile->events.n);
	vec_push(&profile->events, ((struct profile_event){ .name = intern_add(&profile->strings, name),
							    .unit = intern_add(&profile->strings, "ns"),
							    .period = 1 }));
	map_put(known, intern_add(&profile->strings, comm), metric);
	return metric;
}

uint32_t builder_waker_metric(struct builder *builder, pid_t pid, pid_t tid)
{
	return builder_name_metric(builder, &builder->waker_of, WAKER_METRIC, pid, tid);
}

uint32_t builder_holder_metric(struct builder *builder, pid_t pid, pid_t tid)
{
	return builder_name_metric(builder, &builder->holder_of, HOLDER_METRIC, pid, tid);
}

void builder_waker(struct builder *builder, const struct event *event, const struct stack *stack)
{
	builder_since_start(builder, event->time_ns);
	growth_add_waker(&builder->growth, event, stack);
}

uint64_t builder_last_ns(const struct builder *builder)
{
	return builder->last_ns;
}

void builder_mark_told(struct builder *builder)
{
	cct_tell(&builder->profile->cct);
}

bool builder_has_exited(const struct builder *builder, uint32_t thread)
{
	return builder->profile->threads.at[thread].exit_ns != 0;
}

void builder_sample(struct builder *builder, const struct event *event, const struct stack *stack)
{
	uint32_t thread = builder_count(builder, event);
	uint32_t node = growth_add(&builder->growth, event, thread, &builder->events, stack);

	growth_keep_bound(&builder->growth, NULL);
	builder->last = (struct builder_place){ node, thread };
}

struct builder_place builder_last(const struct builder *builder)
{
	return builder->last;
}

/* The metrics of a call, in the source's order. */
void builder_count_calls(struct builder *builder, uint32_t node, uint32_t thread, uint64_t now,
			 const struct trace_sums *sums)
{
	uint64_t values[8 + TRACE_COUNTERS_MAX] = { sums->seen,    sums->wall,
						    sums->off_cpu, sums->wall - sums->off_cpu,
						    sums->calls,   sums->faults };
	uint32_t n = 6;
	struct cct *cct = &builder->profile->cct;
	struct profile_quality *quality = &builder->profile->quality;

	for (uint32_t i = 0; i < builder->info->n_counters && i < TRACE_COUNTERS_MAX; i++)
		values[n++] = sums->counted[i];
	values[n++] = sums->arg;
	values[n++] = sums->ret;
	for (uint32_t i = 0; i < n && i <= builder->events.n; i++)
		if (values[i])
			cct_add_value(cct, node, thread, i, values[i]);
	cct_add_value(cct, node, thread, CCT_DURATION_LEAST, sums->least);
	cct_add_value(cct, node, thread, CCT_DURATION_MOST, sums->most);
	cct_add_value(cct, node, thread, CCT_DURATION_SUM, sums->duration);
	quality->samples += sums->seen;
	quality->unseen += sums->calls - sums->seen;
	builder->growth.by_end[STACK_COMPLETE] += sums->seen;
	timeline_add_many(&builder->timeline, thread, builder_since_start(builder, now), sums->seen);
}

void builder_count_class(struct builder *builder, uint32_t node, uint32_t thread, uint32_t class, uint64_t n)
{
	cct_add_value(&builder->profile->cct, node, thread, CCT_DURATION_CLASS + class, n);
}

/* Images are only added, so the ones we have come first; if ids have got another meaning, all are new. */
static void builder_update_images(struct profile *profile, const struct images *images, bool notes_writers,
				  uint64_t *changes)
{
	if (*changes != images_changes(images))
		vec_clear(&profile->images);
	*changes = images_changes(images);
	for (size_t i = profile->images.n; i < images_count(images); i++) {
		const struct image *image = images_peek(images, (image_id)i);
		vec_push(&profile->images,
			 (struct profile_image){
				 .path = intern_add(&profile->strings, image->path ? image->path : ""),
				 .kind = image->kind,
				 .elf_machine = image->elf_machine,
				 .build_id = image->build_id,
				 .pid = image->pid,
				 .writer = notes_writers ? image->writer : 0 });
	}
}

/* For live recordings only: what it costs to read a recording again is not part of it, and two imports give
 * the same bytes. */
static void builder_update_cost(const struct builder *builder, struct profile_quality *quality)
{
	struct rusage usage;

	quality->locked_kb = builder->info->locked_kb;
	quality->raised_by = builder->info->raised_by;
	if (!quality->locked_kb || getrusage(RUSAGE_SELF, &usage) < 0)
		return;
	quality->own_cpu_ns = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000 +
			      (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
	quality->own_cpu_ns -= builder->cpu_before_ns;
	quality->own_peak_kb = (uint64_t)usage.ru_maxrss;
}

struct profile *builder_profile(struct builder *builder, const struct unwinder_stats *stats)
{
	struct profile *profile = builder->profile;

	growth_settle(&builder->growth);
	tasks_settle(&builder->tasks);
	builder_update_images(profile, builder->images, builder->notes_writers, &builder->image_changes);
	builder_update_cost(builder, &profile->quality);
	if (builder->has_started)
		profile->run.duration_ns = builder->last_ns - profile->run.start_ns;
	memcpy(profile->quality.by_end, builder->growth.by_end, sizeof(profile->quality.by_end));
	profile->quality.folded_contexts = builder->growth.n_folded;
	for (size_t i = 0; stats && i < WITNESS_N; i++)
		profile->quality.steps_by_witness[i] =
			stats->steps_by_witness[i] - builder->before.steps_by_witness[i];
	timeline_copy(&builder->timeline, profile);
	return profile;
}

struct profile *builder_next(struct builder *builder, const struct unwinder_stats *stats, uint64_t now_ns)
{
	struct profile *done = builder_profile(builder, stats);

	builder->before = *stats;
	builder->cpu_before_ns += done->quality.own_cpu_ns;
	timeline_done(&builder->timeline);
	uint64_t later_ns = now_ns - done->run.start_ns;
	builder_begin(builder, now_ns);
	tasks_restart(&builder->tasks, builder->profile, later_ns);
	return done;
}

struct profile *builder_finish(struct builder *builder, const struct unwinder_stats *stats)
{
	struct profile *profile = builder_profile(builder, stats);

	builder->profile = NULL;
	return profile;
}
