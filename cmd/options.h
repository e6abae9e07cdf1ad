/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options: a command's options as one table, which is used for parsing and --help.
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
 * Variables must have their default values before parsing. -h, --help and --no-config always exist. `--name
 * VALUE`, `--name=VALUE`, `-nVALUE`, `-n VALUE` and clustered flags work; every flag has a `--no-name`.
 * Options that are not given are taken from the user's settings (settings.h).
 */
#pragma once

#include "cmd/command_line.h"

/* The permissions of the output file; mode_t, 0 = only the owner. */
#define MODE_SPEC(variable)                                                                \
	{                                                                                  \
		0, "mode", OPTION_MODE, &(variable), "OCTAL",                              \
			"permissions of the file, such as 644 (600: only you can read it)" \
	}

/* Memory for the calling context tree; uint64_t, 0 = the default. */
#define MAX_MEMORY_SPEC(variable)                                                                         \
	{                                                                                                 \
		0, "max-memory", OPTION_SIZE, &(variable), "BYTES",                                       \
			"memory for the call tree (a quarter of the machine, at most 1g);\nbeyond that, " \
			"rare "                                                                           \
			"call paths are folded into <other>"                                              \
	}

/* The quality that a profile must have for exit code 0; struct quality_bar. */
#define MIN_QUALITY_SPEC(variable)                                                                          \
	{                                                                                                   \
		0, "min-quality", OPTION_QUALITY, &(variable), "N",                                         \
			"exit 6 if fewer than N % of the stacks are complete;\ncomplete=99,seen=95: or if " \
			"less than 95 % of the CPU time was sampled"                                        \
	}

void option_list_done(struct option_list *list);

/* Negative: continue. Otherwise the exit code to return: 0 after --help, EXIT_USAGE after an error that was
 * printed. */
int options_parse(struct command_line *line, int argc, char **argv);
