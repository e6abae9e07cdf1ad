/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manual: manual pages from the tables that --help comes from, so that the two never differ. The build
 * calls `cpprof COMMAND --man-page`.
 */
#pragma once

#include "cmd/cmd.h"
#include "cmd/command_line.h"

/* Each prints to standard output and returns EXIT_OK. */
int manual_of_command(const struct command_line *line);
int manual_of_group(const struct command_group *group);
/* The options, one a line, for the shell to complete. */
int manual_list_options(const struct command_line *line);
/* What may stand behind an option ("--view", "-f"), a word a line; nothing if that is not known. */
int manual_list_values(const struct command_line *line, const char *option);
