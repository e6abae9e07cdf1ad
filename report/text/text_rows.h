/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_rows: the rows of a view as a table or as a tree, a line each, shares and samples in front.
 */
#pragma once

#include "report/text/text_report.h"

#define TEXT_SUMMARY_ROWS 10 /* functions that a summary names */
#define TEXT_PATH_NAMES 5    /* of the functions around a wait, the innermost */

/*
 * text_view.c: the rows of the view asked for, in print order; returns how many were too small. A summary's
 * rows are those of its flat part.
 */
size_t text_build_view(const struct text_report *report, struct view *ret);

/* Rows with modules in a column of their own. */
void text_table(const struct text_report *report, const struct view *view, const char *what);
/* Rows below each other; a row that is its parent's only one is not indented. */
void text_tree(const struct text_report *report, const struct view *view, const char *what);

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

/* text_waits.c: where threads wait; the functions around a place, the innermost last: max of them, 0 = all.
 */
void text_waits(const struct text_report *report);
void text_path(const struct text_report *report, uint32_t scope, size_t max, struct text *ret);
/* text_calls.c: how long calls took, by path; limit 0 = all. */
void text_calls(const struct text_report *report, size_t limit);
/* text_allocations.c: who allocates, likewise. */
void text_allocations(const struct text_report *report, size_t limit);
