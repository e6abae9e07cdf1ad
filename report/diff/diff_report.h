/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_report: prints a diff as text, markdown, CSV or JSON.
 */
#pragma once

#include <stdio.h>

#include "report/diff/fail_rule.h"
#include "report/style.h"

enum diff_view { DIFF_VIEW_SUMMARY, DIFF_VIEW_TREE, DIFF_VIEW_FLAT, DIFF_VIEW_HOT };

struct diff_report {
	const struct diff *diff;
	const char *metric, *unit;
	char *const *files;     /* n_a of before, then n_b of after */
	const char *normalized; /* by what, as text; NULL = not normalized */
	char *const *notes;     /* sentences: mismatches and warnings */
	size_t n_notes;
	const rule_verdicts *verdicts;
	enum diff_view view;
	enum group_by by; /* rows of the flat view */
	struct diff_cut cut;
	struct style style; /* text only */
};

void diff_text(const struct diff_report *report, struct text *ret);
void diff_markdown(const struct diff_report *report, struct text *ret);
/* The rows of the view; for the summary those of its table. */
void diff_csv(const struct diff_report *report, struct text *ret);
/* 0 or -errno. */
int diff_json(const struct diff_report *report, FILE *to);

/* The table of a view. */
void diff_report_table(const struct diff_report *report, struct diff_table *ret);
/* Whole sentences: "cpu-clock: 1.23 s before, 1.31 s after: ..."; and where intervals come from. */
void diff_report_total(const struct diff_report *report, struct text *ret);
const char *diff_report_source(const struct diff_report *report);
/* "functions by change of their own cost" */
const char *diff_report_title(const struct diff_table *table);
