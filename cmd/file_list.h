/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_list: reads file names from a file, one per line, because command lines are limited to 2 MB.
 */
#pragma once

#include "base/diag.h"
#include "base/vec.h"

typedef VEC(char *) file_names; /* owned */

void file_names_done(file_names *names);

#define FILES_FROM_SPEC(path, verb)                                     \
	{                                                               \
		0, "files-from", OPTION_TEXT, &(path), "FILE",          \
			"read the names of the files to " verb          \
			" from FILE, one per line; - is standard input" \
	}

/* Adds the names in the file at path; "-" is standard input. Empty lines are ignored. 0 or -errno. */
int file_list_read(file_names *names, const char *path, struct diag *diag);
