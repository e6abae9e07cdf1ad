/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/record_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/export.h"
#include "cmd/run_name.h"
#include "collector/live/perf_source.h"
#include "recording/machine.h"
#include "recording/workers.h"

#define GO_ON (-1)
#define NO_SIZE UINT64_MAX /* of the stack: not given */
#define TRACE_OVERHEAD 5
#define TRACE_EVERY (512u << 10)
#define TRACE_EVERY_MAX (1024u << 20)
#define TRACE_STACK_SIZE 8192 /* calls come in bursts: with this, more of them fit into the rings */

static const char record_usage[] = "[options] [--] COMMAND [ARGS]\n       cpprof record [options] -p PID\n"
				   "       cpprof record -a [options] [-d SEC | [--] COMMAND [ARGS]]";
static const char record_about[] =
	"Runs the command and profiles it with all its threads and child processes. Writes the profile when\n"
	"the command ends, on Ctrl-C (twice: at once) or after --duration. The exit status is the command's\n"
	"own if that is not 0; otherwise 0, 5 (no samples) or 6 (below --min-quality).";
static const char record_examples[] =
	"  cpprof record -- make -j2             run and profile, with child processes\n"
	"  cpprof record -F 4000 -o fast.data -- ./prog arg\n"
	"  cpprof record -e instructions -e cache-misses -- ./prog\n"
	"  cpprof record -e '{cycles,instructions}' -- ./prog   counted as a group\n"
	"  sudo cpprof record --wall -- ./server  CPU time and waits, in one tree\n"
	"  cpprof record -o prog.html -- ./prog   write an HTML report directly\n"
	"  cpprof record --repeat 5 -o before-%n.data -- ./prog   five runs, five profiles\n"
	"  mpirun -n 16 cpprof record -o rank-%r.data -- ./app    one profile per rank\n"
	"  cpprof record --raw raw.data -- ./prog   also keep the raw samples, readable by perf\n"
	"  sudo cpprof record -a -d 60              a minute of the whole machine\n"
	"  sudo cpprof record -a -F 99 --deny user:www-data -d 60   without one user's processes\n"
	"  sudo cpprof record --clock auto -- ./configure           also samples very short-lived processes\n"
	"  cpprof report                         look at the result\n";

static const char attach_usage[] = "-p PID[,PID] | -t TID[,TID] | -n NAME [options]";
static const char attach_about[] =
	"Profiles running processes with all their threads and child processes, also those started later.\n"
	"Ends when the target ends, after --duration, or on Ctrl-C, twice: at once. The target keeps "
	"running.";
static const char attach_examples[] =
	"  cpprof attach -p 4711 -d 10           ten seconds of process 4711\n"
	"  cpprof attach -p 4711 --no-inherit    without its child processes\n"
	"  cpprof attach -n postgres -d 30       every process of that name\n"
	"  sudo cpprof attach -p 4711 --off-cpu -d 10   where its threads wait, and for what\n"
	"  cpprof attach -t 4712                 one thread, until Ctrl-C\n"
	"  cpprof attach -p 4711 --stream 10 | jq ...   every ten seconds, as ndjson\n"
	"  cpprof attach -p 4711 --watch app.rows.json  for a dashboard to poll\n"
	"  cpprof attach -p 4711 --watch app.prom --label service=app   for Prometheus\n"
	"  sudo cpprof attach -p 4711            another user's process; the file will be yours\n";

static const char trace_usage[] = "-f FUNCTION [-f FUNCTION] -p PID [options]\n       cpprof trace -f "
				  "FUNCTION [options] [--] COMMAND [ARGS]";
static const char trace_about[] = "Measures every call of the named functions in a running process, by call "
				  "path: the number of calls, their\n"
				  "duration and their waiting time. Uses kernel probes (uprobes), which are "
				  "removed when cpprof ends. Needs root.";
