/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fresh_file: a file that is written beside its place and put there when it is whole, so that a reader sees
 * the old one or the new one and never half of one. It belongs to who typed sudo.
 *
 * Nothing that another user can prepare decides where it goes: the file beside is always made anew, and
 * putting it in its place follows no link. Links that the name itself goes through are resolved before, by
 * fresh_file_follow.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#define FRESH_PRIVATE 0             /* only the owner reads and writes it */
#define FRESH_BY_UMASK ((mode_t)-1) /* whoever the umask lets */

struct fresh_file {
	int fd;
	char *path, *beside;
};

/*
 * Where a file of that name is written: links are followed, so that what is replaced is the file and not the
 * link. A link to nothing names the file to make; "-" and what lies below /dev stay what they are.
 *
 * In a sticky folder that everybody can write to, a link is followed if it is ours or the folder's owner's,
 * else it is refused with -EACCES, as the kernel does where fs.protected_symlinks is set.
 */
int fresh_file_follow(const char *path, char **ret);

/* Pipes and devices are opened as they are; beside is then NULL. 0 or -errno. */
int fresh_file_open(struct fresh_file *file, const char *path, mode_t mode);
/* As a stream, which owns the descriptor from then on. */
FILE *fresh_file_stream(struct fresh_file *file);
/* It is whole: puts it in its place. 0 or -errno. */
int fresh_file_keep(struct fresh_file *file);
/* Gives up what is not kept. Always called at the end. */
void fresh_file_done(struct fresh_file *file);
