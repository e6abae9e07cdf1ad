/* SPDX-License-Identifier: Apache-2.0 */
/*
 * database: a time range of a database, wherever a command takes a profile.
 *
 * It is named "DIR@SINCE..UNTIL", or "DIR@SINCE..UNTIL#PROCESS"; the options --database, --since, --until and
 * --process make such a name. Times are ages ("3h", "2d"), dates ("2026-01-31", "2026-01-31T12:00") or "now".
 */
#pragma once

#include "base/diag.h"
#include "cmd/command_line.h"
#include "profile/profile.h"

struct database_choice {
	const char *directory, *since, *until, *process;
};

#define DATABASE_SPECS(choice)                                                                                 \
	{ 0,           "database",                                                                             \
	  OPTION_TEXT, &(choice).directory,                                                                    \
	  "DIR",       "read a database written by `cpprof daemon` instead of a file" },                       \
		{ 0,           "since",                                                                        \
		  OPTION_TEXT, &(choice).since,                                                                \
		  "TIME",      "start of the time range: an age (3h, 2d) or a date (2026-01-31T12:00) (1h)" }, \
	{                                                                                                      \
		0, "until", OPTION_TEXT, &(choice).until, "TIME", "end of the time range (now)"                \
	}

/* For commands without other filters. */
#define DATABASE_PROCESS_SPEC(choice)                                     \
	{                                                                 \
		0, "process", OPTION_TEXT, &(choice).process, "PID|NAME", \
			"with --database: only this process"              \
	}

/* Milliseconds since 1970; false: not a time. */
bool database_parse_time(const char *text, uint64_t now_ms, uint64_t *ret);
/* Negative: continue; *file is the name of the time range, if one was given, and *ret its memory. Otherwise
 * the exit code; the error has been printed. */
int database_choose(const struct database_choice *choice, const char *command, bool has_file,
		    const char **file, char **ret);
/* The file or directory that such a name, or that of a profile, refers to; to be freed. */
char *database_place(const char *path);
/* Like profile_read, but also accepts such a name. Files that could not be read are reported on standard
 * error. */
int database_read(const char *path, struct profile **ret, struct diag *diag);
