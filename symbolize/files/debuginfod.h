/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debuginfod: debug files from a server. libdebuginfod is loaded at run time, else debuginfod-find is run,
 * and only when the user has named servers in DEBUGINFOD_URLS; cpprof never asks the network on its own.
 */
#pragma once

#include <stdbool.h>

#include "symbolize/files/debuginfod_ways.h"

/* DEBUGINFOD_URLS is set. */
bool debuginfod_is_wanted(void);
/*
 * Path of a file with the debug information of a build-id; free() it. -ENOENT if no server has it, -ENOPKG if
 * neither the library nor the command is installed, another negative errno if none could be asked: a server
 * that sends nothing for 20 s (DEBUGINFOD_TIMEOUT) is given up. progress may be NULL.
 */
int debuginfod_find(const struct build_id *build_id, debuginfod_progress progress, void *context, char **ret);
