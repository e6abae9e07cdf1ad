/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paths: counts the execution paths of a process through chosen functions.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fresh_file.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/paths_print.h"
#include "cmd/symbol_options.h"
#include "collector/bpf/uprobe.h"
#include "collector/process/target.h"
#include "recording/branches.h"
#include "recording/bursts.h"
#include "report/number.h"

/* Setting probes takes up to 30 ms, removing them up to 130: windows must not be too short. */
#define STRETCH_MS 50
#define HIT_NS 1000        /* what a probe costs whose instruction the kernel emulates, rounded up */
#define PAUSE_MAX 60000    /* ms */
#define BURSTS_LOOK_MS 200 /* how often the mappings of the target are read */

struct paths_command {
	struct option_list functions;
	uint64_t pid, limit;
	double seconds, max_overhead; /* max_overhead: negative = not given */
	int format, by;
	bool bursts, is_dry;
	const char *profile; /* to estimate where probes will be hit */
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
	double hit_ns;   /* what a probe costs, on average */
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

/* False when it is over: the process has ended, the time is up, or the user interrupted. */
static bool watch_wait(struct paths_watch *watch, struct paths *paths, uint64_t ms)
{
	uint64_t now = clock_now_ns(),
		 left_ms = watch->end_ns > now ? (watch->end_ns - now) / 1000000 + 1 : 0;
	uint64_t wait = watch->end_ns && left_ms < ms ? left_ms : ms;
	struct timespec time = { (time_t)(wait / 1000), (long)(wait % 1000) * 1000000 };

	watch->is_stopped |= sigtimedwait(&watch->signals, NULL, &time) > 0;
	return !watch->is_stopped && !paths_is_over(paths) &&
	       (!watch->end_ns || clock_now_ns() < watch->end_ns);
}

/* How long to pause after a window with this many probe hits. */
static uint64_t watch_pause_ms(const struct paths_watch *watch, uint64_t hits, double max_overhead)
{
	double used_ms = (double)hits * watch->hit_ns / 1e6,
	       wanted = used_ms * 100 / max_overhead - STRETCH_MS;

	return wanted <= 0 ? 0 : wanted > PAUSE_MAX ? PAUSE_MAX : (uint64_t)wanted;
}

static int watch_run(struct paths_watch *watch, struct paths *paths, double max_overhead, struct diag *diag)
{
	uint64_t hits = 0;
	int error = 0;

	while (!error && watch_wait(watch, paths, STRETCH_MS)) {
		uint64_t now = max_overhead > 0 ? paths_hits(paths) : 0,
			 pause = max_overhead > 0 ? watch_pause_ms(watch, now - hits, max_overhead) : 0;
		hits = now;
		if (!pause)
			continue;
		paths_rest(paths);
		watch->has_rested = true;
		if (!watch_wait(watch, paths, pause))
			break;
		error = paths_resume(paths, diag);
		if (error && paths_is_over(paths)) /* the process has ended */
			return 0;
	}
	return error;
}

/* ---- before ------------------------------------------------------------------------------------------ */

/* What a probe costs on average. */
static double paths_hit_ns(const struct paths *paths)
{
	double share = paths_stepped_share(paths);

	return HIT_NS + (share > 0 ? share * uprobe_stepped_ns() : 0);
}

/* The expected cost of the probes per second of the program, in seconds; negative = not known. */
static double paths_cost(const struct paths *paths, double hit_ns)
{
	return paths->hits < 0 ? -1 : paths->hits * hit_ns / 1e9;
}

static bool paths_needs_stretches(const struct paths_command *c, double cost)
{
	return c->max_overhead > 0 && 100 * cost > c->max_overhead;
}

static int paths_show_plan(const struct paths_command *c, const struct paths *paths)
{
	char hits[NUMBER_MAX], ways[NUMBER_MAX];
	double cost = paths_cost(paths, paths_hit_ns(paths));

	for (size_t i = 0; i < paths->notes.n; i++)
		cmd_say(paths->notes.at[i]);
	for (size_t i = 0; i < paths->functions.n; i++) {
		const struct paths_function *f = &paths->functions.at[i];
		cmd_print_name(stdout, f->chosen->name);
		printf(" in ");
		cmd_print_name(stdout, image_name(images_peek(paths->images, f->chosen->image)));
		printf(": %zu probes for %s paths; ", f->plan.probes.n, number_count(f->plan.ways.n, ways));
		if (f->plan.rates)
			printf("about %s hits per second\n", number_count((uint64_t)f->plan.hits, hits));
		else
			printf("the number of hits per second is not known\n");
	}
	if (paths->hits >= 0)
		printf("one second of the program's execution would take about %.2f s with the probes: ",
		       1 + cost);
	if (paths_needs_stretches(c, cost))
		printf("to limit the overhead they would be set only in windows of %d ms (--max-overhead "
		       "%g)\n",
		       STRETCH_MS, c->max_overhead);
	else if (paths->hits >= 0)
		printf("they would be set all the time\n");
	if (paths->hits < 0)
		printf("%s\n",
		       c->argv ? "to estimate the hits for a command, give a profile of it: --profile FILE"
			       : "the functions were not executed while the process was sampled");
	return EXIT_OK;
}

/* ---- the command ------------------------------------------------------------------------------------- */

static int paths_show(struct paths_command *c, const struct paths *paths, bool is_whole)
{
	struct diag diag = { 0 };
	int fd = c->output ? fresh_file_overwrite(c->output, O_WRONLY, &diag) : -1;

	if (c->output && fd < 0)
		return cmd_fail(&diag);
	CLEANUP(fclosep) FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
	FILE *to = file ? file : stdout;
	struct symbolizer_options symbols = symbol_options_open(&c->symbols, 0);
	CLEANUP(freep) char *command = c->argv ? text_join(c->argv) : NULL;
	struct paths_print print = { paths, &symbols, c->by == 1, c->limit, command, is_whole };
	uint64_t n = 0;
	int error = 0;

	for (size_t i = 0; i < paths->notes.n; i++)
		cmd_say(paths->notes.at[i]);
	for (size_t i = 0; i < paths->functions.n; i++)
		n += paths->functions.at[i].n_ways;
	if (c->format == 1)
		error = paths_print_json(to, &print);
	else
		paths_print_text(to, &print);
	if (!error && (fflush(to) != 0 || ferror(to)))
		error = -EIO;
	if (error) {
		diag_set(&diag, error, "cannot write '%s'", c->output ? c->output : "standard output");
		return cmd_fail(&diag);
	}
	if (!n)
		fprintf(stderr, "cpprof: no paths were counted: %s\n",
			c->bursts  ? "the threads were waiting, or the paths are longer than a burst"
			: c->input ? "the branch records contain no complete path"
				   : "none of the chosen functions was called");
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
	/* Before the probes are set: measuring what one costs takes a while. */
	watch.hit_ns = c->max_overhead > 0 ? paths_hit_ns(&paths) : 0;
	double cost = paths_cost(&paths, watch.hit_ns);
	if (paths_needs_stretches(c, cost))
		fprintf(stderr,
			"cpprof: one second of the program's execution would take about %.2f s with the "
			"probes: they are set only in windows of %d ms\n",
			1 + cost, STRETCH_MS);
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

/* Until the process has ended, the time is up, or the user interrupts. */
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
			"cpprof: %llu bursts, %llu of them empty because the thread had just begun to wait; "
			"%llu steps; threads were stopped for at most %.1f ms at a time, %.0f ms in total\n",
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
		fprintf(stderr, "cpprof: %llu samples of processes other than %d were ignored\n",
			(unsigned long long)found.n_others, (int)paths.pid);
	paths_close(&paths);
	return code;
}

static int paths_check(struct paths_command *c, const struct command_line *line)
{
	struct diag diag = { 0 };

	c->argv = line->n_operands ? line->operands : NULL;
	if (c->input)
		return c->pid || c->argv
			       ? cmd_usage("paths", "give either a file (-i) or a process, not both")
			       : symbol_options_check(&c->symbols, "paths");
	if (!c->functions.values.n && !c->bursts)
		return cmd_usage("paths", "give functions with -f NAME, or --bursts for all");
	if (!c->pid == !c->argv)
		return cmd_usage("paths", "give either a process (-p PID) or a command");
	if ((c->profile || c->is_dry) && c->bursts)
		return cmd_usage("paths", "--profile and --dry-run apply to probes (-f), not to --bursts");
	if (c->max_overhead < 0) /* a running process must not be slowed down; a command may be */
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
		  "function to count: a name, a glob, FILE:NAME or FILE+0xADDRESS; repeatable" },
		{ 'p', "pid", OPTION_POSITIVE, &c->pid, "PID", "count in this process" },
		{ 'd', "duration", OPTION_SECONDS, &c->seconds, "SECONDS",
		  "stop after this time (default: when the process ends)" },
		{ 0, "by", OPTION_CHOICE, &c->by, "function|context",
		  "context: count the paths of a function separately for each caller" },
		{ 0, "bursts", OPTION_FLAG, &c->bursts, NULL,
		  "estimate the paths of all functions: single-step threads for up to 2 ms\n"
		  "at random moments, at most 1% of the time" },
		{ 'i', "input", OPTION_TEXT, &c->input, "FILE",
		  "estimate them from the branch records (LBR, BRBE) of a perf.data file" },
		{ 0, "rate", OPTION_POSITIVE, &c->rate, "N",
		  "with --bursts: at most N bursts per second (1)" },
		{ 0, "max-overhead", OPTION_PERCENT, &c->max_overhead, "PERCENT",
		  "if the expected overhead is above this, set the probes only in windows of 50 ms;\n"
		  "0 = no limit (5 with -p, 0 with a command)" },
		{ 0, "profile", OPTION_TEXT, &c->profile, "FILE",
		  "use this profile of the same program to place probes on rarely executed\n"
		  "branches (with -p, the process is sampled for 200 ms instead)" },
		{ 0, "dry-run", OPTION_FLAG, &c->is_dry, NULL,
		  "set no probes; show how many there would be and how often they would be hit" },
		{ 0, "limit", OPTION_NUMBER, &c->limit, "N",
		  "show at most N paths per function, the most frequent ones" },
		{ 0, "format", OPTION_CHOICE, &c->format, "text|json", "output format" },
		{ 'o', "output", OPTION_TEXT, &c->output, "FILE", "output file (default: standard output)" },
		SYMBOL_SPECS(c->symbols),
		{ 0 },
	};
	struct command_line line = {
		.command = "paths",
		.usage = "[options] (-f NAME | --bursts) (-p PID | -i FILE | -- CMD [ARGS])",
		.about = "Counts the acyclic execution paths through chosen functions and their loops, "
			 "exactly, with probes\n"
			 "on their branches. A path starts at the function's entry or at a loop header, and "
			 "ends at the\n"
			 "next loop iteration or where the function returns. -f needs root.",
		.examples = "  sudo cpprof paths -f parse_line -- ./program input    all paths, exactly\n"
			    "  sudo cpprof paths -f 'libz.so.1:inflate_fast' -p 4711 -d 10\n"
			    "  sudo cpprof paths -f inflate_fast -p 4711 --dry-run     what would it cost?\n"
			    "  sudo cpprof paths --bursts -p 4711 -d 60            all functions, estimated\n"
			    "  sudo cpprof paths -f compare --by context -- ./program  by caller\n",
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
