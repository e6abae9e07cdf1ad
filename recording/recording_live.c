/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recording_live: what is specific to a recording of live processes: it writes checkpoints, looks up names
 * ahead of time, and keeps the raw records.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fresh_file.h"
#include "base/process_start.h"
#include "collector/bpf/uprobe.h"
#include "collector/process/envoy.h"
#include "profile/resolve_process.h"
#include "recording/recording_private.h"

/* An export gets the default name with its own suffix. */
static const char *recording_output_template(const struct recording_options *options, char *name, size_t size)
{
	if (options->output || !options->format)
		return options->output;
	const char *suffix = options->format->suffixes;
	snprintf(name, size, "cpprof%.*s", (int)strcspn(suffix, " "), suffix);
	return name;
}

int recording_live_check(const struct recording_options *options, struct diag *diag)
{
	char name[64];
	int error = output_check(recording_output_template(options, name, sizeof(name)), "-o", diag);

	if (!error && options->raw)
		error = output_check(options->raw, "--raw", diag);
	if (!error && options->watch)
		error = live_check(options->watch, diag);
	return error;
}

/* ---- beginning ------------------------------------------------------------------------------ */

static int recording_open_raw(struct recording *r, struct diag *diag)
{
	if (!r->options.raw)
		return 0;

	int fd = fresh_file_overwrite(r->options.raw, O_RDWR, diag);
	return fd < 0 ? fd : perf_source_raw_open(r->source, fd, r->options.raw, diag);
}

static ssize_t recording_read_memory(void *context, pid_t tid, uint64_t addr, void *to, size_t len)
{
	struct source *source = context;

	return source->ops->read_memory(source, tid, addr, to, len);
}

static void recording_write_code(void *context, const struct event *event)
{
	perf_source_raw_event(context, event);
}

/* What the walk of one sample's stack tells about the next ones. */
static void recording_tell_source(void *context, const struct event *event, const struct stack_use *use)
{
	struct source *source = context;

	struct perf_stack_use memory = { .reach = use->reach,
					 .elsewhere = use->elsewhere,
					 .is_cut_off = use->end == STACK_SNAPSHOT_ENDED,
					 .has_jit = use->has_jit };
	perf_source_stack_used(source, event, &memory);
	if (use->end == STACK_NO_IMAGE || use->end == STACK_INVALID_STEP)
		perf_source_look_again(source, event->pid);
}

/* The kernel can count calls on paths that it knows. */
static bool recording_learns(const struct recording *r)
{
	const struct perf_source_options *target = &r->options.target;

	return target->is_traced && !target->every && !target->counts;
}

static void recording_learn(void *context, const struct event *event, struct builder_place place,
			    const struct depend *depend)
{
	known_paths_learn(context, event, place.node, place.thread, depend);
}

static void recording_start_workers(struct recording *r)
{
	struct code_log_options log = { .read = recording_read_memory,
					.read_context = r->source,
					.write = r->options.raw ? recording_write_code : NULL,
					.write_context = r->source };

	r->code = code_log_new(&log);
	/* Only this thread knows which functions are traced. */
	struct workers_options options = {
		.n_workers = r->options.target.is_traced ? 1 : r->options.n_workers,
		/* And its nodes must keep their numbers. */
		.max_memory = r->options.target.is_traced ? 0 : recording_max_memory(&r->options),
		.notes_writers = r->options.epoch_ns > 0,
		.unwinding = { .mode = r->options.unwind,
			       .store = r->names.symbolize.store,
			       .patience = recording_patience(&r->options) },
		.code = { code_log_read, r->code },
		.walked = recording_tell_source,
		.walked_context = r->source
	};
	bool learns = recording_learns(r);
	options.unwinding.notes_words = learns;
	options.placed = learns ? recording_learn : NULL;
	options.placed_context = &r->known;
	known_paths_init(&r->known, learns ? perf_source_probe(r->source) : NULL, r->source->info.isa);
	r->workers = workers_new(r->images, &r->source->info, &options);
	if (r->options.target.every)
		builder_allocators(workers_builder(r->workers), &r->trace.chosen, r->options.target.held);
}

static void recording_start_machine(struct recording *r)
{
	const struct perf_source_options *target = &r->options.target;
	struct machine_options options = { .rules = r->options.rules,
					   .splits = !target->is_tree,
					   .is_live = true,
					   .tree = target->is_tree ? perf_source_child(r->source) : 0 };

	if (!target->is_machine)
		return;
	r->machine = machine_new(&options);
	if (options.splits && !target->all_user && !machine_sees_interrupts(r->machine))
		source_info_note(&r->source->info, "the kernel hides the addresses of its functions: time in "
						   "interrupts is shown in the interrupted threads");
}

