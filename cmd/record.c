/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record, attach: one recording under two names, for a user at a terminal: signals end it, progress and
 * results are printed on standard error, and the command's exit status is passed on.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "cmd/browser.h"
#include "cmd/cmd.h"
#include "cmd/conclude.h"
#include "cmd/control.h"
#include "cmd/ending.h"
#include "cmd/record_options.h"
#include "cmd/relatives.h"
#include "cmd/run_name.h"
#include "recording/recording.h"
#include "report/number.h"
#include "report/quality.h"

#define DRY_NS 500000000u /* how long calls are counted for --dry-run */
#define LOOK_MS 500       /* interval of checking whether the command has ended */

struct record {
	struct record_options *options;
	struct ending ending;
	struct control control;
	struct relatives *relatives; /* of the targets of attach; NULL for a command and the whole machine */
	bool shows_progress;
	int status;       /* of the command, as from waitpid */
	int fault;        /* exit code of an error that did not end the recording; 0 = none */
	bool was_stopped; /* by a signal, not by the end of the command */
};

static uint64_t record_ns(double seconds)
{
	return (uint64_t)(seconds * 1e9);
}

/* ---- signals -------------------------------------------------------------------------------- */

static bool record_is_over(void *context)
{
	struct record *r = context;

	return ending_is_asked(&r->ending) || r->control.is_over;
}

static bool record_is_urgent(void *context)
{
	struct record *r = context;

	return ending_is_urgent(&r->ending);
}

static void record_between(void *context, struct recording *recording)
{
	struct record *r = context;

	control_obey(&r->control, recording);
}

static void record_saved(void *context, const char *path)
{
	struct record *r = context;

	ending_saved(&r->ending, path);
}

static void record_named(void *context)
{
	struct record *r = context;

	ending_named(&r->ending);
}

/* ---- messages ------------------------------------------------------------------------------- */

static void record_progress(void *context, uint64_t elapsed_ns, const struct profile_quality *quality)
{
	struct record *r = context;

	char samples[NUMBER_MAX], share[NUMBER_MAX];

	fprintf(stderr, "\r\033[Kcpprof: %llu s", (unsigned long long)(elapsed_ns / CLOCK_NS_PER_S));
	if (r->options->duration > 0)
		fprintf(stderr, " of %.4g s", r->options->delay + r->options->duration);
	fprintf(stderr, ", %s samples, %s complete; Ctrl-C ends and writes ",
		number_count(quality->samples, samples), number_percent(quality_percent(quality), share));
	r->shows_progress = true;
}

static void record_end_progress(struct record *r)
{
	if (r->shows_progress)
		fprintf(stderr, "\r\033[K");
	r->shows_progress = false;
}

static void record_note(void *context, const char *text)
{
	struct record *r = context;

	if (!r->options->is_quiet)
		cmd_say(text);
}

static void record_fault(void *context, enum recording_part part, const struct diag *diag)
{
	struct record *r = context;
	int code = cmd_fail(diag);

	if (part == RECORDING_RAW) /* a requested output is missing; the next live export may succeed */
		r->fault = code;
}

static void record_say_session(const struct record *r, const struct recording *recording)
{
	const struct source_info *info = recording_info(recording);
	struct perf_source_stats stats = recording_stats(recording);

	if (!r->options->verbosity)
		return;
	for (size_t i = 0; i < info->events.n; i++) {
		const struct source_event *event = &info->events.at[i];
		fprintf(stderr, "cpprof: event %s, %s %llu%s\n", event->name, event->period ? "every" : "at",
			(unsigned long long)(event->period ? event->period : event->frequency),
			event->excludes_kernel ? ", user mode only" : "");
	}
	fprintf(stderr,
		"cpprof: %zu CPUs with a ring buffer of %zu KiB each, %zu threads, %u bytes of stack per "
		"sample\n",
		stats.n_rings, stats.ring_bytes >> 10, stats.n_threads, info->stack_size);
	if (info->no_deep)
		cmd_say(info->no_deep);
	if (info->bpf_log && r->options->verbosity > 1)
		fprintf(stderr, "cpprof: the kernel's verifier says:\n%s", info->bpf_log);
}

static void record_say_result(const struct record *r, const struct recording *recording)
{
	const struct profile *profile = recording_profile(recording);

	if (r->options->is_quiet)
		return;
	conclude_say_quality(profile);
	if (r->relatives)
		relatives_say_busy(r->relatives);
	conclude_say_output(recording_output(recording), profile, r->options->exporter);
}

/* ---- the command ---------------------------------------------------------------------------- */

/* The command continues after the recording has ended; a signal for it is passed on, and a second one ends
 * the wait. A crash is reported first, unless it is a signal that we passed on. */
