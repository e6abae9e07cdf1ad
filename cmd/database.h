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

#define DATABASE_SPECS(choice)                                                                      \
	{ 0,           "database",                                                                  \
	  OPTION_TEXT, &(choice).directory,                                                         \
	  "DIR",       "what `cpprof daemon` has recorded, instead of a file" },                    \
		{ 0,           "since",                                                             \
		  OPTION_TEXT, &(choice).since,                                                     \
		  "TIME",      "from then on: an age (3h, 2d) or a date (2026-01-31T12:00) (1h)" }, \
	{                                                                                           \
		0, "until", OPTION_TEXT, &(choice).until, "TIME", "up to then (now)"                \
	}

/* Where a command has no filters of its own. */
#define DATABASE_PROCESS_SPEC(choice)                                     \
	{                                                                 \
		0, "process", OPTION_TEXT, &(choice).process, "PID|NAME", \
			"with --database: only this process"              \
	}

/* Milliseconds since 1970; false: not a time. */
bool database_parse_time(const char *text, uint64_t now_ms, uint64_t *ret);
/* Negative: go on, and *file is the name of the stretch, if there is one; *ret is its memory. Else the exit
 * code of a complaint. */
int database_choose(const struct database_choice *choice, const char *command, bool has_file,
		    const char **file, char **ret);
/* The file or folder that such a name, or that of a profile, stands for; to be freed. */
char *database_place(const char *path);
/* As profile_read; of such a name, too. Files that could not be read are said on standard error. */
int database_read(const char *path, struct profile **ret, struct diag *diag);
