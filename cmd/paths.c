/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paths: the ways that a process takes through chosen functions, counted.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/paths_print.h"
#include "cmd/symbol_options.h"
#include "collector/process/target.h"
#include "recording/branches.h"
#include "recording/bursts.h"
#include "report/number.h"

/* Setting probes takes up to 30 ms, removing them up to 130: stretches are not short. */
#define STRETCH_MS 50
#define HIT_NS 1000        /* what a probe costs, rounded up */
#define PAUSE_MAX 60000    /* ms */
#define BURSTS_LOOK_MS 200 /* how often is looked at what the target has mapped */

struct paths_command {
	struct option_list functions;
	uint64_t pid, limit;
	double seconds, max_overhead; /* max_overhead: negative = not asked for */
	int format, by;
	bool bursts, is_dry;
	const char *profile; /* that tells where the probes will be hit */
	const char *input;   /* perf.data with branches */
	uint64_t rate;
	const char *output;
	struct symbol_options symbols;
	char **argv; /* NULL = a process */
};

/* ---- running ----------------------------------------------------------------------------------------- */

struct paths_watch {
	sigset_t signals, old_signals;
	uint64_t end_ns; /* 0 = none */
	bool is_stopped, has_rested;
};

static void watch_begin(struct paths_watch *watch)
{
	sigemptyset(&watch->signals);
	sigaddset(&watch->signals, SIGINT);
	sigaddset(&watch->signals, SIGTERM);
	sigaddset(&watch->signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &watch->signals, &watch->old_signals);
}

/* False when it is over: the process is gone, the time is up, or somebody asked for it. */
static bool watch_wait(struct paths_watch *watch, struct paths *paths, uint64_t ms)
{
	struct timespec time = { (time_t)(ms / 1000), (long)(ms % 1000) * 1000000 };

	watch->is_stopped |= sigtimedwait(&watch->signals, NULL, &time) > 0;
	return !watch->is_stopped && !paths_is_over(paths) &&
	       (!watch->end_ns || clock_now_ns() < watch->end_ns);
}

/* How long to rest after a stretch in which that many probes were hit. */
static uint64_t watch_pause_ms(uint64_t hits, double max_overhead)
{
	double used_ms = (double)hits * HIT_NS / 1e6, wanted = used_ms * 100 / max_overhead - STRETCH_MS;

	return wanted <= 0 ? 0 : wanted > PAUSE_MAX ? PAUSE_MAX : (uint64_t)wanted;
}

static int watch_run(struct paths_watch *watch, struct paths *paths, double max_overhead, struct diag *diag)
{
	uint64_t hits = 0;
	int error = 0;

	while (!error && watch_wait(watch, paths, STRETCH_MS)) {
		uint64_t now = max_overhead > 0 ? paths_hits(paths) : 0,
			 pause = max_overhead > 0 ? watch_pause_ms(now - hits, max_overhead) : 0;
		hits = now;
		if (!pause)
			continue;
		paths_rest(paths);
		watch->has_rested = true;
		if (!watch_wait(watch, paths, pause))
			break;
		error = paths_resume(paths, diag);
		if (error && paths_is_over(paths)) /* there is nothing left to set them on */
			return 0;
	}
	return error;
}

/* ---- before ------------------------------------------------------------------------------------------ */

/* How long the probes will take for each second of the program, in seconds; negative = not known. */
static double paths_cost(const struct paths *paths)
{
	return paths->hits < 0 ? -1 : paths->hits * HIT_NS / 1e9;
}

/* Nothing has been set yet. */
static bool paths_needs_stretches(const struct paths_command *c, const struct paths *paths)
{
	return c->max_overhead > 0 && 100 * paths_cost(paths) > c->max_overhead;
}

