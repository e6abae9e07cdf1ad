/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options: a command's options as one table, from which parsing and --help both come.
 *
 *     struct option_spec specs[] = {
 *             { 'F', "frequency", OPTION_POSITIVE, &frequency, "HZ", "samples a second" },
 *             { 0, "inherit", OPTION_FLAG, &inherit, NULL, "follow new threads and children" },
 *             { 0 },
 *     };
 *     struct command_line line = { .command = "record", .usage = "[options] -- CMD", .specs = specs };
 *     int code = options_parse(&line, argc, argv);
 *     if (code >= 0)
 *             return code;
 *
 * Variables hold their defaults before parsing. -h and --help are always there. `--name VALUE`,
 * `--name=VALUE`, `-nVALUE`, `-n VALUE` and clustered flags work; every flag has its `--no-name`.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"

enum option_kind {
	OPTION_FLAG,     /* bool */
	OPTION_COUNT,    /* int: how often it was given (-v -v) */
	OPTION_TEXT,     /* const char *: borrowed from argv */
	OPTION_LIST,     /* struct option_list: repeatable, each value split at commas */
	OPTION_TEXTS,    /* struct option_list: repeatable, values taken whole */
	OPTION_RULES,    /* the same, each OLD=NEW */
	OPTION_NUMBER,   /* uint64_t, decimal or 0x */
	OPTION_POSITIVE, /* the same, and not 0 */
	OPTION_SIZE,     /* uint64_t bytes, with k, m, g for powers of 1024 */
	OPTION_SECONDS,  /* double, with ms, s, m, h; plain = seconds */
	OPTION_DURATION, /* the same, and not 0 */
	OPTION_PERCENT,  /* double from 0 to 100 */
	OPTION_CHOICE,   /* int: position in `value`, which lists the words: "text|json|md" */
};

struct option_list {
	VEC(char *) values; /* owned */
};
void option_list_done(struct option_list *list);

struct option_spec {
	char letter;      /* 0 = none */
	const char *name; /* long name without dashes; NULL ends the table unless there is a letter */
	enum option_kind kind;
	void *to;          /* a variable of the type the kind states */
	const char *value; /* placeholder for --help, or the words of a choice */
	const char *help;  /* NULL = works, but is not listed */
};

struct command_line {
	const char *command;
	const char *usage;    /* behind "cpprof COMMAND": "[options] -- CMD [ARGS]" */
	const char *about;    /* one paragraph */
	const char *examples; /* whole lines, or NULL */
	const struct option_spec *specs;
	bool stops_at_operand; /* what follows the first operand belongs to somebody else (a command to run)
				*/
	/* Outcome: */
	char **operands; /* points into argv, which is rearranged; NULL-terminated as argv is */
	int n_operands;
};

/* Negative: go on. Otherwise the exit code to return: 0 after --help, EXIT_USAGE after a mistake that was
 * printed. */
int options_parse(struct command_line *line, int argc, char **argv);

/* The name most like `wanted`, or NULL if none is close. */
const char *options_nearest(const char *wanted, const char *const *names, size_t n);
