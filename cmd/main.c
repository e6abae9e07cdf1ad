/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main: finds the command and runs it.
 */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/vec.h"
#include "cmd/cmd.h"
#include "cmd/options.h"

/* In the order a user meets them. */
static const struct command commands[] = {
	{ "record", cmd_record, "run a command and profile it" },
	{ "attach", cmd_attach, "profile what is running" },
	{ "report", cmd_report, "show a profile: what dominates, on which path, how sure" },
	{ "check", cmd_check, "is a profile whole and consistent" },
	{ "export", cmd_export, "a profile in another form, for dashboards and other tools" },
	{ "struct", cmd_struct, "loops and inlined calls of a binary" },
	{ "schema", cmd_schema, "the JSON Schema of the json export" },
	{ "inspect", cmd_inspect, "print any intermediate product of the pipeline" },
	{ "verify", cmd_verify, "hold what cpprof derives against the truth" },
	{ NULL, NULL, NULL },
};

static int print_help(void)
{
	printf("usage: cpprof COMMAND [options]\n\n"
	       "A call-path profiler that works from outside the process.\n\ncommands:\n");
	for (const struct command *command = commands; command->name; command++)
		printf("  %-10s %s\n", command->name, command->summary);
	printf("\n`cpprof COMMAND --help` says more about each.\n");
	return EXIT_OK;
}

static int unknown_command(const char *name)
{
	VEC(const char *) names = { 0 };

	for (const struct command *command = commands; command->name; command++)
		vec_push(&names, command->name);

	const char *near = options_nearest(name, names.at, names.n);
	vec_done(&names);
	if (near)
		return cmd_usage("", "unknown command '%s'; did you mean '%s'?", name, near);
	return cmd_usage("", "unknown command '%s'", name);
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "--help";

	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
		return print_help();
	if (strcmp(name, "--version") == 0) {
		printf("cpprof %s\n", CPPROF_VERSION);
		return EXIT_OK;
	}
	for (const struct command *command = commands; command->name; command++)
		if (strcmp(command->name, name) == 0)
			return command->run(argc - 1, argv + 1);
	return unknown_command(name);
}