static const char trace_examples[] =
	"  cpprof trace -f 'MPI_Wait*' -p 4711 -d 10   all calls in ten seconds, by call path\n"
	"  cpprof trace -f read --arg 3 --ret -p 4711  bytes requested and read\n"
	"  cpprof trace -f 'lookup(Key const&)' -- ./prog\n"
	"  cpprof trace -f parse -e cycles,cache-misses -p 4711\n"
	"  cpprof trace --alloc --held -p 4711 -d 60   who allocates, and what is not freed\n"
	"  cpprof trace -f read -p 4711 --refresh 1    the results so far, every second\n"
	"  cpprof trace -f read -p 4711 --control fifo & echo add write > fifo\n"
	"  cpprof report --metric calls                the result is a profile\n";

static const struct option_rivals record_rivals[] = {
	{ "frequency", "count" },
	{ "stream", "watch" },
	{ NULL, NULL },
};

static bool record_parse_ids(const struct option_list *texts, struct pid_list *ret, const char **ret_bad)
{
	for (size_t i = 0; i < texts->values.n; i++) {
		char *end;
		long value = strtol(texts->values.at[i], &end, 10);
		if (*end || value <= 0 || value > INT32_MAX) {
			*ret_bad = texts->values.at[i];
			return false;
		}
		vec_push(&ret->pids, (pid_t)value);
	}
	return true;
}

/* All processes of each name; several matches are listed, because the user may have meant one. */
static int record_find_names(struct record_options *options, const char *command)
{
	for (size_t i = 0; i < options->names.values.n; i++) {
		const char *name = options->names.values.at[i];
		struct pid_list found = { 0 };
		target_find(name, &found);
		if (!found.pids.n) {
			fprintf(stderr,
				"cpprof %s: no process is named '%s'\n"
				"        `ps -e` lists all processes\n",
				command, name);
			return EXIT_NO_PROCESS;
		}
		if (found.pids.n > 1 && !options->is_quiet)
			fprintf(stderr, "cpprof: %zu processes are named '%s'; profiling all:", found.pids.n,
				name);
		for (size_t j = 0; j < found.pids.n; j++) {
			if (found.pids.n > 1 && !options->is_quiet)
				fprintf(stderr, " %d%s", found.pids.at[j], j + 1 < found.pids.n ? "" : "\n");
			vec_push(&options->pids.pids, found.pids.at[j]);
		}
		options->is_by_name = true;
		vec_done(&found.pids);
	}
	return GO_ON;
}

/* Rules and clocks, with -a and without. */
static int record_check_machine(struct record_options *options, const struct command_line *line)
{
	bool has_rules = options->allow.values.n + options->deny.values.n > 0;
	struct diag diag = { 0 };

	if (options->clock == RECORD_CLOCK_AUTO)
		options->clock = record_clock_choose(options->argv && !options->is_machine && !options->raw &&
						     !options->wall && !options->off_cpu);
	if (!options->is_machine && (has_rules || options->cgroup || options->with_commands))
		return cmd_usage(line->command, "--cgroup, --allow, --deny and --command-lines require -a");
	if (options->clock == RECORD_CLOCK_CPU && (options->is_machine || !options->argv))
		return cmd_usage(line->command,
				 "--clock requires a command: cpprof record --clock cpu -- COMMAND");
	if (options->raw && (has_rules || options->clock == RECORD_CLOCK_CPU))
		return cmd_usage(line->command,
				 "--raw writes all records of all processes and cannot be used with %s",
				 has_rules ? "--allow and --deny" : "--clock cpu");
	if ((options->is_machine || options->clock == RECORD_CLOCK_CPU) &&
	    (options->wall || options->off_cpu))
		return cmd_usage(line->command, "--wall and --off-cpu need a target (-p, -n or a command) "
						"and cannot be used with -a");
	for (size_t i = 0; i < options->allow.values.n + options->deny.values.n; i++) {
		const char *rule = i < options->allow.values.n
					   ? options->allow.values.at[i]
					   : options->deny.values.at[i - options->allow.values.n];
		if (machine_check_rule(rule, &diag) < 0)
			return cmd_usage(line->command, "%s", diag.what);
	}
	return GO_ON;
}

