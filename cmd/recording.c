/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recording: one loop. Signals that end it are blocked and asked for between events, so that nothing
 * is ever interrupted halfway; while one is pending the source does not wait.
 */
#include "cmd/recording.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cmd/checkpoint.h"
#include "cmd/cmd.h"
#include "cmd/code_tape.h"
#include "cmd/conclude.h"
#include "cmd/export.h"
#include "cmd/live.h"
#include "cmd/output.h"
#include "cmd/rehearse.h"
#include "collector/live/perf_source.h"
#include "profile/resolve.h"
#include "recording/workers.h"
#include "report/quality.h"

#define TICK_MS 500 /* how often the clock is looked at when nothing happens; signals are noticed at once */
#define TICK_EVENTS 256 /* between two looks at the clock when events keep coming */
#define PROGRESS_NS 1000000000ull

struct recording {
	struct recording_options *options;
	struct resolve_options names;
	char target_root[32];
	const char *mode, *command_line;
	sigset_t signals, old_signals;
	int signal_fd; /* can be read while one of them is pending */
	struct images *images;
	struct source *source;
	struct crew *crew;
	struct code_tape *tape;
	struct output output;
	struct checkpoint checkpoint;
	struct rehearsal rehearsal;
	struct live live;
	uint64_t start_ns, end_ns, progress_ns; /* end 0 = open */
	int wait_ms; /* for the next event, as of the last look at the clock; 0 before the first */
	bool is_stopped;
	int forwarded; /* a signal sent to us alone, to be passed on to the command; 0 = none */
	int status;    /* of the command, as waitpid gives it */
	int fault;     /* the exit code of one that did not end the recording; 0 = none */
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t seconds_ns(double seconds)
{
	return (uint64_t)(seconds * 1e9);
}

/* ---- signals -------------------------------------------------------------------------------- */

static void block_signals(struct recording *r)
{
	struct sigaction hangup;

	sigemptyset(&r->signals);
	sigaddset(&r->signals, SIGINT);
	sigaddset(&r->signals, SIGTERM);
	if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN) /* else: nohup */
		sigaddset(&r->signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &r->signals, &r->old_signals);
	r->signal_fd = signalfd(-1, &r->signals, SFD_CLOEXEC);
}

/* A signal that asks us to end; 0 = none. One that a terminal sent has reached the command as well. */
static int pending_signal(struct recording *r)
{
	siginfo_t info;
	int number = sigtimedwait(&r->signals, &info, &(struct timespec){ 0 });

	if (number > 0 && info.si_code <= 0) /* by kill, not by the kernel */
		r->forwarded = number;
	return number > 0 ? number : 0;
}

/* ---- telling -------------------------------------------------------------------------------- */

static void say_progress(struct recording *r, uint64_t now)
{
	bool is_wanted = !r->options->is_quiet && !r->options->argv && isatty(STDERR_FILENO);

	if (!is_wanted || now < (r->progress_ns ? r->progress_ns : r->start_ns) + PROGRESS_NS)
		return;
	struct profile_quality quality = crew_quality(r->crew);
	fprintf(stderr, "\rcpprof: %llu s, %llu samples, %.1f%% complete ",
		(unsigned long long)((now - r->start_ns) / 1000000000u), (unsigned long long)quality.samples,
		quality_percent(&quality));
	r->progress_ns = now;
}

static void end_progress(const struct recording *r)
{
	if (r->progress_ns)
		fprintf(stderr, "\r\033[K");
}

static void say_notes(const struct recording *r)
{
	for (size_t i = 0; !r->options->is_quiet && i < r->source->info.notes.n; i++)
		fprintf(stderr, "cpprof: %s\n", r->source->info.notes.at[i]);
}

static void say_session(const struct recording *r)
{
	struct perf_source_stats stats = perf_source_stats(r->source);

	if (!r->options->verbosity)
		return;
	for (size_t i = 0; i < r->source->info.events.n; i++) {
		const struct source_event *event = &r->source->info.events.at[i];
		fprintf(stderr, "cpprof: event %s, %s %llu%s\n", event->name, event->period ? "every" : "at",
			(unsigned long long)(event->period ? event->period : event->frequency),
			event->excludes_kernel ? ", user mode only" : "");
	}
	fprintf(stderr,
		"cpprof: %zu CPUs with a ring of %zu KiB each, %zu threads watched, %u bytes of stack a "
		"sample\n",
		stats.n_rings, stats.ring_bytes >> 10, stats.n_threads, r->source->info.stack_size);
	if (r->source->info.no_deep)
		fprintf(stderr, "cpprof: %s\n", r->source->info.no_deep);
}

