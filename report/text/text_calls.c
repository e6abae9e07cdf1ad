/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Durations of calls of traced functions: the path with most time first.
 */
#include "base/cleanup.h"
#include "report/calls.h"
#include "report/number.h"
#include "report/text/text_rows.h"

#define CALLS_PATH_NAMES 8

static void text_calls_put(const struct text_report *report, const struct call_row *row)
{
	CLEANUP(text_done) struct text path = { 0 };
	struct line line = line_start(report->to, &report->options->style);
	const uint64_t times[] = { row->least, row->calls ? row->sum / row->calls : 0,
				   row->p50,   row->p90,
				   row->p99,   row->most };
	char number[NUMBER_MAX];

	text_path(report, row->scope, CALLS_PATH_NAMES, &path);
	line_printf(&line, TINT_PLAIN, "%9s", number_count(row->calls, number));
	line_printf(&line, TINT_PLAIN, " %9s", number_time(row->sum, number));
	for (size_t i = 0; i < ARRAY_LEN(times); i++)
		line_printf(&line, TINT_PLAIN, " %8s", number_time(times[i], number));
	line_printf(&line, TINT_PLAIN, "  ");
	line_name(&line, TINT_PLAIN, path.at ? path.at : "");
	line_end(&line);
}

void text_calls(const struct text_report *report, size_t limit)
{
	call_rows rows = { 0 };

	call_rows_find(report->tree, report->threads, &rows);
	struct line line = line_start(report->to, &report->options->style);
	line_printf(&line, TINT_DIM, "%9s %9s %8s %8s %8s %8s %8s %8s  %s", "calls", "time", "min", "mean",
		    "p50", "p90", "p99", "max", "path");
	line_end(&line);
	for (size_t i = 0; i < rows.n && (!limit || i < limit); i++)
		text_calls_put(report, &rows.at[i]);
	if (!rows.n)
		text_printf(report->to,
			    "no calls were measured; measure them with: cpprof trace -f FUNCTION\n");
	if (limit && rows.n > limit)
		text_printf(report->to, "%zu more call paths; to show all: --view calls --limit 0\n",
			    rows.n - limit);
	vec_done(&rows);
}