static void recording_plan(struct recording *r)
{
	const struct recording_options *o = &r->options;
	pid_t child = perf_source_child(r->source);
	char name[64];

	output_init(&r->output, recording_output_template(o, name, sizeof(name)),
		    child              ? child
		    : o->target.n_pids ? o->target.pids[0]
		    : o->target.n_tids ? o->target.tids[0]
				       : getpid());
	r->output.mode = o->mode_bits;
	r->start_ns = r->source->info.start_ns;
	budget_init(&r->budget, o->max_overhead, r->start_ns);
	if (o->duration_ns)
		r->end_ns = r->start_ns + o->target.delay_ns + o->duration_ns;
	bool checkpoints = !output_is_stream(&r->output) && !o->format;
	checkpoint_init(&r->checkpoint, checkpoints ? o->checkpoint_ns : 0, r->start_ns);
	live_init(&r->live, o->stream_ns, o->watch, o->watch_ns, r->start_ns);
	r->live.mode = o->mode_bits;
	if (o->refresh_ns) {
		r->live.exporter = &exporter_screen;
		r->live.is_whole = true;
		r->live.interval_ns = o->refresh_ns;
		r->live.next_ns = r->start_ns + o->refresh_ns;
	}
	r->live.labels = o->labels;
	r->live.n_labels = o->n_labels;
	prefetch_init(&r->prefetch, (o->resolves || o->format) && r->names.symbolize.store, r->start_ns);
}

/* Its first calls must not be missed: the probes in its own file are set before it starts. */
static void recording_trace_command(void *context, struct source *source, pid_t pid)
{
	struct recording *r = context;
	char path[PATH_MAX];

	if (target_find_command(r->options.target.argv[0], path))
		trace_file(&r->trace, r->images, source, pid, path);
}

void recording_init_trace(struct recording *r)
{
	const struct recording_options *o = &r->options;
	bool asks_cost = o->max_overhead > 0 || o->target.counts;

	if (!o->target.every) {
		trace_init(&r->trace, o->functions, o->n_functions, o->target.exits);
		r->trace.counts = o->target.counts;
		r->trace.stepped_ns = o->n_functions && asks_cost ? uprobe_stepped_ns() : 0;
		return;
	}
	allocators_init(&r->allocators, o->functions, o->n_functions);
	trace_init(&r->trace, r->allocators.patterns.at, r->allocators.patterns.n, false);
	r->trace.grants = r->allocators.grants.at;
	r->trace.held = o->target.held;
	r->trace.n_named = o->n_functions;
	r->trace.stepped_ns = asks_cost ? uprobe_stepped_ns() : 0;
}

int recording_live_open(struct recording *r, struct diag *diag)
{
	const struct recording_options *o = &r->options;
	struct diag late = { 0 };

	struct perf_source_options target = o->target;

	target.asks_soon = !o->keeps_no_commands || machine_rules_ask(&o->rules);
	recording_init_trace(r);
	if (target.is_traced) {
		target.before_start = recording_trace_command;
		target.before_context = r;
	}
	int error = recording_live_check(o, diag);
	if (!error)
		error = perf_source_open(r->images, &target, &r->source, diag);
	if (error)
		return error;
	r->names = o->names;
	/* A process in another mount namespace has its debug files there as well. */
	if (o->target.n_pids) {
		snprintf(r->target_root, sizeof(r->target_root), "/proc/%d/root", (int)o->target.pids[0]);
		r->names.symbolize.search.target_root = r->target_root;
		process_guard_root(o->target.pids[0], process_start(o->target.pids[0]));
	}
	if (recording_open_raw(r, &late) < 0) /* the command is running: its profile can still be made */
		recording_fault(r, RECORDING_RAW, &late);
	if (r->source->info.start_unix_ns < o->not_before_unix_ns)
		r->source->info.start_unix_ns = o->not_before_unix_ns;
	recording_start_machine(r);
	for (size_t i = 0; i < r->source->info.notes.n; i++)
		recording_note(r, r->source->info.notes.at[i]);
	recording_start_workers(r);
	recording_plan(r);
	return 0;
}

/* ---- meanwhile ------------------------------------------------------------------------------ */

static void recording_tell_trace(struct recording *r)
{
	const char *note;

	while ((note = trace_next_note(&r->trace))) {
		recording_note(r, note);
		builder_note(workers_builder(r->workers), note);
	}
}