static int record_find_targets(struct record_options *options, const struct command_line *line)
{
	const char *bad = NULL;
	bool is_record = strcmp(line->command, "attach") != 0;

	if (!record_parse_ids(&options->pid_texts, &options->pids, &bad))
		return cmd_usage(line->command, "'%s' is not a process id", bad);
	if (!record_parse_ids(&options->tid_texts, &options->tids, &bad))
		return cmd_usage(line->command, "'%s' is not a thread id", bad);

	size_t n_given = options->pids.pids.n + options->tids.pids.n + options->names.values.n;
	if (options->is_machine && n_given)
		return cmd_usage(line->command,
				 "-a profiles everything and cannot be used with -p, -t or -n");
	options->argv = line->n_operands ? line->operands : NULL;
	if (options->is_machine)
		return record_check_machine(options, line);
	if (line->n_operands && n_given)
		return cmd_usage(line->command, "give a command to run or something to attach to, not both");
	if (line->n_operands && !is_record)
		return cmd_usage(line->command,
				 "unexpected '%s'; a target is given with -p PID, -t TID or -n NAME",
				 line->operands[0]);
	if (!line->n_operands && !n_given)
		return cmd_usage(line->command, is_record ? "give a command to run: cpprof record -- COMMAND"
							  : "give a target: -p PID, -t TID or -n NAME");
	return record_check_machine(options, line) == GO_ON ? record_find_names(options, line->command)
							    : EXIT_USAGE;
}

static int record_check(const struct record_options *options, const char *command)
{
	if (options->frequency && options->period)
		return cmd_usage(command, "-F and -c cannot be used together");
	if (options->stack_size < SOURCE_STACK_SIZE_MIN)
		return cmd_usage(command,
				 "--stack-size must be at least %u: a smaller copy would contain no caller",
				 SOURCE_STACK_SIZE_MIN);
	if (options->stack_size > SOURCE_STACK_SIZE_MAX)
		return cmd_usage(command, "--stack-size must be at most %u, the kernel's limit",
				 SOURCE_STACK_SIZE_MAX);
	if (options->deep_bytes > SOURCE_DEEP_BYTES)
		return cmd_usage(command, "--deep-stack must be at most %uk", SOURCE_DEEP_BYTES >> 10);
	if ((options->wall || options->off_cpu) && options->all_user)
		return cmd_usage(command, "--wall and --off-cpu cannot be used with -u");
	if (options->off_cpu &&
	    (options->wall || options->events.values.n || options->frequency || options->period))
		return cmd_usage(command, "--off-cpu records no CPU time; for both use --wall");
	if (options->n_workers > WORKERS_MAX)
		return cmd_usage(command, "--workers must be at most %u", WORKERS_MAX);
	if (options->format && !exporter_named(options->format))
		return cmd_usage(command, "there is no format '%s'; `cpprof export --help` lists them",
				 options->format);
	const char *labelled = options->watch ? options->watch : options->output ? options->output : "";
	const char *bad_label = export_bad_label(&options->labels, exporter_for_file(labelled));
	if (bad_label)
		return cmd_usage(command, EXPORT_LABEL_WRONG, bad_label);
	if (options->stream > 0 && options->output && strcmp(options->output, "-") == 0)
		return cmd_usage(command,
				 "--stream writes to standard output; give the profile a file with -o FILE");
	if (options->stream > 0 && options->watch)
		return cmd_usage(command, "--stream and --watch cannot be used together");
	return GO_ON;
}

