/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recording: the pipeline of `record` and `attach`: events in, stacks unwound, profile grown, written
 * every few seconds and at the end, whatever ends it.
 */
#pragma once

#include "cmd/recording_options.h"

/* mode: "record" or "attach". command_line: as the user typed it. Returns an exit code. */
int recording_run(struct recording_options *options, const char *mode, const char *command_line);
