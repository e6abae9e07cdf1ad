/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_rows: the rows of a view as a table or as a tree, one line each, with shares and samples at the left.
 */
#pragma once

#include "report/text/text_report.h"

#define TEXT_SUMMARY_ROWS 10 /* functions in a summary */
#define TEXT_PATH_NAMES 5    /* innermost functions around a wait that are shown */

/*
 * text_view.c: the rows of the requested view, in print order; returns how many were too small. The rows of a
 * summary are those of its flat part.
 */
size_t text_build_view(const struct text_report *report, struct view *ret);

/* Rows with a column for modules. */
void text_table(const struct text_report *report, const struct view *view, const char *what);
/* Rows as a tree; an only child is not indented. */
void text_tree(const struct text_report *report, const struct view *view, const char *what);

/* text_summary.c: the paragraph before every view, with line breaks; or only its sentences. */
void text_paragraph(const struct text_report *report, const char *filter);
void text_sentences(const struct text_report *report, const char *filter, struct text *ret);

/* text_tasks.c: threads or processes by cost, the most expensive first; free() them. */
struct task_cost {
	uint64_t cost, samples;
	uint32_t task; /* index of the thread or process */
};
struct task_cost *text_task_costs(const struct text_report *report, enum text_tasks tasks, size_t *ret_n);
void text_tasks(const struct text_report *report, enum text_tasks tasks, size_t limit);

/* text_waits.c: where threads wait; the functions around a place, the innermost last: at most max, 0 = all.
 */
void text_waits(const struct text_report *report);
void text_path(const struct text_report *report, uint32_t scope, size_t max, struct text *ret);
/* text_calls.c: durations of calls, by path; limit 0 = all. */
void text_calls(const struct text_report *report, size_t limit);
/* text_allocations.c: allocations, likewise. */
void text_allocations(const struct text_report *report, size_t limit);
