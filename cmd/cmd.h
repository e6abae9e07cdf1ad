/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd: one function per command. Only this folder prints errors and exits.
 */
#pragma once

#include <stdio.h>

#include <stddef.h>

#include "base/diag.h"

/* What the shell sees; see the table in the README. */
enum exit_code {
	EXIT_OK = 0,
	EXIT_FAULT = 1,
	EXIT_USAGE = 2,
	EXIT_NOT_PERMITTED = 3,
	EXIT_NO_PROCESS = 4,
	EXIT_NO_SAMPLES = 5,
	EXIT_UNTRUSTWORTHY = 6,
	EXIT_REGRESSION = 7,
};

struct command {
	const char *name;
	int (*run)(int argc, char **argv); /* argv[0] is the command's name; returns an exit code */
	const char *summary;               /* one line for `cpprof --help` */
};

/* Commands that share a first word. */
struct command_group {
	const char *name;               /* "cpprof inspect" */
	const char *word;               /* placeholder for one of them: "PRODUCT" */
	const char *about;              /* one sentence */
	const struct command *commands; /* ended by a NULL name */
	/* Answers an unknown word; negative = no answer. NULL = none. */
	int (*answer)(const char *word);
};

/* Names may come from foreign files: escape sequences are made harmless. */
void cmd_print_name(FILE *to, const char *name);
/* Prints "cpprof: ..." on standard error; the sentence may contain such names. */
void cmd_say(const char *sentence);
/* Prints the diag in the standard form, and returns the exit code for its errno. */
int cmd_fail(const struct diag *diag);
/* Prints "cpprof record: ..." and where to find help; returns EXIT_USAGE. */
__attribute__((format(printf, 2, 3))) int cmd_usage(const char *command, const char *format, ...);
/* The command line as typed, in one line; allocated. Must be called before parsing, which rearranges it. */
char *cmd_command_line(int argc, char **argv);

/* The commands, each in its own file, each with a row in main.c. */
int cmd_attach(int argc, char **argv);
int cmd_trace(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_annotate(int argc, char **argv);
int cmd_daemon(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_epochs(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_inspect(int argc, char **argv);
int cmd_import(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_paths(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_resolve(int argc, char **argv);
int cmd_schema(int argc, char **argv);
int cmd_stats(int argc, char **argv);
int cmd_struct(int argc, char **argv);
int cmd_verify(int argc, char **argv);
