/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main: finds the command and runs it.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "cmd/cmd.h"

static const struct command commands[] = {
	{ NULL, NULL, NULL },
};

static int exit_code_of(int error)
{
	switch (-error) {
	case EACCES:
	case EPERM:
		return EXIT_NOT_PERMITTED;
	case ESRCH:
		return EXIT_NO_PROCESS;
	default:
		return EXIT_FAULT;
	}
}

int cmd_fail(const struct diag *diag)
{
	fprintf(stderr, "cpprof: %s%s%s\n", diag->what, diag->why[0] ? ": " : "", diag->why);
	if (diag->hint[0])
		fprintf(stderr, "        %s\n", diag->hint);
	return exit_code_of(diag->error);
}

int cmd_usage(const char *command, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "cpprof %s: ", command);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "\n        try: cpprof %s --help\n", command);
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "--help";

	for (const struct command *command = commands; command->name; command++)
		if (strcmp(command->name, name) == 0)
			return command->run(argc - 1, argv + 1);
	return cmd_usage("", "unknown command '%s'", name);
}
