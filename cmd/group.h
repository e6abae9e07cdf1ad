/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group: commands that share a first word: cpprof itself, `cpprof inspect`, `cpprof verify`. Finds the
 * one that was asked for; prints their list, their manual page and what a shell may complete.
 */
#pragma once

#include "cmd/cmd.h"

int group_run(const struct command_group *group, int argc, char **argv);