static void record_await_command(struct record *r, struct recording *recording)
{
	bool is_stopped = recording_was_stopped(recording), is_told = r->options->is_quiet;
	pid_t child = recording_command(recording);

	if (!child)
		return;
	if (r->ending.forwarded && !recording_command_ended(recording, 0, &r->status))
		kill(child, r->ending.forwarded);
	while (!recording_command_ended(recording, LOOK_MS, &r->status)) {
		bool is_over = record_is_over(r);
		if (!is_told)
			fprintf(stderr,
				"cpprof: the command (process %d) is still running; waiting for it to end "
				"(Ctrl-C stops the waiting)\n",
				(int)child);
		is_told = true;
		if (is_over && is_stopped) {
			r->status = 0;
			return;
		}
		is_stopped |= is_over;
	}
	if (WIFSIGNALED(r->status) && !is_stopped && !r->options->is_quiet)
		fprintf(stderr, "cpprof: the command was killed by signal %d (%s)\n", WTERMSIG(r->status),
			strsignal(WTERMSIG(r->status)));
}

static int record_exit_code(const struct record *r, const struct profile *profile)
{
	if (WIFSIGNALED(r->status))
		return 128 + WTERMSIG(r->status);
	if (WIFEXITED(r->status) && WEXITSTATUS(r->status))
		return WEXITSTATUS(r->status);
	return conclude_exit_code(profile, &r->options->min_quality);
}

/* ---- the recording -------------------------------------------------------------------------- */

static struct perf_source_options record_target(const struct record *r)
{
	const struct record_options *o = r->options;

	return (struct perf_source_options){
		.pids = o->pids.pids.at,
		.n_pids = o->pids.pids.n,
		.tids = o->tids.pids.at,
		.n_tids = o->tids.pids.n,
		.argv = o->argv,
		.is_machine = o->is_machine || o->clock == RECORD_CLOCK_CPU,
		.is_tree = !o->is_machine && o->clock == RECORD_CLOCK_CPU,
		.cgroup = o->cgroup,
		.signals = &r->ending.old_signals,
		.skips_refused = o->is_by_name || o->pids.pids.n + o->tids.pids.n > 1,
		.events = (const char *const *)o->events.values.at,
		.n_events = o->events.values.n,
		.with_waits = o->wall || o->off_cpu,
		.has_switch_records = o->switch_records,
		.max_switches = o->max_switches,
		.without_cpu = o->off_cpu,
		.frequency = o->frequency,
		.period = o->period,
		.stack_size = (uint32_t)o->stack_size,
		.deep_bytes = o->deep_bytes,
		.delay_ns = record_ns(o->delay),
		.ring_bytes = o->ring_bytes,
		.all_user = o->all_user,
		.counts = o->is_dry,
		.is_traced = o->functions.values.n > 0 || o->allocations,
		.every = o->allocations ? o->every : 0,
		.held = o->held,
		.exits = (enum call_exits)o->exits,
		.arg = (unsigned)o->arg,
		.adds_results = o->adds_results,
		.has_fixed_periods = o->has_fixed_periods,
		.inherits = o->inherits,
		.wake_fd = r->control.wake_fd,
	};
}

static struct recording_options record_recording(struct record *r, const char *mode, const char *command_line)
{
	struct record_options *o = r->options;
	bool shows_progress = !o->is_quiet && !o->argv && isatty(STDERR_FILENO);

	return (struct recording_options){
		.mode = mode,
		.command_line = command_line,
		.target = record_target(r),
		.rules = { o->allow.values.at, o->deny.values.at, o->allow.values.n, o->deny.values.n },
		.keeps_no_commands = o->is_machine && !o->with_commands,
		.functions = o->allocations ? o->allocators.values.at : o->functions.values.at,
		.n_functions = o->allocations ? o->allocators.values.n : o->functions.values.n,
		.max_overhead = o->allocations ? 0 : o->max_overhead / 100,
		.n_workers = (unsigned)o->n_workers,
		.max_memory = o->max_memory,
		.unwind = (enum unwind_mode)o->unwind,
		.duration_ns = o->is_dry         ? DRY_NS
			       : o->duration > 0 ? record_ns(o->duration)
						 : 0,
		.cpu_before_ns = o->cpu_before_ns,
		.rank = o->has_rank ? 1 + o->rank : 0,
		.names = { symbol_options_open(&o->symbols, o->verbosity) },
		.resolves = o->resolves,
		.output = o->output,
		.mode_bits = o->mode,
		.format = o->exporter,
		.labels = o->labels.values.at,
		.n_labels = o->labels.values.n,
		.raw = o->raw,
		.checkpoint_ns = record_ns(o->checkpoint),
		.stream_ns = record_ns(o->stream),
		.watch = o->watch,
		.watch_ns = record_ns(o->interval),
		.refresh_ns = record_ns(o->refresh),
		.listener = { .context = r,
			      .is_over = record_is_over,
			      .is_urgent = record_is_urgent,
			      .between = o->control || o->refresh > 0 ? record_between : NULL,
			      .progress = shows_progress ? record_progress : NULL,
			      .note = record_note,
			      .saved = record_saved,
			      .named = record_named,
			      .fault = record_fault },
	};
}

/* Also after an error: what was recorded is always written. */
static int record_finish(struct record *r, struct recording *recording, struct diag *diag)
{
	int code = 0;

	record_end_progress(r);
	if (recording_finish(recording, diag) < 0)
		code = cmd_fail(diag);
	else
		record_say_result(r, recording);
	if (!code && r->options->opens)
		browser_open(recording_output(recording)->path);
	if (recording_save(recording, diag) < 0)
		code = cmd_fail(diag);
	record_await_command(r, recording);
	return code ? code : record_exit_code(r, recording_profile(recording));
}

