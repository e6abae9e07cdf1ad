/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_refused: why there is no perf event, and what would help.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "collector/live/perf_events.h"
#include "collector/process/target.h"

/* Debian's kernels have a level 3, at which only root may do anything. */
static void events_explain_denial(struct diag *diag)
{
	CLEANUP(freep) char *text = target_read_file("/proc/sys/kernel/perf_event_paranoid", NULL);
	long level = text ? strtol(text, NULL, 10) : 2;

	diag_why(diag, "permission denied");
	if (geteuid() != 0 && level > 2)
		diag_hint(diag,
			  "kernel.perf_event_paranoid is %ld; try: sudo cpprof ...\n"
			  "        or: sudo sysctl kernel.perf_event_paranoid=2",
			  level);
	else
		diag_hint(diag,
			  "a container or a security module forbids perf_event%s; with docker, podman: "
			  "--cap-add PERFMON",
			  geteuid() == 0 ? " even to root" : "");
}

int perf_events_refused(struct diag *diag, int error, const char *what, ...)
{
	char text[256];
	va_list args;

	va_start(args, what);
	vsnprintf(text, sizeof(text), what, args);
	va_end(args);
	if (error == -EPERM)
		error = -EACCES;
	diag_set(diag, error, "%s", text);
	if (error == -EACCES)
		events_explain_denial(diag);
	else if (error == -ENOSYS)
		diag_why(diag, "this kernel has no perf events, or a container hides them");
	return error;
}
