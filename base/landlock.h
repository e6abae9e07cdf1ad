/* SPDX-License-Identifier: Apache-2.0 */
/*
 * landlock: restricts the files that this process and its future children can access, permanently. Files that
 * are already open stay usable. Kernels before 5.13 do not support it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct landlock_files {
	const char *const *reads; /* files, or directories with all below; NULL: everything can be read */
	size_t n_reads;
	const char *const *writes; /* files, or directories to create, replace and remove files in */
	size_t n_writes;
	bool executes; /* programs can be run, and connections opened */
	bool connects; /* connections can be opened, and no more */
};

/* Applies to the calling thread, which must be the only one and have PR_SET_NO_NEW_PRIVS; false if it fails.
 */
bool landlock_restrict(const struct landlock_files *files);