/* A name that two runs or two ranks share would overwrite the profile of one of them. */
static int record_check_names(struct record_options *options, const struct command_line *line)
{
	const char *const names[] = { options->output, options->raw, options->watch };
	static const char *const given_by[] = { "-o", "--raw", "--watch" };

	options->has_rank = options->argv && run_rank(&options->rank);
	if (options->n_repeats && !options->argv)
		return cmd_usage(line->command, "--repeat needs a command to run");
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (run_name_has(names[i], 'r') && !options->has_rank)
			return cmd_usage(line->command,
					 "%s '%s': %%r stands for the rank in an MPI job, but this is not an "
					 "MPI job; start it with mpirun or srun",
					 given_by[i], names[i]);
		if (options->n_repeats > 1 && names[i] && !run_name_has(names[i], 'n'))
			return cmd_usage(line->command,
					 "--repeat needs a different name for each run: put %%n into %s "
					 "'%s', as in run-%%n.data",
					 given_by[i], names[i]);
	}
	return GO_ON;
}

/* clang-format off */
#define OUTPUT_SPECS(options)                                                                              \
	{ 'o', "output", OPTION_TEXT, &(options)->output, "FILE",                                          \
	  "profile to write (cpprof.data; the previous one is kept as\ncpprof.data.old); %p pid, %t time, %n run, " \
	  "%r rank, - standard output; a name such as x.html, x.svg or x.pb.gz writes that export instead" }, \
	{ 0, "repeat", OPTION_POSITIVE, &(options)->n_repeats, "N",                                        \
	  "run the command N times and write a profile of each run\n(cpprof-%n.data, or -o with %n); stops "  \
	  "after a run that fails" }

/* Exports during the recording. */
#define RECORD_LIVE_SPECS(options)                                                                          \
	{ 0, "stream", OPTION_DURATION, &(options)->stream, "SEC",                                          \
	  "write ndjson to standard output, one profile per interval" },                                  \
	{ 0, "watch", OPTION_TEXT, &(options)->watch, "FILE",                                               \
	  "rewrite this export every --interval; the format is chosen by its name" },                               \
	{ 0, "label", OPTION_RULES, &(options)->labels, "NAME=VALUE",                                       \
	  "openmetrics, with -o or --watch: label to add to every series; repeatable" },                         \
	{ 0, "interval", OPTION_DURATION, &(options)->interval, "SEC",                                      \
	  "seconds between two writes of --watch (10)" }

/* Waits; and, not listed in --help, the former name of --deep-stack, and an option that shows why random
 * periods are used. */
#define RECORD_WAIT_SPECS(options)                                                                         \
	{ 0, "wall", OPTION_FLAG, &(options)->wall, NULL,                                                  \
	  "also record where threads wait, and how long; needs root" },                                    \
	{ 0, "off-cpu", OPTION_FLAG, &(options)->off_cpu, NULL, "record only where threads wait; needs root" }, \
	{ 0, "max-switches", OPTION_POSITIVE, &(options)->max_switches, "N",                               \
	  "stacks of waits to record per second and CPU (1000); all waits are timed" },                    \
	{ 0, "switch-records", OPTION_FLAG, &(options)->switch_records, NULL, NULL },                      \
	{ 0, "outer-stack", OPTION_SIZE, &(options)->deep_bytes, "BYTES", NULL },                          \
	{ 0, "fixed-period", OPTION_FLAG, &(options)->has_fixed_periods, NULL, NULL }

/* The whole machine; and a command as part of it. */
#define RECORD_MACHINE_SPECS(options)                                                                      \
	{ 'a', "all-cpus", OPTION_FLAG, &(options)->is_machine, NULL,                                      \
	  "profile everything that runs on this machine, until Ctrl-C, --duration or the end of\nCOMMAND; needs root" },  \
	{ 0, "cgroup", OPTION_TEXT, &(options)->cgroup, "FOLDER", "with -a: record only processes in this cgroup" }, \
	{ 0, "allow", OPTION_TEXTS, &(options)->allow, "RULE",                                             \
	  "with -a: record only processes that match a rule: user:NAME, command:GLOB,\ncgroup:PATH; repeatable" }, \
	{ 0, "deny", OPTION_TEXTS, &(options)->deny, "RULE",                                               \
	  "with -a: do not record processes that match this rule; repeatable" },                                       \
	{ 0, "command-lines", OPTION_FLAG, &(options)->with_commands, NULL,                                \
	  "with -a: record the command lines of processes, which may contain secrets" },                        \
	{ 0, "clock", OPTION_CHOICE, &(options)->clock, "thread|cpu|auto",                            \
	  "thread: sample each thread by its own CPU time; cpu (needs root): sample each CPU,\n"                      \
	  "which also samples very short-lived processes; auto: cpu where it is permitted (thread)" }
