/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_machine: what `record` is told of the whole machine: rules, and clocks of CPUs.
 */
#pragma once

#include "cmd/record_options.h"

/* Checks what was asked for, and chooses the clock where that is left to us. -1: go on; else the exit code.
 */
int record_machine_check(struct record_options *options, const struct command_line *line);