static void recording_trace(struct recording *r, const struct event *event)
{
	trace_event(&r->trace, r->images, r->source, event);
	/* There may be different code now; a tid may belong to another thread. */
	if ((event->kind == EVENT_MAPPING && event->mapping.is_executable) || event->kind == EVENT_EXEC ||
	    event->kind == EVENT_EXIT)
		known_paths_forget(&r->known);
	recording_tell_trace(r);
}

static void recording_ask_command(struct recording *r, const struct event *event)
{
	struct builder *builder = workers_builder(r->workers);
	bool is_program = event->kind == EVENT_EXEC && event->comm;
	bool is_first = event->kind == EVENT_COMM && event->pid == event->tid;

	if (r->options.keeps_no_commands || !(is_program || is_first) ||
	    !builder_wants_command(builder, event->pid, is_program))
		return;
	CLEANUP(freep) char *line = envoy_command_line(event->pid);
	if (line[0])
		builder_command(builder, event->pid, line);
}

void recording_live_event(struct recording *r, const struct event *event)
{
	code_log_write(r->code);
	if (r->options.target.is_traced)
		recording_trace(r, event);
	recording_ask_command(r, event);
	recording_ask_user(r, event);
}

void recording_live_describe(struct recording *r, struct profile *profile)
{
	profile->run.mode = intern_add(&profile->strings, r->options.mode);
	profile->run.command_line = intern_add(&profile->strings, r->options.command_line);
	profile->run.n_cpus = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
	profile->run.duration_ns = (r->stopped_ns ? r->stopped_ns : clock_now_ns()) - r->start_ns;
	if (profile->quality.own_cpu_ns >= r->options.cpu_before_ns)
		profile->quality.own_cpu_ns -= r->options.cpu_before_ns;
	profile->quality.wakeups = perf_source_stats(r->source).wakeups - r->wakeups_before;
	for (size_t i = 0; i < profile->processes.n; i++)
		profile->processes.at[i].rank = r->options.rank;
}

/* While it is in use the workers are idle, until the next event. */
static struct profile *recording_so_far(struct recording *r)
{
	known_paths_fetch(&r->known, workers_builder(r->workers), clock_now_ns());
	struct profile *profile = workers_profile(r->workers);

	recording_live_describe(r, profile);
	return profile;
}

/* With what was counted until now, which live export does not report: it reports differences. */
static void recording_checkpoint(struct recording *r, uint64_t now)
{
	struct profile *profile = recording_so_far(r);

	recording_account(r, profile, 0);
	checkpoint_write(&r->checkpoint, &r->output, profile, r->workers, now);
	profile->quality.counted = profile->quality.idle = profile->quality.others = 0;
}

static void recording_tell_live_fault(struct recording *r)
{
	struct diag diag;

	if (!live_fault(&r->live, &diag))
		return;
	if (!r->live.path && diag.error == -EPIPE) /* the reader of the stream has seen enough */
		r->has_no_reader = true;
	else
		recording_fault(r, RECORDING_LIVE, &diag);
}

void recording_live_tick(struct recording *r, uint64_t now)
{
	recording_tell_live_fault(r);
	/* By the first reading of the clock, everything that was mapped when we attached has been examined.
	 */
	if (r->options.target.is_traced && !r->options.target.argv && !r->has_told_missing) {
		char text[64];
		r->has_told_missing = true;
		snprintf(text, sizeof(text), "%s %zu function%s%s",
			 r->options.target.counts ? "counting calls of" : "tracing",
			 r->trace.chosen.functions.n, r->trace.chosen.functions.n == 1 ? "" : "s",
			 r->options.target.counts ? "" : "; Ctrl-C ends and writes");
		r->has_nothing = r->options.target.every && !r->trace.chosen.functions.n;
		if (!r->has_nothing)
			recording_note(r, text);
		trace_note_missing(&r->trace, r->images, &r->names.symbolize);
		recording_tell_trace(r);
	}
	if (r->options.target.is_traced && !r->is_stopped) {
		budget_tick(&r->budget, &r->trace, perf_source_probe(r->source), now);
		recording_tell_trace(r);
	}
	if (live_is_due(&r->live, now)) {
		recording_tell_live_fault(r);
		struct live_input input = { recording_so_far(r), r->images, &r->names, r->workers };
		live_write(&r->live, &input, now);
	}
	if (checkpoint_is_due(&r->checkpoint, now))
		recording_checkpoint(r, now);
	recording_epoch_tidy(r, now);
	if (prefetch_is_due(&r->prefetch, now))
		prefetch_start(&r->prefetch, workers_profile(r->workers), r->images, &r->names, r->workers);
}

