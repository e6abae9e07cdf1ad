/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recording: one loop. It checks between events whether to end, so that nothing is interrupted halfway.
 */
#include "recording/recording.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "recording/export_file.h"
#include "recording/recording_private.h"
#include "recording/result.h"
#include "report/annotate/source_user.h"

#define TICK_MS 500                    /* how often the clock is read when nothing happens */
#define TICK_EVENTS 256                /* between two readings of the clock when events keep coming */
#define LOOK_EVENTS 8                  /* between two checks whether the time is up */
#define SLOW_NS (10 * CLOCK_NS_PER_MS) /* between two such checks: then each event is followed by one */
#define BUSY_TICK_NS (50 * CLOCK_NS_PER_MS)
#define LAST_LOOK_NS CLOCK_NS_PER_MS /* between two looks at workers that are still busy at the end */
#define PROGRESS_NS CLOCK_NS_PER_S
#define LATE_NS CLOCK_NS_PER_S  /* events are handed out some time after they happened */
#define MEMORY_MAX (1ull << 30) /* of the tree, unless more is asked for: about ten million contexts */
#define DAEMON_PATIENCE 32      /* samples in a function before its code is analysed */
#define MEMORY_MIN (1ull << 20) /* about ten thousand */

uint64_t recording_max_memory(const struct recording_options *options)
{
	uint64_t quarter = (uint64_t)sysconf(_SC_PHYS_PAGES) / 4 * (uint64_t)sysconf(_SC_PAGESIZE);

	if (options->max_memory)
		return options->max_memory > MEMORY_MIN ? options->max_memory : MEMORY_MIN;
	return quarter < MEMORY_MAX ? quarter : MEMORY_MAX;
}

/* A daemon sees the code of a whole machine. */
unsigned recording_patience(const struct recording_options *options)
{
	return options->epoch_ns ? DAEMON_PATIENCE : 0;
}

void recording_note(struct recording *r, const char *text)
{
	if (r->options.listener.note)
		r->options.listener.note(r->options.listener.context, text);
}

void recording_fault(struct recording *r, enum recording_part part, const struct diag *diag)
{
	if (r->options.listener.fault)
		r->options.listener.fault(r->options.listener.context, part, diag);
}

static bool recording_is_live(const struct recording *r)
{
	return !r->options.file;
}

/* ---- the loop ------------------------------------------------------------------------------- */

static void recording_event(struct recording *r, const struct event *given)
{
	struct event room;
	const struct event *event = r->machine ? machine_event(r->machine, given, &room) : given;

	if (given->time_ns >= r->epoch_end_ns && r->epoch_end_ns)
		recording_epoch_tick(r, given->time_ns);
	if (!event || (event->kind == EVENT_SAMPLE && event->time_ns < r->reset_ns))
		return;
	workers_expect(r->workers, r->source->next);
	workers_event(r->workers, event);
	if (recording_is_live(r))
		recording_live_event(r, event);
	else
		recording_file_event(r, event);
}

static void recording_tell_progress(struct recording *r, uint64_t now)
{
	const struct recording_listener *listener = &r->options.listener;

	if (!listener->progress || now < (r->progress_ns ? r->progress_ns : r->start_ns) + PROGRESS_NS)
		return;
	struct profile_quality quality = workers_quality(r->workers);
	listener->progress(listener->context, now - r->start_ns, &quality);
	r->progress_ns = now;
}

static bool recording_is_over(const struct recording *r, uint64_t now)
{
	const struct recording_listener *listener = &r->options.listener;

	return (listener->is_over && listener->is_over(listener->context)) ||
	       (r->end_ns && now >= r->end_ns) || r->has_no_reader || r->has_nothing;
}

/* Until the next reading of the clock, or until something is due earlier. What is overdue waits for a child
 * that is still working: it does not count. */
static int recording_wait_ms(const struct recording *r, uint64_t now)
{
	const uint64_t due[] = { r->end_ns, r->live.next_ns, r->checkpoint.next_ns, r->prefetch.next_ns,
				 budget_due(&r->budget) };
	uint64_t next = now + TICK_MS * CLOCK_NS_PER_MS;

	for (size_t i = 0; i < ARRAY_LEN(due); i++)
		if (due[i] > now && due[i] < next)
			next = due[i];
	return (int)((next - now + CLOCK_NS_PER_MS - 1) / CLOCK_NS_PER_MS);
}

static void recording_look_for_haste(struct recording *r)
{
	const struct recording_listener *listener = &r->options.listener;

	if (r->is_hurried || !listener->is_urgent || !listener->is_urgent(listener->context))
		return;
	r->is_hurried = true;
	workers_hurry(r->workers);
}

