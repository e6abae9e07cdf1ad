/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main: finds the command and runs it.
 */
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "binary/isa/isa.h"
#include "cmd/cmd.h"
#include "cmd/group.h"
#include "cmd/habits.h"

/* In the order in which a user needs them. */
static const struct command commands[] = {
	{ "record", cmd_record, "run a command and profile it" },
	{ "attach", cmd_attach, "profile a running process" },
	{ "trace", cmd_trace, "measure every call of chosen functions" },
	{ "paths", cmd_paths, "count the execution paths through chosen functions" },
	{ "daemon", cmd_daemon, "profile the whole machine continuously, into a database" },
	{ "epochs", cmd_epochs, "list the recordings in such a database" },
	{ "list", cmd_list, "list the events that this machine can count" },
	{ "import", cmd_import, "make a profile from a perf.data recording" },
	{ "report", cmd_report,
	  "show a profile: the hot functions and call paths, with confidence intervals" },
	{ "resolve", cmd_resolve, "add names, lines and loops to a profile" },
	{ "export", cmd_export, "convert a profile for dashboards and other tools" },
	{ "struct", cmd_struct, "show the loops and inlined calls of a binary" },
	{ "annotate", cmd_annotate, "show source and instructions of one function with their costs" },
	{ "merge", cmd_merge, "merge profiles into one" },
	{ "diff", cmd_diff, "compare runs: what changed, and which changes exceed noise" },
	{ "stats", cmd_stats, "show variation between runs, threads, processes or ranks" },
	{ "check", cmd_check, "check that a profile is complete and consistent" },
	{ "schema", cmd_schema, "print the JSON Schema of the json export" },
	{ "inspect", cmd_inspect,
	  "print an intermediate result, such as control-flow graphs or unwound stacks" },
	{ "verify", cmd_verify, "compare cpprof's results with independent references" },
	{ NULL, NULL, NULL },
};

static void print_version(void)
{
	printf("cpprof %s\n", CPPROF_VERSION);
	printf("targets: x86-64, AArch64; x86-64 decoder: %s\n", x86_decoder_name());
}

/* Output counts only if it was written; a reader that closes the pipe early is not an error. */
static int main_end(int code)
{
	errno = 0;
	bool failed = fflush(stdout) != 0 || ferror(stdout);

	if (!failed || errno == EPIPE || code != EXIT_OK)
		return code;
	fprintf(stderr, "cpprof: cannot write to standard output%s%s\n", errno ? ": " : "",
		errno ? strerror(errno) : "");
	return EXIT_FAULT;
}

#define LARGE (1 << 20)

static void do_nothing(int number)
{
	(void)number;
}

/*
 * A write beyond ulimit -f is an error to be reported, and must not kill the process. The signal is handled,
 * not ignored: ignoring would be inherited by commands that we run.
 */
static void outlive_file_limit(void)
{
	struct sigaction action;

	if (sigaction(SIGXFSZ, NULL, &action) == 0 && action.sa_handler == SIG_DFL)
		sigaction(SIGXFSZ, &(struct sigaction){ .sa_handler = do_nothing, .sa_flags = SA_RESTART },
			  NULL);
}

int main(int argc, char **argv)
{
	static const struct command_group cpprof = {
		"cpprof",
		"COMMAND",
		"A call-path profiler for Linux that works from outside the process: no recompilation, no "
		"preload, no frame\n"
		"pointers and no unwind tables needed. It shows loops and inlined calls in the call tree.",
		commands,
		habits_answer_command,
	};

	/* Large arrays are returned to the system when they are freed; by default, malloc keeps larger and
	 * larger ones. */
	mallopt(M_MMAP_THRESHOLD, LARGE);
	outlive_file_limit();
	if (argc > 1 && (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)) {
		print_version();
		return EXIT_OK;
	}
	return main_end(group_run(&cpprof, argc, argv));
}
