/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debuginfod: debug files from a server. libdebuginfod is loaded at run time, and only when the
 * user has named servers in DEBUGINFOD_URLS; cpprof never asks the network on its own.
 */
#pragma once

#include <stdbool.h>

#include "binary/image.h"

/* DEBUGINFOD_URLS is set. */
bool debuginfod_is_wanted(void);
/* Path of a file with the debug information of a build-id; free() it. Negative errno if there is none. */
int debuginfod_find(const struct build_id *build_id, char **ret);