static void recording_tick(struct recording *r)
{
	uint64_t now = clock_now_ns();

	r->tick_ns = now;
	if (r->is_stopped) {
		recording_look_for_haste(r);
	} else if (recording_is_over(r, now)) {
		r->is_stopped = true;
		r->stopped_ns = now;
		if (recording_is_live(r))
			perf_source_stop(r->source);
	}
	recording_tell_progress(r, now);
	recording_epoch_follow_clock(r, now);
	if (recording_is_live(r) && r->epoch_end_ns && now >= r->epoch_end_ns + LATE_NS)
		recording_epoch_tick(r, now - LATE_NS);
	if (r->options.listener.between && !r->is_stopped)
		r->options.listener.between(r->options.listener.context, r);
	if (recording_is_live(r))
		recording_live_tick(r, now);
	r->wait_ms = recording_wait_ms(r, now);
}

/* Workers get what is held back for them before we wait: code that is in no file may not exist for long. */
static int recording_next(struct recording *r, struct event *ret, struct diag *diag)
{
	if (workers_is_holding(r->workers)) {
		int got = source_next(r->source, ret, 0, diag);
		if (got != -EAGAIN)
			return got;
		workers_flush(r->workers);
	}
	return source_next(r->source, ret, r->wait_ms, diag);
}

/* Events that keep coming do not delay the end, and neither does code that takes long to analyse. */
static bool recording_is_due(struct recording *r, unsigned n)
{
	if (!r->is_slow && n % LOOK_EVENTS)
		return false;
	uint64_t now = clock_now_ns();
	r->is_slow = now >= r->look_ns + SLOW_NS;
	r->look_ns = now;
	return now >= r->tick_ns + BUSY_TICK_NS || (r->end_ns && !r->is_stopped && now >= r->end_ns);
}

/* A live source can be read after it was stopped: its rings still hold samples. */
static int recording_loop(struct recording *r, struct diag *diag)
{
	struct event event;
	unsigned n = 0;

	while (recording_is_live(r) || !r->is_stopped) {
		int got = recording_next(r, &event, diag);
		if (got == 0)
			return 0;
		if (got < 0 && got != -EAGAIN)
			return got;
		if (got > 0)
			recording_event(r, &event);
		if (got < 0 || ++n % TICK_EVENTS == 0 || recording_is_due(r, n))
			recording_tick(r);
	}
	return 0;
}

static int recording_refuse_allocations(struct diag *diag)
{
	diag_set(diag, -ENOENT, "no allocation function was found");
	diag_why(diag, "in a static program without symbols, allocation functions cannot be identified");
	diag_hint(diag, "name them: --alloc-function FILE+0xVADDR");
	return -ENOENT;
}

int recording_run(struct recording *r, struct diag *diag)
{
	int error = recording_loop(r, diag);

	if (!error && r->options.target.every && !r->trace.chosen.functions.n)
		error = recording_refuse_allocations(diag);
	if (!recording_is_live(r))
		recording_file_notes(r);
	return error;
}

/* ---- beginning and end ---------------------------------------------------------------------- */

/* Kernel threads and interrupts. */
static void recording_name_machine(struct recording *r)
{
	struct event event;

	for (unsigned i = 0; r->machine && machine_name(r->machine, i, &event); i++)
		workers_event(r->workers, &event);
}

static void recording_closep(struct recording **r)
{
	recording_close(*r);
}

int recording_open(const struct recording_options *options, struct recording **ret, struct diag *diag)
{
	CLEANUP(recording_closep) struct recording *r = alloc_zero(1, sizeof(*r));

	r->options = *options;
	r->images = images_new();
	int error = recording_is_live(r) ? recording_live_open(r, diag) : recording_file_open(r, diag);
	if (error)
		return error;
	r->names = result_names(&r->names, r->workers);
	recording_name_machine(r);
	recording_epoch_plan(r, r->source->info.start_ns);
	*ret = TAKE(r);
	return 0;
}

/* --format: the export alone. */
static int recording_export(struct recording *r, struct diag *diag)
{
	const struct exporter *exporter = r->options.format;
	CLEANUP(text_done) struct text folded = { 0 };
	struct export_choice choice = export_choose(exporter, r->profile);
	struct source_search sources = { 0 };

	source_user_limit(&sources, r->profile, r->options.file);
	choice.options.sources = &sources;
	choice.mode = r->options.mode_bits;
	choice.options.labels = r->options.labels;
	choice.options.n_labels = r->options.n_labels;
	int error = export_file(exporter, r->profile, &choice, r->output.path, &folded, diag);
	if (!error && folded.len)
		recording_note(r, folded.at);
	return error;
}

/*
 * A recording cannot be repeated, while looking up names takes time and reads files of any size. So the
 * profile is first written without names: to its file or, where that is not for a profile or can be written
 * only once, to a temporary one.
 */
