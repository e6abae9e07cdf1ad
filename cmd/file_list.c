/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/file_list.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

void file_names_done(file_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->at[i]);
	vec_done(names);
}

int file_list_read(file_names *names, const char *path, struct diag *diag)
{
	bool is_stdin = strcmp(path, "-") == 0;
	FILE *from = is_stdin ? stdin : fopen(path, "re");
	CLEANUP(freep) char *line = NULL;
	size_t size = 0;
	ssize_t len;

	if (!from)
		return diag_set(diag, -errno, "cannot open the list of files '%s'", path);
	while ((len = getline(&line, &size, from)) > 0) {
		len -= line[len - 1] == '\n';
		if (len > 0)
			vec_push(names, alloc_text_n(line, (size_t)len));
	}
	int error = ferror(from) ? -EIO : 0;
	if (!is_stdin)
		fclose(from);
	return error ? diag_set(diag, error, "cannot read the list of files '%s'", path) : 0;
}
