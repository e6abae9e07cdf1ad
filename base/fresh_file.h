/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fresh_file: a file that is written under a temporary name and renamed when it is complete, so that a reader
 * sees the old or the new file, never an incomplete one. Under sudo it belongs to the user who called sudo.
 *
 * Another user cannot redirect it: the temporary file is always newly created, and the rename follows no
 * links. Links in the name itself are resolved before, by fresh_file_follow.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/diag.h"

#define FRESH_PRIVATE 0             /* only the owner reads and writes it */
#define FRESH_BY_UMASK ((mode_t)-1) /* according to the umask */

struct fresh_file {
	int fd;
	char *path, *beside;
};

/*
 * The path that is actually written: links are followed, so that the file is replaced and not the link. A
 * dangling link names the file to create; "-" and descriptors are not changed.
 *
 * In a sticky, world-writable directory, a link or a pipe is used only if it belongs to us or to the owner of
 * the directory; otherwise it is refused with -EACCES, as the kernel does with fs.protected_symlinks and
 * fs.protected_fifos.
 */
int fresh_file_follow(const char *path, char **ret);

/* Why a path cannot be written. Returns the error. */
int fresh_file_explain(const char *path, int error, struct diag *diag);

/* Is this path one of our own open files, such as /dev/stdout? */
bool fresh_file_is_descriptor(const char *path);
/* Such a path: is the file open for writing? 0 or -EBADF. */
int fresh_file_check_descriptor(const char *path);

/* Opens a file that has its final name from the start, for output that nobody reads before it is complete.
 * An existing file is replaced: somebody else may have made it, or have it open. Links are followed as above,
 * flags are for pipes and devices. A descriptor or -errno. */
int fresh_file_overwrite(const char *path, int flags, struct diag *diag);

/* Pipes, devices and descriptors are written directly; beside is then NULL. What a descriptor's file contains
 * already stays there. 0 or -errno. */
int fresh_file_open(struct fresh_file *file, const char *path, mode_t mode);
/* Returns a stream, which owns the descriptor from then on. */
FILE *fresh_file_stream(struct fresh_file *file);
/* Renames the complete file to its final name. 0 or -errno. */
int fresh_file_keep(struct fresh_file *file);
/* Is this the name of a temporary file, which a killed process has left unless somebody is writing it? */
bool fresh_file_is_unfinished(const char *name);
/* Removes the temporary file unless it was kept. Always called at the end. */
void fresh_file_done(struct fresh_file *file);
