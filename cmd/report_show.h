/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_show: shows a given profile as text, or as rows for programs.
 */
#pragma once

#include "cmd/database.h"
#include "cmd/habits.h"
#include "cmd/later.h"
#include "cmd/options.h"
#include "cmd/report_filter.h"
#include "report/annotate/source_text.h"
#include "report/quality.h"
#include "report/tree/loop_counts.h"

#define REPORT_NO_VIEW (-1)  /* not given: the summary, or the flat view if its rows were chosen */
#define REPORT_NO_GROUP (-1) /* not given: functions */
#define REPORT_NO_DEPTH UINT64_MAX

enum report_format { FORMAT_TEXT, FORMAT_MARKDOWN, FORMAT_JSON, FORMAT_CSV };

struct report_request {
	int view, sort, group, base, color, format;
	double percent_limit;
	struct quality_bar min_quality;
	uint64_t limit, max_depth;
	const char *metric, *html, *counts;
	struct report_filter filter;
	struct option_list columns, derived, directories, rules;
	const char *merged; /* regular expression: threads to be merged by name */
	bool inlines, loops, lines, joins, folds_recursion, pager, children, opens;
	struct habits habits;
	const char *input; /* the profile, given by -i as in perf */
	struct database_choice database;
	mode_t mode;
	struct later *program; /* the pager or the browser to be started at the end */
};

/* Does the report describe loops, and does it read lines of source files for that? Not for the summary: it is
 * the first thing that somebody sees of a profile that they were sent. */
bool report_has_loops(const struct report_request *request);
bool report_reads_sources(const struct report_request *request);
/* Where source files are, and with which user's permissions they are read. `path` is that of the profile. */
struct source_search report_sources(const struct report_request *request, const struct profile *profile,
				    const char *path);
/* Prints the report and returns the exit code. Takes the tree of the profile. */
int report_show(const char *path, struct profile *profile, const struct report_request *request,
		const struct loop_counts *counts, const bool *is_kept);
