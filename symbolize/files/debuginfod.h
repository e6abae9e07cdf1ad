/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debuginfod: debug files from a server. Uses libdebuginfod, loaded at run time, or else runs
 * debuginfod-find. Only if the user has named servers in DEBUGINFOD_URLS: cpprof never uses the network on
 * its own.
 */
#pragma once

#include <stdbool.h>

#include "symbolize/files/debuginfod_ways.h"

/* Is DEBUGINFOD_URLS set? */
bool debuginfod_is_wanted(void);
/*
 * Path of a file with the debug information of a build-id; free() it. -ENOENT if no server has it, -ENOPKG if
 * neither the library nor the command is installed, another negative errno if no server answered: it is given
 * up if it sends nothing for 20 s (DEBUGINFOD_TIMEOUT). progress may be NULL.
 */
int debuginfod_find(const struct build_id *build_id, debuginfod_progress progress, void *context, char **ret);
