/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_open: opens a file for reading whose name comes from foreign input, such as a debug link or a perf
 * map. A fenced child cannot open it itself and asks its parent, which opens only files of the expected
 * kinds.
 */
#pragma once

#include <stdbool.h>

#include "base/bytes.h"

struct channel;
struct stat;
struct user;

/* Opens a regular file for reading; devices and FIFOs are not opened. Links below /proc/PID/root are resolved
 * within that root. flags: 0 or O_NOFOLLOW. -errno if it fails, -ENOTBLK if it is not a regular file. */
int file_open(const char *path, int flags);

/* From now on, may_use is asked before a path below "/proc/PID/root" is opened; if it refuses, the file does
 * not exist. It is given that folder, which is already open: so the answer holds for what is opened. */
void file_open_guard_roots(bool (*may_use)(const char *root));

/* In a fenced child: from now on, files are opened through this channel. */
void file_open_through(struct channel *channel);
struct file_open_rules {
	const struct user *user; /* the target's; NULL: ourselves */
	/* Whether an ELF file that this user cannot read is nevertheless one that the child was to read. May
	 * be NULL: none is. */
	bool (*is_known)(const void *context, const char *path, const struct stat *st);
	const void *context;
};
/*
 * The parent's part: returns an open file or a negative errno. Files are opened with the permissions of the
 * target's user, so that a compromised child cannot read more than this user could. Core files and files of
 * procfs, except for the status and stat of a process, are refused.
 */
int file_open_serve(struct bytes request, const struct file_open_rules *rules);
