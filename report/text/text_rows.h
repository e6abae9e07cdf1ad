/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_rows: the rows of a view as a table or as a tree, a line each, shares and samples in front.
 */
#pragma once

#include "report/text/text.h"

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

#define TEXT_SUMMARY_ROWS 10 /* functions that a summary names */

struct text_report text_report_of(const struct text_input *input, const struct text_options *options,
				  struct text *to);

/*
 * text_view.c: the rows of the view asked for, in print order; returns how many were too small. The root,
 * where it is one of them, is not shown: text_is_shown. A summary's rows are those of its flat part.
 */
size_t text_build_view(const struct text_report *report, struct view *ret);
bool text_is_shown(const struct text_report *report, const struct view *view, uint32_t row);

/* Rows with modules in a column of their own. */
void text_table(const struct text_report *report, const struct view *view, const char *what);
/* Rows below each other; a row that is its parent's only one is not indented. */
void text_tree(const struct text_report *report, const struct view *view, const char *what);

/* Smallest cost that reaches the percent limit. */
uint64_t text_min_cost(const struct text_report *report);
/* A screen on which there is no room for all columns. */
bool text_is_narrow(const struct text_report *report);
/* A heading and its line end. */
void text_heading(const struct text_report *report, const char *text);

static inline bool text_has_thread(const struct text_report *report, uint32_t thread)
{
	return !report->threads || report->threads[thread];
}

/* text_summary.c: the paragraph in front of every view, with its line breaks; or only its sentences. */
void text_paragraph(const struct text_report *report, const char *filter);
void text_sentences(const struct text_report *report, const char *filter, struct text *ret);

/* text_tasks.c: threads or processes by cost, the most costly first; free() them. */
struct task_cost {
	uint64_t cost, samples;
	uint32_t task; /* index of the thread or process */
};
struct task_cost *text_task_costs(const struct text_report *report, enum text_tasks tasks, size_t *ret_n);
void text_tasks(const struct text_report *report, enum text_tasks tasks, size_t limit);
