/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings: the user's own defaults of options, from $XDG_CONFIG_HOME/cpprof/config.json (~/.config/...).
 *
 *     { "record": { "frequency": 499, "event": ["cycles", "instructions"] }, "inspect": { "cfg": { ... } } }
 *
 * An object for each command, with the long names of its options as keys. What the command line says wins.
 * The file is read only if it is a regular one of the effective user's that nobody else may write.
 */
#pragma once

#include "cmd/cmd.h"
#include "cmd/command_line.h"

/* `name`, of this group, is run next. Without it (in tests) there are no settings. */
void settings_enter(const struct command_group *group, const char *name);

/* What the command line has set, by where it went: two names of one option are one. */
struct settings_given {
	VEC(const void *) variables;
};

/* Sets each option that the file names and the command line did not. Negative: go on; else an exit code, and
 * a mistake was printed. */
int settings_apply(const struct command_line *line, const struct settings_given *given);
