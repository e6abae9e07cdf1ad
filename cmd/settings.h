/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings: the user's default values of options, from $XDG_CONFIG_HOME/cpprof/config.json (~/.config/...).
 *
 *     { "record": { "frequency": 499, "event": ["cycles", "instructions"] }, "inspect": { "cfg": { ... } } }
 *
 * There is an object for each command, with the long names of its options as keys. The command line takes
 * precedence. The file is read only if it is a regular file that belongs to the effective user and that
 * nobody else can write.
 */
#pragma once

#include "cmd/cmd.h"
#include "cmd/command_line.h"

/* To be called when the command `name` of this group is run. Without this call (in tests) there are no
 * settings. */
void settings_enter(const struct command_group *group, const char *name);

/* What the command line has set, by variable: two names of one option are the same. */
struct settings_given {
	VEC(const void *) variables;
};

/* Sets each option that is in the file and was not given on the command line. Negative: continue; otherwise
 * an exit code, and the error was printed. */
int settings_apply(const struct command_line *line, const struct settings_given *given);
