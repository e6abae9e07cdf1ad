/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group: commands that share a first word: cpprof itself, `cpprof inspect`, `cpprof verify`. Runs the given
 * one; prints their list, their manual page and words for shell completion.
 */
#pragma once

#include "cmd/cmd.h"

int group_run(const struct command_group *group, int argc, char **argv);