/* The builder is finished: anything left to note goes into the profile itself. */
static void recording_conclude_trace(struct recording *r, struct profile *profile)
{
	if (r->options.target.argv)
		trace_note_missing(&r->trace, r->images, &r->names.symbolize);
	trace_note_calls(&r->trace, r->source);
	budget_note_error(&r->budget, &r->trace);
	for (const char *note; (note = trace_next_note(&r->trace));) {
		recording_note(r, note);
		vec_push(&profile->notes, intern_add(&profile->strings, note));
	}
}

void recording_live_hold(struct recording *r)
{
	CLEANUP(freep) uint64_t *numbers = NULL;
	size_t n = 0;

	known_paths_fetch(&r->known, workers_builder(r->workers),
			  r->stopped_ns ? r->stopped_ns : clock_now_ns());
	if (r->options.target.held)
		n = perf_source_blocks(r->source, &numbers);
	builder_hold(workers_builder(r->workers), numbers, n);
}

/* Events that had to share counters: scales what was counted of each to the whole time. */
static void recording_scale_events(struct recording *r, struct profile *profile)
{
	for (uint32_t i = 0; i < r->source->info.events.n; i++) {
		double share = recording_running(r, i);
		if (share == 1)
			continue;
		cct_scale(&profile->cct, 1 + i, 1 / share);
		CLEANUP(freep)
		char *note = alloc_printf(
			"%s was counted in %.0f %% of the time, because the processor has too few "
			"counters for all events: its values are scaled by %.2f",
			r->source->info.events.at[i].name, 100 * share, 1 / share);
		vec_push(&profile->notes, intern_add(&profile->strings, note));
	}
}

void recording_live_note_silent(const struct recording *r, struct profile *profile)
{
	size_t n = perf_source_stats(r->source).n_silent;

	if (!n)
		return;
	CLEANUP(freep)
	char *note = alloc_printf(
		"a process of %s did not let itself be read in time: code that processes of %s "
		"generate, and files that they had mapped before, may be missing",
		n == 1 ? "another user" : "each of several users", n == 1 ? "that user" : "these users");
	vec_push(&profile->notes, intern_add(&profile->strings, note));
}

void recording_live_finish(struct recording *r, struct profile *profile)
{
	recording_scale_events(r, profile);
	recording_live_note_silent(r, profile);
	if (r->options.target.is_traced)
		recording_conclude_trace(r, profile);
	code_log_write(r->code); /* from the last samples, whose stacks were still being walked */
	recording_live_describe(r, profile);
	recording_account(r, profile, 0);
	if (r->options.target.n_pids && !resolve_process(profile, r->options.target.pids[0]).start)
		r->names.symbolize.search.target_root = NULL; /* if its pid has a root, it is another's */
	checkpoint_finish(&r->checkpoint); /* otherwise it would replace what is written now */
}

void recording_live_write_to(struct recording *r, const char *path)
{
	free(r->output.path);
	r->output.path = alloc_text(path ? path : "");
	r->output.has_written = false;
	r->wakeups_before = perf_source_stats(r->source).wakeups;
	checkpoint_init(&r->checkpoint, path ? r->options.checkpoint_ns : 0, clock_now_ns());
}

/*
 * The events' clock stands still while the machine sleeps: then the wall clock is ahead. If the wall clock is
 * set back, we do not follow: nothing is recorded twice.
 */
uint64_t recording_live_clock_gap(const struct recording *r)
{
	const struct source_info *info = &r->source->info;
	struct timespec wall;

	clock_gettime(CLOCK_REALTIME, &wall);
	uint64_t now = (uint64_t)wall.tv_sec * CLOCK_NS_PER_S + (uint64_t)wall.tv_nsec;
	uint64_t supposed = info->start_unix_ns + (clock_now_ns() - info->start_ns);
	return now > supposed + CLOCK_NS_PER_S ? now - supposed : 0;
}

void recording_live_set_clock(struct recording *r)
{
	r->source->info.start_unix_ns += recording_live_clock_gap(r);
}

void recording_live_last(struct recording *r, struct profile *profile)
{
	struct live_input input = { profile, r->images, &r->names, r->workers };

	live_wait(&r->live);
	recording_tell_live_fault(r);
	live_finish(&r->live, &input, clock_now_ns());
	recording_tell_live_fault(r);
}
