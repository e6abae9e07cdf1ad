/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_open: opens a file for reading whose name comes from foreign input, such as a debug link or a perf
 * map. A fenced child cannot open it itself and asks its parent, which opens only files of the expected
 * kinds.
 */
#pragma once

#include "base/bytes.h"

struct channel;
struct user;

/* Opens a regular file for reading; devices and FIFOs are not opened. Links below /proc/PID/root are resolved
 * within that root. flags: 0 or O_NOFOLLOW. -errno if it fails, -ENOTBLK if it is not a regular file. */
int file_open(const char *path, int flags);

/* In a fenced child: from now on, files are opened through this channel. */
void file_open_through(struct channel *channel);
/*
 * The parent's part: returns an open file or a negative errno. Files that are not ELF files are opened with
 * the permissions of the target's user (NULL: our own), so that a compromised child cannot read more than
 * this user could.
 */
int file_open_serve(struct bytes request, const struct user *user);
