/* SPDX-License-Identifier: Apache-2.0 */
/*
 * landlock: which files a process can still get at. Of itself and all children to come, and for good. Files
 * that are open already stay usable. Kernels before 5.13 have no such rules.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct landlock_files {
	const char *const *reads; /* files, or folders with all below them; NULL: everything can be read */
	size_t n_reads;
	const char *const *writes; /* folders in which files can be made, replaced and removed; or files */
	size_t n_writes;
	bool executes; /* programs can be run, and connections made */
	bool connects; /* connections can be made, and no more */
};

/* Of the calling thread, which must be the only one and have PR_SET_NO_NEW_PRIVS. False if it cannot be. */
bool landlock_restrict(const struct landlock_files *files);
