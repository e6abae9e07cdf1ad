/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_folder: a folder whose contents nobody but us and root can change, and whose path nobody else can lead
 * elsewhere. "Us" includes the user who ran sudo, to whom files are given (base/fresh_file.h).
 *
 * The folder must belong to us, and neither its group nor others may write to it. The folders above it must
 * belong to us, too, and be sticky if everybody may write to them: so nobody else can rename what is in them.
 * Links on the way are followed if they are ours. All of this is checked on open descriptors, from the root
 * downwards, so what was checked cannot be replaced any more. Groups that may write to folders above it are
 * trusted: whoever set up the machine gave them that permission.
 */
#pragma once

#include "base/diag.h"

/* Creates the folder, but none above it, if it does not exist. ret: its path without links, allocated. -EPERM
 * if others can change it. */
int own_folder_make(const char *path, char **ret, struct diag *diag);
/* The same for a folder in such a folder; a link is refused. */
int own_folder_make_in(const char *folder, const char *name, struct diag *diag);
/* -EPERM unless there is no such file in such a folder, or it is a regular one of ours. */
int own_folder_check_file(const char *folder, const char *name, struct diag *diag);
/* Opens a regular file for reading, no link; -1 and errno if that fails. For files in such a folder. */
int own_folder_open_file(const char *path);
