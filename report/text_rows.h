/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_rows: the rows of a view as a table or as a tree, a line each, shares and samples in front.
 */
#pragma once

#include "report/text.h"

/* What every part of a text report works from. */
struct text_report {
	const struct profile *profile;
	const struct scope_tree *tree;
	const struct costs *costs;
	const bool *threads; /* NULL = all */
	const struct text_options *options;
	uint32_t metric;
	uint64_t total, samples; /* of everything that is reported on */
	struct text *to;
};

/* Rows with modules in a column of their own. */
void text_table(const struct text_report *report, const struct view *view, const char *what);
/* Rows below each other; a row that is its parent's only one is not indented. */
void text_tree(const struct text_report *report, const struct view *view, const char *what);

/* Smallest cost that reaches the percent limit. */
uint64_t text_min_cost(const struct text_report *report);
/* A heading and its line end. */
void text_heading(const struct text_report *report, const char *text);

static inline bool text_has_thread(const struct text_report *report, uint32_t thread)
{
	return !report->threads || report->threads[thread];
}

/* text_summary.c: the paragraph in front of every view; threads or processes by cost. */
void text_paragraph(const struct text_report *report, const char *filter);
void text_tasks(const struct text_report *report, enum text_tasks tasks, size_t limit);