static void say_result(const struct recording *r, const struct profile *profile)
{
	if (r->options->is_quiet)
		return;
	conclude_say_quality(profile);
	if (r->options->format)
		fprintf(stderr, "cpprof: wrote %s\n", r->output.path);
	else
		conclude_say_output(&r->output, profile);
}

/* ---- the loop ------------------------------------------------------------------------------- */

static void take_event(struct recording *r, const struct event *event)
{
	crew_expect(r->crew, r->source->next);
	crew_event(r->crew, event);
	code_tape_write(r->tape, event->time_ns);
	if (event->kind == EVENT_EXEC || (event->kind == EVENT_COMM && event->pid == event->tid)) {
		CLEANUP(freep) char *line = target_command_line(event->pid);
		if (line[0])
			builder_command(crew_builder(r->crew), event->pid, line);
	}
}

/* What only we know of the run. */
static void describe(struct recording *r, struct profile *profile)
{
	profile->run.mode = intern_add(&profile->strings, r->mode);
	profile->run.command_line = intern_add(&profile->strings, r->command_line);
	profile->run.n_cpus = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
	profile->run.duration_ns = now_ns() - r->start_ns;
	profile->quality.wakeups = perf_source_stats(r->source).wakeups;
}

/* Until the next look at the clock, or something that has its time before. What is overdue waits for somebody
 * else. */
static int wait_ms(const struct recording *r, uint64_t now)
{
	const uint64_t due[] = { r->end_ns, r->live.next_ns, r->checkpoint.next_ns, r->rehearsal.next_ns };
	uint64_t next = now + TICK_MS * 1000000ull;

	for (size_t i = 0; i < sizeof(due) / sizeof(due[0]); i++)
		if (due[i] > now && due[i] < next)
			next = due[i];
	return (int)((next - now + 999999u) / 1000000u);
}

static void tick(struct recording *r)
{
	uint64_t now = now_ns();

	if (!r->is_stopped && (pending_signal(r) || (r->end_ns && now >= r->end_ns))) {
		perf_source_stop(r->source);
		r->is_stopped = true;
	}
	say_progress(r, now);
	if (live_is_due(&r->live, now)) {
		struct profile *profile = crew_profile(r->crew);
		describe(r, profile);
		live_write(&r->live, profile, r->images, &r->names, now);
	}
	if (checkpoint_is_due(&r->checkpoint, now)) {
		struct profile *profile = crew_profile(r->crew);
		describe(r, profile);
		checkpoint_write(&r->checkpoint, &r->output, profile, now);
	}
	if (rehearsal_is_due(&r->rehearsal, now))
		rehearsal_start(&r->rehearsal, crew_profile(r->crew), r->images, &r->names);
	r->wait_ms = wait_ms(r, now);
}

/* Workers get what is held back for them before we wait: code that is in no file may not be there for long.
 */
static int next_event(struct recording *r, struct event *ret, struct diag *diag)
{
	if (crew_is_holding(r->crew)) {
		int got = source_next(r->source, ret, 0, diag);
		if (got != -EAGAIN)
			return got;
		crew_flush(r->crew);
	}
	return source_next(r->source, ret, r->wait_ms, diag);
}

static int loop(struct recording *r, struct diag *diag)
{
	struct event event;
	unsigned n = 0;

	for (;;) {
		int got = next_event(r, &event, diag);
		if (got == 0)
			return 0;
		if (got < 0 && got != -EAGAIN)
			return got;
		if (got > 0)
			take_event(r, &event);
		if (got < 0 || ++n % TICK_EVENTS == 0)
			tick(r);
	}
}

/* ---- beginning and end ---------------------------------------------------------------------- */