static int paths_show_plan(const struct paths_command *c, const struct paths *paths)
{
	char hits[NUMBER_MAX], ways[NUMBER_MAX];

	for (size_t i = 0; i < paths->notes.n; i++)
		cmd_say(paths->notes.at[i]);
	for (size_t i = 0; i < paths->functions.n; i++) {
		const struct paths_function *f = &paths->functions.at[i];
		cmd_print_name(stdout, f->chosen->name);
		printf(" in ");
		cmd_print_name(stdout, image_name(images_peek(paths->images, f->chosen->image)));
		printf(": %zu probes for %s ways; ", f->plan.probes.n, number_count(f->plan.ways.n, ways));
		if (f->plan.rates)
			printf("about %s hits a second\n", number_count((uint64_t)f->plan.hits, hits));
		else
			printf("how often they would be hit is not known\n");
	}
	if (paths->hits >= 0)
		printf("with the probes a second of the program would take about %.2f s: ",
		       1 + paths_cost(paths));
	if (paths_needs_stretches(c, paths))
		printf("they would be set for stretches of %d ms, with pauses (--max-overhead %g)\n",
		       STRETCH_MS, c->max_overhead);
	else if (paths->hits >= 0)
		printf("they would stay set\n");
	if (paths->hits < 0)
		printf("%s\n", c->argv ? "of a command, a profile tells that: --profile FILE"
				       : "they were not seen to run");
	return EXIT_OK;
}

/* ---- the command ------------------------------------------------------------------------------------- */

static int paths_show(struct paths_command *c, const struct paths *paths, bool is_whole)
{
	CLEANUP(fclosep) FILE *file = c->output ? fopen(c->output, "we") : NULL;
	FILE *to = file ? file : stdout;
	struct symbolizer_options symbols = symbol_options_open(&c->symbols, 0);
	struct paths_print print = { paths, &symbols, c->by == 1, c->limit, is_whole };
	struct diag diag = { 0 };
	uint64_t n = 0;
	int error = c->output && !file ? -errno : 0;

	for (size_t i = 0; i < paths->notes.n; i++)
		cmd_say(paths->notes.at[i]);
	for (size_t i = 0; i < paths->functions.n; i++)
		n += paths->functions.at[i].n_ways;
	if (!error && c->format == 1)
		error = paths_print_json(to, &print);
	else if (!error)
		paths_print_text(to, &print);
	if (!error && (fflush(to) != 0 || ferror(to)))
		error = -EIO;
	if (error) {
		diag_set(&diag, error, "cannot write '%s'", c->output ? c->output : "standard output");
		return cmd_fail(&diag);
	}
	if (!n)
		fprintf(stderr, "cpprof: no way was counted: %s\n",
			c->bursts  ? "its threads waited, or its ways are longer than a burst"
			: c->input ? "the branch records hold none"
				   : "no chosen function was called");
	return n ? EXIT_OK : EXIT_NO_SAMPLES;
}

static int paths_run(struct paths_command *c)
{
	struct paths_watch watch = { 0 };
	struct paths_request request = { .pid = (pid_t)c->pid,
					 .argv = c->argv,
					 .names = c->functions.values.at,
					 .n_names = c->functions.values.n,
					 .by_caller = c->by == 1,
					 .profile = c->profile,
					 .signals = &watch.old_signals };
	struct diag diag = { 0 };
	struct paths paths;

	watch_begin(&watch);
	if (paths_prepare(&paths, &request, &diag) < 0)
		return cmd_fail(&diag);
	if (c->is_dry) {
		int shown = paths_show_plan(c, &paths);
		paths_close(&paths);
		return shown;
	}
	if (paths_needs_stretches(c, &paths))
		fprintf(stderr,
			"cpprof: a second of the program would take about %.2f s: the probes are set for "
			"stretches of %d ms\n",
			1 + paths_cost(&paths), STRETCH_MS);
	if (paths_open(&paths, &request, &diag) < 0)
		return cmd_fail(&diag);
	int error = c->argv ? paths_start(&paths, c->argv[0], &diag) : 0;
	if (c->seconds > 0)
		watch.end_ns = clock_now_ns() + (uint64_t)(c->seconds * 1e9);
	if (!error)
		error = watch_run(&watch, &paths, c->max_overhead, &diag);
	if (!error)
		paths_read(&paths);
	bool is_whole = c->argv && !watch.has_rested && !watch.is_stopped && paths_is_over(&paths);
	int code = error ? cmd_fail(&diag) : paths_show(c, &paths, is_whole);
	paths_close(&paths);
	return code;
}

