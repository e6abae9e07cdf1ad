/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_lines: single lines of source files; each file is read once.
 */
#pragma once

#include "report/annotate/source_text.h"
#include "report/text/text_report.h"

struct source_lines_file {
	char *path;
	struct source_text text;
	bool is_there;
};
struct source_lines {
	const struct source_search *search;
	VEC(struct source_lines_file) files;
};

/* The interface through which a report reads lines. */
struct text_source source_lines_for(struct source_lines *lines);
void source_lines_done(struct source_lines *lines);
