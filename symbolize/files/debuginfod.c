/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/files/debuginfod.h"

#include <errno.h>
#include <stdlib.h>

bool debuginfod_is_wanted(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	return urls && urls[0];
}

int debuginfod_find(const struct build_id *build_id, debuginfod_progress progress, void *context, char **ret)
{
	const struct debuginfod_watch watch = { progress, context };

	setenv("DEBUGINFOD_TIMEOUT", DEBUGINFOD_TIMEOUT_SECONDS, 0);
#ifndef CPPROF_STATIC
	int error = debuginfod_library_find(build_id, &watch, ret);
	if (error != -ENOPKG)
		return error;
#endif
	return debuginfod_command_find(build_id, &watch, ret);
}