/* clang-format on */

/* attach has no command. */
static void record_hide(struct option_spec *specs)
{
	static const char *const names[] = { "repeat", "all-cpus",      "cgroup", "allow",
					     "deny",   "command-lines", "clock" };

	for (; specs->name || specs->letter; specs++)
		for (size_t i = 0; specs->name && i < ARRAY_LEN(names); i++)
			specs->help = strcmp(specs->name, names[i]) == 0 ? NULL : specs->help;
}

static int record_parse(struct record_options *options, struct command_line *line, int argc, char **argv)
{
	struct option_spec specs[] = {
		RECORD_MACHINE_SPECS(options),
		{ 'p', "pid", OPTION_LIST, &options->pid_texts, "PID", "attach to these processes" },
		{ 't', "tid", OPTION_LIST, &options->tid_texts, "TID", "attach to these threads" },
		{ 'n', "name", OPTION_TEXTS, &options->names, "NAME",
		  "attach to all processes of that name" },
		{ 'd', "duration", OPTION_DURATION, &options->duration, "SEC",
		  "stop recording after this time" },
		{ 'D', "delay", OPTION_SECONDS, &options->delay, "SEC", "start sampling after this time" },
		{ 'F', "frequency", OPTION_POSITIVE, &options->frequency, "HZ",
		  "samples per second of CPU time (997; with -a 19)" },
		HABIT_RECORD_SPECS(options->habits, options->frequency),
		{ 'c', "count", OPTION_POSITIVE, &options->period, "N",
		  "take a sample every N events (for clocks: every N ns)" },
		{ 'e', "event", OPTION_LIST, &options->events, "EVENT",
		  "event to sample (cycles, or cpu-clock where there is no PMU and with --wall);\n"
		  "repeatable; names and modifiers are those of libpfm4" },
		{ 0, "stack-size", OPTION_SIZE, &options->stack_size, "BYTES",
		  "bytes of stack to copy with each sample (16k, with -a 8k, at most 65528)" },
		{ 0, "deep-stack", OPTION_SIZE, &options->deep_bytes, "BYTES",
		  "bytes to copy of stacks deeper than that; needs root (8m,\n"
		  "the maximum; 0 = none)" },
		RECORD_WAIT_SPECS(options),
		{ 'u', "all-user", OPTION_FLAG, &options->all_user, NULL,
		  "user mode only: no samples in the kernel" },
		{ 0, "inherit", OPTION_FLAG, &options->inherits, NULL,
		  "profile child processes and new threads, too (default)" },
		OUTPUT_SPECS(options),
		MODE_SPEC(options->mode),
		{ 0, "open", OPTION_FLAG, &options->opens, NULL, "with -o x.html: open it in a browser" },
		{ 0, "format", OPTION_TEXT, &options->format, "NAME",
		  "write this export instead of a profile: json, pprof, html ..." },
		RECORD_LIVE_SPECS(options),
		{ 0, "raw", OPTION_TEXT, &options->raw, "FILE",
		  "also write the raw samples as a perf.data file" },
		{ 0, "unwind", OPTION_CHOICE, &options->unwind, "auto|analysis|cfi|fp",
		  "where unwind rules come from (auto)" },
		{ 0, "workers", OPTION_POSITIVE, &options->n_workers, "N",
		  "threads that unwind (1; more where there are more than 16 CPUs)" },
		{ 0, "resolve", OPTION_FLAG, &options->resolves, NULL,
		  "add names, lines and loops to the profile (default)" },
		SYMBOL_SPECS(options->symbols),
		MIN_QUALITY_SPEC(options->min_quality),
		{ 0, "checkpoint", OPTION_SECONDS, &options->checkpoint, "SEC",
		  "save the profile so far at this interval, in seconds (30; 0 = never)" },
		{ 0, "ring-size", OPTION_SIZE, &options->ring_bytes, "BYTES",
		  "memory for all kernel buffers together" },
		MAX_MEMORY_SPEC(options->max_memory),
		{ 'q', "quiet", OPTION_FLAG, &options->is_quiet, NULL, "print errors only" },
		{ 'v', "verbose", OPTION_COUNT, &options->verbosity, NULL, "print more; repeatable" },
		{ 0 },
	};

	if (strcmp(line->command, "attach") == 0)
		record_hide(specs);
	line->specs = specs;
	return options_parse(line, argc, argv);
}