static int record_plan(const struct recording_options *options)
{
	CLEANUP(text_done) struct text plan = { 0 };
	struct recording *recording = NULL;
	struct diag diag = { 0 };
	int error = options->target.argv ? recording_plan_command(options, &plan, &diag)
					 : recording_open(options, &recording, &diag);

	if (!error && recording) {
		error = recording_run(recording, &diag);
		recording_plan_trace(recording, &plan);
		recording_close(recording);
	}
	if (error)
		return cmd_fail(&diag);
	fputs(plan.at, stdout);
	return EXIT_OK;
}

static int record_run(struct record *r, const struct recording_options *options)
{
	struct recording *recording = NULL;
	struct diag diag = { 0 };

	if (recording_open(options, &recording, &diag) < 0)
		return cmd_fail(&diag);
	signal(SIGPIPE, SIG_IGN); /* if a reader of our output closes the pipe, that is an error to report;
				     the command keeps its own setting */
	record_say_session(r, recording);
	if (!r->options->argv && !r->options->is_machine)
		r->relatives = relatives_watch(&r->options->pids, &r->options->tids, r->options->inherits);
	if (recording_run(recording, &diag) < 0) {
		record_end_progress(r);
		r->fault = cmd_fail(&diag);
	}
	int code = record_finish(r, recording, &diag);
	r->was_stopped = recording_was_stopped(recording);
	relatives_free(r->relatives);
	recording_close(recording);
	return r->fault ? r->fault : code;
}

static int record_start(struct record_options *options, const char *mode, const char *command_line,
			bool *ret_was_stopped)
{
	struct record r = { .options = options };
	struct sigaction pipe;

	sigaction(SIGPIPE, NULL, &pipe);
	if (options->output && strcmp(options->output, "-") == 0 && isatty(STDOUT_FILENO))
		return cmd_usage(mode, "a profile is not written to a terminal; give -o FILE");
	ending_init(&r.ending);
	bool is_typed = options->refresh > 0 && !options->argv && isatty(STDIN_FILENO);
	struct diag diag = { 0 };
	int code;
	if (control_open(&r.control, r.ending.fd, options->control, is_typed, &diag) < 0) {
		code = cmd_fail(&diag);
	} else {
		struct recording_options recording = record_recording(&r, mode, command_line);
		code = options->is_dry ? record_plan(&recording) : record_run(&r, &recording);
		control_close(&r.control);
	}
	sigaction(SIGPIPE, &pipe, NULL);
	ending_done(&r.ending);
	*ret_was_stopped = r.was_stopped;
	return code;
}

static uint64_t record_cpu_ns(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage) < 0)
		return 0;
	return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * CLOCK_NS_PER_S +
	       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
}

static int record_number(const struct record_options *options, uint64_t run, const char *mode,
			 const char *command_line, bool *ret_was_stopped)
{
	struct record_options one = *options;
	const char *name = options->n_repeats && !options->output && !options->exporter ? "cpprof-%n.data"
											: options->output;
	CLEANUP(freep) char *output = run_name(name, run, options->rank);
	CLEANUP(freep) char *raw = run_name(options->raw, run, options->rank);
	CLEANUP(freep) char *watch = run_name(options->watch, run, options->rank);

	one.cpu_before_ns = run > 1 ? record_cpu_ns() : 0;
	one.output = output;
	one.raw = raw;
	one.watch = watch;
	return record_start(&one, mode, command_line, ret_was_stopped);
}

/* One run after the other, until one fails: a failed run is not comparable. */
static int record_repeat(const struct record_options *options, const char *mode, const char *command_line)
{
	uint64_t n = options->n_repeats ? options->n_repeats : 1;

	for (uint64_t run = 1; run <= n; run++) {
		bool was_stopped = false;
		if (n > 1 && !options->is_quiet)
			fprintf(stderr, "cpprof: run %" PRIu64 " of %" PRIu64 "\n", run, n);
		int code = record_number(options, run, mode, command_line, &was_stopped);
		if (n > 1 && (code || was_stopped))
			fprintf(stderr,
				"cpprof: run %" PRIu64 " of %" PRIu64 " %s; the others were not started\n",
				run, n, code ? "failed" : "was stopped");
		if (code || was_stopped)
			return code;
	}
	return EXIT_OK;
}

static int record_command(const char *mode, int argc, char **argv)
{
	struct record_options options;
	CLEANUP(freep) char *command_line = cmd_command_line(argc, argv); /* before parsing rearranges it */
	int code = record_options_parse(&options, mode, argc, argv);

	if (code < 0)
		code = record_repeat(&options, mode, command_line);
	record_options_done(&options);
	return code;
}

int cmd_record(int argc, char **argv)
{
	return record_command("record", argc, argv);
}

int cmd_trace(int argc, char **argv)
{
	return record_command("trace", argc, argv);
}

int cmd_attach(int argc, char **argv)
{
	return record_command("attach", argc, argv);
}
