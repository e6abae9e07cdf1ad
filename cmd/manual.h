/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manual: generates manual pages from the same tables as --help, so that the two never differ. The build
 * calls `cpprof COMMAND --man-page`.
 */
#pragma once

#include "cmd/cmd.h"
#include "cmd/command_line.h"

/* Each prints to standard output and returns EXIT_OK. */
int manual_of_command(const struct command_line *line);
int manual_of_group(const struct command_group *group);
/* The options, one per line, for shell completion. */
int manual_list_options(const struct command_line *line);
/* The possible values of an option ("--view", "-f"), one per line; nothing if they are not known. */
int manual_list_values(const struct command_line *line, const char *option);