static int record_check_trace(const struct record_options *options, const char *command)
{
	if (!options->functions.values.n && !options->allocations)
		return cmd_usage(command, "give a function: -f NAME, or --alloc");
	if (options->functions.values.n && options->allocations)
		return cmd_usage(command, "--alloc and -f cannot be used together");
	if ((options->held || options->allocators.values.n) && !options->allocations)
		return cmd_usage(command, "--held and --alloc-function require --alloc");
	if (options->events.values.n && options->allocations)
		return cmd_usage(command, "--alloc and -e cannot be used together");
	if (options->every == 0 || options->every > TRACE_EVERY_MAX)
		return cmd_usage(command, "--every must be from 1 to %uM bytes", TRACE_EVERY_MAX >> 20);
	if (options->arg > 6)
		return cmd_usage(command, "--arg must be at most 6");
	return GO_ON;
}

static int record_parse_trace(struct record_options *options, struct command_line *line, int argc,
			      char **argv)
{
	const struct option_spec specs[] = {
		{ 'f', "function", OPTION_TEXTS, &options->functions, "NAME",
		  "function to trace: a name, a glob of names, FILE:NAME or FILE+0xVADDR; repeatable" },
		{ 'p', "pid", OPTION_LIST, &options->pid_texts, "PID", "trace these processes" },
		{ 'n', "name", OPTION_TEXTS, &options->names, "NAME", "trace every process of that name" },
		{ 0, "arg", OPTION_POSITIVE, &options->arg, "N", "sum up the N-th argument (1 to 6)" },
		{ 0, "ret", OPTION_FLAG, &options->adds_results, NULL, "sum up return values above 0" },
		{ 'e', "event", OPTION_LIST, &options->events, "EVENT",
		  "also count these events in each call, such as cycles or minor-faults (at most 4)" },
		{ 0, "alloc", OPTION_FLAG, &options->allocations, NULL,
		  "sample memory allocations instead of calls: bytes and calls by call path" },
		{ 0, "every", OPTION_SIZE, &options->every, "BYTES",
		  "with --alloc: average number of bytes between two samples (512k)" },
		{ 0, "held", OPTION_FLAG, &options->held, NULL,
		  "with --alloc: also show memory that was not freed by the end" },
		{ 0, "alloc-function", OPTION_TEXTS, &options->allocators, "NAME[:N]",
		  "with --alloc: another function that allocates; its N-th argument is the size (1)" },
		{ 'd', "duration", OPTION_DURATION, &options->duration, "SEC", "stop after this time" },
		{ 0, "max-overhead", OPTION_PERCENT, &options->max_overhead, "PCT",
		  "limit the cost of the probes to this share of one CPU; above that, only a sample of the\n"
		  "calls is measured (5; 0 = no limit)" },
		{ 0, "dry-run", OPTION_FLAG, &options->is_dry, NULL,
		  "show where probes would be set, what a call costs, and how often functions are\ncalled "
		  "(counted for half a second); record nothing" },
		{ 0, "refresh", OPTION_DURATION, &options->refresh, "SEC",
		  "show the results so far at this interval; on a terminal, the commands of --control\n"
		  "can be typed" },
		{ 0, "control", OPTION_TEXT, &options->control, "FIFO",
		  "read commands from this FIFO, which is created if missing: add NAME,\nremove NAME, reset, "
		  "write, quit" },
		{ 0, "exits", OPTION_CHOICE, &options->exits, "auto|code|return",
		  "where the end of a call is probed: at the function's return instructions, at its return\n"
		  "address, or whichever is possible and cheaper (auto)" },
		{ 0, "stack-size", OPTION_SIZE, &options->stack_size, "BYTES",
		  "bytes of stack to copy with each call (8k, at most 65528)" },
		{ 0, "inherit", OPTION_FLAG, &options->inherits, NULL,
		  "trace child processes, too (default)" },
		{ 'o', "output", OPTION_TEXT, &options->output, "FILE",
		  "profile to write (cpprof.data); a name such as x.html or x.svg writes that export "
		  "instead" },
		MODE_SPEC(options->mode),
		{ 0, "resolve", OPTION_FLAG, &options->resolves, NULL,
		  "add names, lines and loops (default)" },
		SYMBOL_SPECS(options->symbols),
		{ 'q', "quiet", OPTION_FLAG, &options->is_quiet, NULL, "print errors only" },
		{ 'v', "verbose", OPTION_COUNT, &options->verbosity, NULL, "print more; repeatable" },
		{ 0 },
	};

	line->specs = specs;
	int code = options_parse(line, argc, argv);
	return code == GO_ON ? record_check_trace(options, line->command) : code;
}

