/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_line: a command's options as one table, which is used for parsing, --help and the manual page.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"

enum option_kind {
	OPTION_FLAG,     /* bool */
	OPTION_COUNT,    /* int: how often it was given (-v -v) */
	OPTION_TEXT,     /* const char *: borrowed from argv */
	OPTION_LIST,     /* struct option_list: repeatable, each value split at commas outside braces */
	OPTION_TEXTS,    /* struct option_list: repeatable, values taken whole */
	OPTION_RULES,    /* the same, each OLD=NEW */
	OPTION_NUMBER,   /* uint64_t, decimal or 0x */
	OPTION_POSITIVE, /* the same, and not 0 */
	OPTION_SIZE,     /* uint64_t bytes, with k, m, g for powers of 1024 */
	OPTION_SECONDS,  /* double, with ms, s, m, h; plain = seconds */
	OPTION_DURATION, /* the same, and not 0 */
	OPTION_PERCENT,  /* double from 0 to 100 */
	OPTION_QUALITY,  /* struct quality_bar: "99", or "complete=99,seen=95" */
	OPTION_MODE,     /* mode_t: the permissions of a file, octal */
	OPTION_CHOICE,   /* int: position in `value`, which lists the words: "text|json|md" */
};

struct option_list {
	VEC(char *) values; /* owned */
};

struct option_spec {
	char letter;      /* 0 = none */
	const char *name; /* long name without dashes; NULL ends the table unless there is a letter */
	enum option_kind kind;
	void *to;          /* a variable of the type that belongs to the kind */
	const char *value; /* placeholder for --help, or the words of a choice */
	const char *help;  /* NULL = works, but is not listed */
};

/* Options that cannot be used together: if one is on the command line, the other is not taken from the
 * settings. */
struct option_rivals {
	const char *one, *other; /* long names; NULL ends a table */
};

struct command_line {
	const char *command;
	const char *usage;    /* after "cpprof COMMAND": "[options] -- CMD [ARGS]" */
	const char *about;    /* one paragraph */
	const char *examples; /* whole lines, or NULL */
	const struct option_spec *specs;
	const struct option_rivals *rivals; /* NULL = none */
	bool stops_at_operand; /* what follows the first operand is not parsed (a command to run) */
	/* Outcome: */
	char **operands; /* points into argv, which is rearranged; NULL-terminated like argv */
	int n_operands;
};
