/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_show: a profile as text, or as rows for programs, once it is known which profile.
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

#define REPORT_NO_VIEW (-1) /* not asked for: the flat view if its rows were chosen, else the summary */
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
	const char *merged; /* threads by name, as one */
	bool inlines, loops, lines, joins, pager, children, opens;
	struct habits habits;
	const char *input; /* the profile, as perf takes it */
	struct database_choice database;
	mode_t mode;
	struct later *program; /* the pager or the browser that it ends with */
};

/* Does it say something of loops, and are lines of source files read for that? Not for the summary: it is
 * what somebody sees first of a profile that he was sent. */
bool report_has_loops(const struct report_request *request);
bool report_reads_sources(const struct report_request *request);
/* Where source files are, and with whose rights they are read. `path` is that of the profile. */
struct source_search report_sources(const struct report_request *request, const struct profile *profile,
				    const char *path);
/* Prints the report. The exit code. Takes the tree of the profile. */
int report_show(const char *path, struct profile *profile, const struct report_request *request,
		const struct loop_counts *counts, const bool *is_kept);