static int open_source(struct recording *r, struct diag *diag)
{
	const struct recording_options *o = r->options;
	struct perf_source_options options = {
		.pids = o->pids.pids.at,
		.n_pids = o->pids.pids.n,
		.tids = o->tids.pids.at,
		.n_tids = o->tids.pids.n,
		.argv = o->argv,
		.signals = &r->old_signals,
		.skips_refused = o->is_by_name,
		.events = (const char *const *)o->events.values.at,
		.n_events = o->events.values.n,
		.frequency = o->frequency,
		.period = o->period,
		.stack_size = (uint32_t)o->stack_size,
		.deep_bytes = o->deep_bytes,
		.delay_ns = seconds_ns(o->delay),
		.ring_bytes = o->ring_bytes,
		.all_user = o->all_user,
		.inherits = o->inherits,
		.wake_fd = r->signal_fd,
	};

	return perf_source_open(r->images, &options, &r->source, diag);
}

static int open_raw(struct recording *r, struct diag *diag)
{
	if (!r->options->raw)
		return 0;

	int fd = output_create(r->options->raw, diag);
	return fd < 0 ? fd : perf_source_raw_open(r->source, fd, r->options->raw, diag);
}

/* An export gets the default name with its own suffix. */
static const char *output_template(const struct recording_options *o)
{
	static char name[64];

	if (o->output || !o->format)
		return o->output;
	const char *suffix = exporter_named(o->format)->suffixes;
	snprintf(name, sizeof(name), "cpprof%.*s", (int)strcspn(suffix, " "), suffix);
	return name;
}

/* What the walk of a sample's stack says of the next ones. */
static void tell_source(void *context, const struct event *event, const struct stack_use *use)
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

static int begin(struct recording *r, struct diag *diag)
{
	const struct recording_options *o = r->options;

	block_signals(r);
	r->images = images_new();
	int error = open_source(r, diag);
	if (error)
		return error;
	if (open_raw(r, diag) < 0) /* the command runs: its profile can still be had */
		r->fault = cmd_fail(diag);
	signal(SIGPIPE, SIG_IGN); /* a reader of our output that leaves is an error to report; the command
				     keeps its own */
	say_notes(r);
	say_session(r);

	r->tape = code_tape_new(r->source, o->raw != NULL);
	struct crew_options crew = { .n_workers = (unsigned)o->n_workers,
				     .unwinding = { .mode = (enum unwind_mode)o->unwind,
						    .read_code = code_tape_read,
						    .read_context = r->tape,
						    .store = r->names.symbolize.store },
				     .walked = tell_source,
				     .walked_context = r->source };
	r->crew = crew_new(r->images, &r->source->info, &crew);
	r->names.functions = conclude_functions;
	r->names.context = r->crew;
	pid_t child = perf_source_child(r->source);
	output_init(&r->output, output_template(o),
		    child            ? child
		    : o->pids.pids.n ? o->pids.pids.at[0]
				     : o->tids.pids.at[0]);
	r->start_ns = r->source->info.start_ns;
	if (o->duration > 0)
		r->end_ns = r->start_ns + seconds_ns(o->delay) + seconds_ns(o->duration);
	bool checkpoints = !output_is_stdout(&r->output) && !o->format;
	checkpoint_init(&r->checkpoint, checkpoints ? seconds_ns(o->checkpoint) : 0, r->start_ns);
	live_init(&r->live, o->stream, o->watch, o->interval, r->start_ns);
	rehearsal_init(&r->rehearsal, (o->resolves || o->format) && r->names.symbolize.store, r->start_ns);
	return 0;
}

/* The command goes on after the recording has ended; a signal meant for it is passed on, a second one ends
 * the wait. */
static void await_command(struct recording *r)
{
	pid_t child = perf_source_child(r->source);

	if (!child)
		return;
	if (r->forwarded && !perf_source_wait(r->source, 0, &r->status))
		kill(child, r->forwarded);
	for (bool is_told = r->options->is_quiet; !perf_source_wait(r->source, TICK_MS, &r->status);
	     is_told = true) {
		int number = pending_signal(r);
		if (!is_told)
			fprintf(stderr,
				"cpprof: the command (process %d) goes on and is waited for; Ctrl-C ends the "
				"wait\n",
				(int)child);
		if (number && r->is_stopped) {
			r->status = 0;
			return;
		}
		r->is_stopped |= number != 0;
	}
}

