/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd: what all commands need: how one ends badly (a message in house form, the exit code that fits) and what was
 * typed.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/text.h"

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

	fprintf(stderr, "cpprof%s%s: ", command[0] ? " " : "", command);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "\n        try: cpprof%s%s --help\n", command[0] ? " " : "", command);
	return EXIT_USAGE;
}

char *cmd_command_line(int argc, char **argv)
{
	struct text text = { 0 };

	text_printf(&text, "cpprof");
	for (int i = 0; i < argc; i++)
		text_printf(&text, " %s", argv[i]);
	return text.at;
}
