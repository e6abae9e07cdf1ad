/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_open: opens a file that is to be read because foreign bytes name it: a debug link, a perf map. A
 * fenced child cannot, and asks its parent, who opens no more than files of the kinds that there are.
 */
#pragma once

#include "base/bytes.h"

struct channel;
struct user;

/* Of a regular file, to be read: a device or a FIFO put in the way is not opened. Links below /proc/PID/root
 * lead inside that root. flags: 0 or O_NOFOLLOW. -errno if it fails, -ENOTBLK if it is no regular file. */
int file_open(const char *path, int flags);

/* In a fenced child: from now on by this channel. */
void file_open_through(struct channel *channel);
/*
 * The parent's part of it: an open file or a negative errno. What is no ELF file is opened with the
 * rights of the target's user (NULL: our own), so that a child that was taken over can read nothing that this
 * user could not.
 */
int file_open_serve(struct bytes request, const struct user *user);