/* A crash is the first thing to know of a run; one that we were asked to pass on is no news. */
static void say_death(const struct recording *r)
{
	if (WIFSIGNALED(r->status) && !r->is_stopped && !r->options->is_quiet)
		fprintf(stderr, "cpprof: the command was ended by signal %d (%s)\n", WTERMSIG(r->status),
			strsignal(WTERMSIG(r->status)));
}

static int exit_code(const struct recording *r, const struct profile *profile)
{
	if (WIFSIGNALED(r->status))
		return 128 + WTERMSIG(r->status);
	if (WIFEXITED(r->status) && WEXITSTATUS(r->status))
		return WEXITSTATUS(r->status);
	return conclude_exit_code(profile, r->options->min_quality);
}

/* --format: the export alone. */
static int write_export(struct recording *r, struct profile *profile, struct diag *diag)
{
	const struct exporter *exporter = exporter_named(r->options->format);
	struct export_choice choice = { .options = { .totals = true,
						     .metric = (uint32_t)export_find_metric(profile, NULL) },
					.no_loops = !exporter->loops_by_default,
					.is_quiet = r->options->is_quiet };
	int error = conclude_name(r->crew, profile, r->images, &r->names, diag);

	return error ? error : export_to(exporter, profile, &choice, r->output.path, diag);
}

static int write_profile(struct recording *r, struct profile *profile, struct diag *diag)
{
	checkpoint_wait(&r->checkpoint); /* or it would replace what we write now */
	if (r->options->format)
		return write_export(r, profile, diag);
	if (!r->options->resolves)
		return output_write(&r->output, profile, diag);
	return conclude_resolve(&r->output, r->crew, profile, r->images, &r->names, diag);
}

static int finish(struct recording *r, struct diag *diag)
{
	rehearsal_end(&r->rehearsal);
	struct profile *profile = crew_finish(r->crew);
	int error, code;

	describe(r, profile);
	if (!r->source->info.events.at[0].excludes_kernel) /* a clock goes on counting there */
		profile->quality.counted = perf_source_counted(r->source);
	end_progress(r);
	live_finish(&r->live, profile, r->images, &r->names, now_ns());
	error = write_profile(r, profile, diag);
	if (error)
		output_rescue(&r->output, profile, diag);
	else
		say_result(r, profile);
	code = error ? cmd_fail(diag) : 0;
	if (perf_source_raw_close(r->source, r->command_line, diag) < 0)
		code = cmd_fail(diag);
	crew_save(r->crew);
	await_command(r);
	say_death(r);
	code = code ? code : exit_code(r, profile);
	profile_free(profile);
	return code;
}

static void done(struct recording *r)
{
	crew_free(r->crew);
	code_tape_free(r->tape);
	source_close(r->source);
	images_free(r->images);
	output_done(&r->output);
	if (r->signal_fd > 0)
		close(r->signal_fd);
}

int recording_run(struct recording_options *options, const char *mode, const char *command_line)
{
	struct recording r = { .options = options,
			       .names = { symbol_options_open(&options->symbols, options->verbosity) },
			       .mode = mode,
			       .command_line = command_line };
	struct diag diag = { 0 };
	int code;

	if (options->output && strcmp(options->output, "-") == 0 && isatty(STDOUT_FILENO))
		return cmd_usage(mode, "a profile is not written to a terminal; give -o FILE");

	if (output_check(output_template(options), "-o", &diag) < 0 ||
	    (options->raw && output_check(options->raw, "--raw", &diag) < 0) ||
	    (options->watch && live_check(options->watch, &diag) < 0))
		return cmd_fail(&diag);

	/* A process in another mount namespace has its debug files there too. */
	if (options->pids.pids.n) {
		snprintf(r.target_root, sizeof(r.target_root), "/proc/%d/root",
			 (int)options->pids.pids.at[0]);
		r.names.symbolize.search.target_root = r.target_root;
	}
	if (begin(&r, &diag) < 0) {
		code = cmd_fail(&diag);
	} else {
		r.fault = loop(&r, &diag) < 0 ? cmd_fail(&diag) : r.fault;
		code = finish(&r, &diag); /* also after a fault: what was recorded is written, always */
		code = r.fault ? r.fault : code;
	}
	done(&r);
	return code;
}
