/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group: commands that share a first word: cpprof itself, `cpprof inspect`, `cpprof verify`. Finds the
 * one that was asked for; prints their list, their manual page and what a shell may complete.
 */
#pragma once

#include "cmd/cmd.h"

struct command_group {
	const char *name;               /* "cpprof inspect" */
	const char *word;               /* what stands for one of them: "PRODUCT" */
	const char *about;              /* one sentence */
	const struct command *commands; /* ended by a NULL name */
};

int group_run(const struct command_group *group, int argc, char **argv);