static int recording_keep(struct recording *r, bool is_stream, char **ret_elsewhere, struct diag *diag)
{
	if (!r->options.format && !is_stream)
		return output_write(&r->output, r->profile, diag);
	if (recording_is_live(r)) /* a file can be read again */
		*ret_elsewhere = output_keep(r->profile);
	return 0;
}

static int recording_add_names(struct recording *r, struct diag *diag)
{
	if (recording_is_live(r))
		recording_live_last(r, r->profile);
	return r->options.format || r->options.resolves
		       ? result_resolve(r->workers, r->profile, r->images, &r->names, diag)
		       : 0;
}

static int recording_write_last(struct recording *r, bool is_stream, struct diag *diag)
{
	if (r->options.format)
		return recording_export(r, diag);
	return is_stream || r->options.resolves ? output_write(&r->output, r->profile, diag) : 0;
}

static int recording_write(struct recording *r, struct diag *diag)
{
	const struct recording_listener *listener = &r->options.listener;
	CLEANUP(freep) char *elsewhere = NULL;
	bool is_stream = output_is_stream(&r->output);
	int error = recording_keep(r, is_stream, &elsewhere, diag);
	const char *kept = elsewhere ? elsewhere : r->output.has_written ? r->output.path : NULL;

	if (recording_is_live(r)) /* before names are looked up: it needs none */
		r->raw_error = perf_source_raw_close(r->source, r->options.command_line, &r->raw_diag);
	bool is_watched = !error && kept && listener->saved && listener->named;
	if (is_watched)
		listener->saved(listener->context, kept);
	if (!error)
		error = recording_add_names(r, diag);
	if (!error && is_stream) /* the process may still be ended: this may wait for a reader */
		error = recording_write_last(r, is_stream, diag);
	if (is_watched)
		listener->named(listener->context);
	if (!error && !is_stream)
		error = recording_write_last(r, is_stream, diag);
	if (elsewhere)
		unlink(elsewhere);
	return error;
}

/* Workers may still have much to do. */
static void recording_await_workers(struct recording *r)
{
	workers_flush(r->workers);
	while (!workers_are_idle(r->workers)) {
		recording_look_for_haste(r);
		nanosleep(&(struct timespec){ .tv_nsec = LAST_LOOK_NS }, NULL);
	}
}

int recording_finish(struct recording *r, struct diag *diag)
{
	prefetch_end(&r->prefetch);
	recording_await_workers(r);
	workers_cut_waits(r->workers, r->stopped_ns);
	if (recording_is_live(r))
		recording_live_hold(r);
	r->profile = workers_finish(r->workers);
	r->profile->run.mode = intern_add(&r->profile->strings, r->options.mode);
	r->profile->run.command_line = intern_add(&r->profile->strings, r->options.command_line);
	if (recording_is_live(r)) {
		recording_live_finish(r, r->profile);
	} else {
		output_init(&r->output, r->options.output, r->first_pid);
		r->output.mode = r->options.mode_bits;
		recording_file_names(r);
		recording_file_users(r);
	}
	if (r->epoch_end_ns) {
		recording_epoch_end(r);
		return 0;
	}
	int error = recording_write(r, diag);
	if (error && recording_is_live(r)) /* a file can be read again */
		output_rescue(&r->output, r->profile, diag);
	return error;
}

int recording_save(struct recording *r, struct diag *diag)
{
	int error = 0;

	if (r->raw_error) {
		error = r->raw_error;
		*diag = r->raw_diag;
	}
	workers_save(r->workers);
	return error;
}

void recording_close(struct recording *r)
{
	if (!r)
		return;
	prefetch_end(&r->prefetch);
	child_done(&r->namer);
	checkpoint_finish(&r->checkpoint);
	live_done(&r->live);
	trace_done(&r->trace);
	machine_free(r->machine);
	map_done(&r->unasked);
	allocators_done(&r->allocators);
	known_paths_done(&r->known);
	workers_free(r->workers);
	code_log_free(r->code);
	source_close(r->source);
	images_free(r->images);
	output_done(&r->output);
	profile_free(r->profile);
	if (r->memory_fd > 0)
		close(r->memory_fd);
	free(r);
}

/* ---- asked by whoever runs it --------------------------------------------------------------- */

const struct source_info *recording_info(const struct recording *r)
{
	return &r->source->info;
}

struct perf_source_stats recording_stats(const struct recording *r)
{
	return perf_source_stats(r->source);
}

const struct profile *recording_profile(const struct recording *r)
{
	return r->profile;
}

const struct output *recording_output(const struct recording *r)
{
	return &r->output;
}

bool recording_was_stopped(const struct recording *r)
{
	return r->is_stopped;
}

pid_t recording_command(const struct recording *r)
{
	return recording_is_live(r) ? perf_source_child(r->source) : 0;
}

bool recording_command_ended(struct recording *r, int timeout_ms, int *ret_status)
{
	return perf_source_wait(r->source, timeout_ms, ret_status);
}
