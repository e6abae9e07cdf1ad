/* SPDX-License-Identifier: Apache-2.0 */
#include "base/process_start.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file_open.h"

#define START_AFTER_NAME 20 /* the place of the start in /proc/PID/stat */

uint64_t process_start(pid_t pid)
{
	char path[64], stat[1024];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	CLEANUP(close_fd) int fd = file_open(path, 0);
	ssize_t n = fd >= 0 ? read(fd, stat, sizeof(stat) - 1) : 0;
	if (n <= 0)
		return 0;
	stat[n] = 0;
	const char *at = strrchr(stat, ')'); /* the name before it may contain anything */
	for (int i = 0; at && i < START_AFTER_NAME; i++)
		at = strchr(at + 1, ' ');
	uint64_t start = at ? strtoull(at, NULL, 10) : 0;
	return at && !start ? 1 : start;
}

/* Set once, before there are threads. */
static struct {
	pid_t pid;
	uint64_t start;
	char root[32];
} guarded;

static bool process_may_use_root(const char *root)
{
	return strcmp(root, guarded.root) != 0 || process_start(guarded.pid) == guarded.start;
}

void process_guard_root(pid_t pid, uint64_t start)
{
	guarded.pid = pid;
	guarded.start = start;
	snprintf(guarded.root, sizeof(guarded.root), "/proc/%d/root", (int)pid);
	file_open_guard_roots(process_may_use_root);
}