int record_options_parse(struct record_options *options, const char *command, int argc, char **argv)
{
	bool is_record = strcmp(command, "record") == 0;
	struct command_line line = { .command = command,
				     .usage = is_record ? record_usage : attach_usage,
				     .about = is_record ? record_about : attach_about,
				     .examples = is_record ? record_examples : attach_examples,
				     .rivals = record_rivals,
				     .stops_at_operand = true };

	*options = (struct record_options){ .stack_size = NO_SIZE,
					    .deep_bytes = SOURCE_DEEP_BYTES,
					    .checkpoint = 30,
					    .max_switches = SOURCE_MAX_SWITCHES,
					    .interval = 10,
					    .inherits = true,
					    .resolves = true,
					    .unwind = UNWIND_AUTO,
					    .symbols = SYMBOL_DEFAULTS };
	bool is_trace = strcmp(command, "trace") == 0;
	if (is_trace) {
		line.usage = trace_usage;
		line.about = trace_about;
		line.examples = trace_examples;
		options->stack_size = TRACE_STACK_SIZE;
		options->every = TRACE_EVERY;
		options->max_overhead = TRACE_OVERHEAD;
	}
	int code = is_trace ? record_parse_trace(options, &line, argc, argv)
			    : record_parse(options, &line, argc, argv);
	if (options->stack_size == NO_SIZE)
		options->stack_size = options->is_machine ? SOURCE_STACK_SIZE_MACHINE : SOURCE_STACK_SIZE;
	if (code == GO_ON)
		code = record_check(options, command);
	if (code == GO_ON)
		code = symbol_options_check(&options->symbols, command);
	options->exporter = options->format   ? exporter_named(options->format)
			    : options->output ? exporter_instead_of_profile(options->output)
					      : NULL;
	if (code == GO_ON && options->opens && options->exporter != &exporter_html &&
	    options->exporter != &exporter_svg)
		code = cmd_usage(command, "--open needs -o x.html");
	if (code == GO_ON)
		code = record_find_targets(options, &line);
	return code == GO_ON ? record_check_names(options, &line) : code;
}

void record_options_done(struct record_options *options)
{
	option_list_done(&options->pid_texts);
	option_list_done(&options->tid_texts);
	option_list_done(&options->names);
	option_list_done(&options->allow);
	option_list_done(&options->deny);
	option_list_done(&options->allocators);
	option_list_done(&options->events);
	option_list_done(&options->functions);
	option_list_done(&options->labels);
	symbol_options_done(&options->symbols);
	vec_done(&options->pids.pids);
	vec_done(&options->tids.pids);
}