/* Until the process is gone, the time is up, or somebody asks for it. */
static int paths_run_bursts(struct paths_command *c)
{
	struct paths_watch watch = { 0 };
	struct bursts_request request = { .pid = (pid_t)c->pid,
					  .argv = c->argv,
					  .names = c->functions.values.at,
					  .n_names = c->functions.values.n,
					  .rate = (double)c->rate,
					  .signals = &watch.old_signals };
	struct diag diag = { 0 };
	struct bursts bursts;
	struct paths paths;

	watch_begin(&watch);
	int error = bursts_open(&bursts, &paths, &request, &diag);
	if (!error && c->argv)
		error = paths_start(&paths, c->argv[0], &diag);
	if (!error)
		error = bursts_start(&bursts, &paths, &diag);
	if (c->seconds > 0)
		watch.end_ns = clock_now_ns() + (uint64_t)(c->seconds * 1e9);
	while (!error && !bursts_is_over(&bursts, &paths) && watch_wait(&watch, &paths, BURSTS_LOOK_MS))
		continue;
	if (!error)
		error = bursts_finish(&bursts, &paths, &request, &diag);
	int code = error ? cmd_fail(&diag) : paths_show(c, &paths, false);
	if (!error && c->format == 0)
		fprintf(stderr,
			"cpprof: %llu bursts, %llu of them where a thread just began to wait; %llu steps; a "
			"thread stood "
			"still for %.1f ms at most, %.0f ms in all\n",
			(unsigned long long)bursts.n, (unsigned long long)bursts.n_empty,
			(unsigned long long)bursts.n_steps, (double)bursts.longest_ns / 1e6,
			(double)bursts.stopped_ns / 1e6);
	bursts_close(&bursts);
	paths_close(&paths);
	return code;
}

/* Branch records instead of bursts. */
static int paths_run_file(struct paths_command *c)
{
	struct branches_request request = { .path = c->input,
					    .symfs = c->symbols.symfs,
					    .names = c->functions.values.at,
					    .n_names = c->functions.values.n };
	struct branches_found found;
	struct diag diag = { 0 };
	struct paths paths;
	int error = branches_read(&paths, &request, &found, &diag);
	int code = error ? cmd_fail(&diag) : paths_show(c, &paths, false);

	if (!error && found.n_others)
		fprintf(stderr, "cpprof: %llu samples of other processes than %d were left out\n",
			(unsigned long long)found.n_others, (int)paths.pid);
	paths_close(&paths);
	return code;
}

static int paths_check(struct paths_command *c, const struct command_line *line)
{
	struct diag diag = { 0 };

	c->argv = line->n_operands ? line->operands : NULL;
	if (c->input)
		return c->pid || c->argv ? cmd_usage("paths", "a file (-i) or a process, not both")
					 : symbol_options_check(&c->symbols, "paths");
	if (!c->functions.values.n && !c->bursts)
		return cmd_usage("paths", "which functions? -f NAME, or --bursts for all");
	if (!c->pid == !c->argv)
		return cmd_usage("paths", "a process (-p PID) or a command is needed, and not both");
	if ((c->profile || c->is_dry) && c->bursts)
		return cmd_usage("paths", "--profile and --dry-run go with probes (-f), not with --bursts");
	if (c->max_overhead < 0) /* somebody's process is not to be slowed down; a command is ours */
		c->max_overhead = c->pid ? 5 : 0;
	if (c->pid && target_state((pid_t)c->pid) == 0) {
		diag_set(&diag, -ESRCH, "there is no process %llu", (unsigned long long)c->pid);
		return cmd_fail(&diag);
	}
	if ((c->pid ? target_check_machine((pid_t)c->pid, &diag) : target_check_file(c->argv[0], &diag)) < 0)
		return cmd_fail(&diag);
	return symbol_options_check(&c->symbols, "paths");
}

