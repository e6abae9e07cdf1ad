/* SPDX-License-Identifier: Apache-2.0 */
/*
 * habits: options and commands that users of perf may type. Those with the same meaning are accepted; for
 * others, a message names the equivalent.
 */
#pragma once

#include "cmd/command_line.h"

/* Variables for options that request what is done anyway. */
struct habits {
	bool flag;
	const char *text;
};

/* Rows for the option tables of record and attach, and of report and annotate; none of them is listed. */
#define HABIT_RECORD_SPECS(habits, frequency)                                   \
	{ 'g', NULL, OPTION_FLAG, &(habits).flag, NULL, NULL },                 \
		{ 0, "call-graph", OPTION_TEXT, &(habits).text, "KIND", NULL }, \
	{                                                                       \
		0, "freq", OPTION_POSITIVE, &(frequency), "HZ", NULL            \
	}

#define HABIT_REPORT_SPECS(habits, file)                                        \
	{ 'i', "input", OPTION_TEXT, &(file), "FILE", NULL },                   \
		{ 0, "stdio", OPTION_FLAG, &(habits).flag, NULL, NULL },        \
		{ 'g', NULL, OPTION_FLAG, &(habits).flag, NULL, NULL },         \
	{                                                                       \
		'n', "show-nr-samples", OPTION_FLAG, &(habits).flag, NULL, NULL \
	}

/* The answer to an option as typed ("-a", "--all-cpus") that the command does not have; NULL if there is
 * none. */
const char *habits_answer_option(const char *command, const char *option);

/* For a word that is not a command: prints what was probably meant. Negative if there is no answer, otherwise
 * the exit code. */
int habits_answer_command(const char *word);
