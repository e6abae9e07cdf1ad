/* SPDX-License-Identifier: Apache-2.0 */
#include "report/annotate/source_lines.h"

#include <string.h>

static const struct source_lines_file *source_lines_open(struct source_lines *lines, const char *path)
{
	struct source_lines_file file = { 0 };

	for (size_t i = 0; i < lines->files.n; i++)
		if (strcmp(lines->files.at[i].path, path) == 0)
			return &lines->files.at[i];
	file.path = alloc_printf("%s", path);
	file.is_there = source_text_read(path, lines->search, &file.text) == 0;
	vec_push(&lines->files, file);
	return &lines->files.at[lines->files.n - 1];
}

static const char *source_lines_get(void *context, const char *path, uint32_t line)
{
	const struct source_lines_file *file = source_lines_open(context, path);

	return file->is_there && line && line <= file->text.lines.n ? file->text.lines.at[line - 1] : NULL;
}

struct text_source source_lines_for(struct source_lines *lines)
{
	return (struct text_source){ lines, source_lines_get };
}

void source_lines_done(struct source_lines *lines)
{
	for (size_t i = 0; i < lines->files.n; i++) {
		free(lines->files.at[i].path);
		if (lines->files.at[i].is_there)
			source_text_done(&lines->files.at[i].text);
	}
	vec_done(&lines->files);
}