static int paths_parse(struct paths_command *c, int argc, char **argv)
{
	const struct option_spec specs[] = {
		{ 'f', "function", OPTION_TEXTS, &c->functions, "NAME",
		  "whose ways: a name, a pattern, FILE:NAME or FILE+0xADDRESS; repeatable" },
		{ 'p', "pid", OPTION_POSITIVE, &c->pid, "PID", "in this process" },
		{ 'd', "duration", OPTION_SECONDS, &c->seconds, "SECONDS", "for so long (until it ends)" },
		{ 0, "by", OPTION_CHOICE, &c->by, "function|context",
		  "ways of one function apart by who called" },
		{ 0, "bursts", OPTION_FLAG, &c->bursts, NULL,
		  "of all functions, estimated: at random moments a thread is stepped for up to\n2 ms, 1% of "
		  "the time in all" },
		{ 'i', "input", OPTION_TEXT, &c->input, "FILE",
		  "the same from the branch records (LBR) of a perf.data file" },
		{ 0, "rate", OPTION_POSITIVE, &c->rate, "N", "with --bursts: so many a second, at most (1)" },
		{ 0, "max-overhead", OPTION_PERCENT, &c->max_overhead, "PERCENT",
		  "above this, count in stretches of 50 ms; 0 = always (5 of a process, 0 of a\ncommand)" },
		{ 0, "profile", OPTION_TEXT, &c->profile, "FILE",
		  "a profile of the same program, so that probes go on branches that are seldom\n"
		  "executed (with -p the process is sampled for 200 ms instead)" },
		{ 0, "dry-run", OPTION_FLAG, &c->is_dry, NULL,
		  "set nothing; say which probes there would be and how often they would be hit" },
		{ 0, "limit", OPTION_NUMBER, &c->limit, "N",
		  "at most N ways of a function, the most frequent" },
		{ 0, "format", OPTION_CHOICE, &c->format, "text|json", "for people or programs" },
		{ 'o', "output", OPTION_TEXT, &c->output, "FILE", "where the result goes (standard output)" },
		SYMBOL_SPECS(c->symbols),
		{ 0 },
	};
	struct command_line line = {
		.command = "paths",
		.usage = "[options] (-f NAME | --bursts) (-p PID | -i FILE | -- CMD [ARGS])",
		.about =
			"Counts the ways that a process takes through chosen functions and their loops, each "
			"exactly,\n"
			"with probes on their branches. A way begins where the function is entered or a loop "
			"starts\n"
			"over, and ends there or where the function is left.",
		.examples =
			"  cpprof paths -f parse_line -- ./program input    every way that it takes\n"
			"  sudo cpprof paths -f 'libz.so.1:inflate_fast' -p 4711 -d 10\n"
			"  sudo cpprof paths -f inflate_fast -p 4711 --dry-run     what would that cost?\n"
			"  sudo cpprof paths --bursts -p 4711 -d 60            all functions, about\n"
			"  cpprof paths -f compare --by context -- ./program  by who called\n",
		.specs = specs,
		.stops_at_operand = true,
	};
	int code = options_parse(&line, argc, argv);

	if (code >= 0)
		return code;
	code = paths_check(c, &line);
	if (code >= 0)
		return code;
	return c->input ? paths_run_file(c) : c->bursts ? paths_run_bursts(c) : paths_run(c);
}

int cmd_paths(int argc, char **argv)
{
	struct paths_command command = { .max_overhead = -1, .rate = 1, .symbols = SYMBOL_DEFAULTS };
	int code = paths_parse(&command, argc, argv);

	option_list_done(&command.functions);
	symbol_options_done(&command.symbols);
	return code;
}
