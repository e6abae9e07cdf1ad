/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd: shared by all commands: error messages with the matching exit code, and the command line as typed.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "report/style.h"

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

void cmd_print_name(FILE *to, const char *name)
{
	const struct style style = { .utf8 = true };
	CLEANUP(text_done) struct text safe = { 0 };

	style_safe(&safe, &style, name);
	fputs(safe.at ? safe.at : "", to);
}

/* Of all texts, only hints have line breaks of their own: in any other, one comes from a file name, and would
 * look like a message of ours. */
static void print_hint(const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n");
		CLEANUP(freep) char *line = alloc_text_n(text, len);
		cmd_print_name(stderr, line);
		fputs(text[len] ? "\n" : "", stderr);
		text += len + (text[len] == '\n');
	}
}

void cmd_say(const char *sentence)
{
	fprintf(stderr, "cpprof: ");
	cmd_print_name(stderr, sentence);
	fprintf(stderr, "\n");
}

int cmd_fail(const struct diag *diag)
{
	fprintf(stderr, "cpprof: ");
	cmd_print_name(stderr, diag->what);
	fprintf(stderr, "%s", diag->why[0] ? ": " : "");
	cmd_print_name(stderr, diag->why);
	fprintf(stderr, "%s", diag->hint[0] ? "\n        " : "");
	print_hint(diag->hint);
	fprintf(stderr, "\n");
	return exit_code_of(diag->error);
}

int cmd_usage(const char *command, const char *format, ...)
{
	CLEANUP(freep) char *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	fprintf(stderr, "cpprof%s%s: ", command[0] ? " " : "", command);
	cmd_print_name(stderr, text ? text : format);
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
