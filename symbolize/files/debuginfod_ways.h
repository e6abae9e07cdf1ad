/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debuginfod_ways: the two ways to query a server. Both use the environment variables and the file cache of
 * the library.
 *
 * A statically linked cpprof has only the second: a library that it loaded would bring a second libc, of
 * whatever version, into the process.
 */
#pragma once

#include "binary/elf/image.h"

#define DEBUGINFOD_TIMEOUT_SECONDS "20" /* without progress; the library's own default is 90 */

/* Bytes received, and in total; total 0 = not known yet. */
typedef void (*debuginfod_progress)(void *context, uint64_t done, uint64_t total);

struct debuginfod_watch {
	debuginfod_progress progress; /* may be NULL */
	void *context;
};

/* Both like debuginfod_find; -ENOPKG: this way is not installed. */

/* With libdebuginfod, loaded into the process. */
int debuginfod_library_find(const struct build_id *build_id, const struct debuginfod_watch *watch,
			    char **ret);
/* With debuginfod-find, run as a child process. */
int debuginfod_command_find(const struct build_id *build_id, const struct debuginfod_watch *watch,
			    char **ret);
