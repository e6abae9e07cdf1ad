/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocations by call path: bytes and calls, with their confidence intervals, and memory that was not freed.
 */
#include <stdio.h>

#include "base/cleanup.h"
#include "report/allocations.h"
#include "report/number.h"
#include "report/text/text_rows.h"

#define ALLOCATIONS_PATH_NAMES 8

/* "12.3 MB ±0.4 MB" */
static void text_allocations_put_estimate(struct line *line, const struct estimate *estimate,
					  const char *unit)
{
	char value[NUMBER_MAX], margin[NUMBER_MAX];

	line_printf(line, TINT_PLAIN, "%9s", number_value(estimate->value, unit, value));
	line_printf(line, TINT_DIM, " %s%-8s ", line->style->utf8 ? "±" : "+-",
		    number_value((uint64_t)estimate_margin(estimate), unit, margin));
}

static void text_allocations_put(const struct text_report *report, const struct allocation_row *row,
				 bool is_followed)
{
	CLEANUP(text_done) struct text path = { 0 };
	struct line line = line_start(report->to, &report->options->style);

	text_path(report, row->scope, ALLOCATIONS_PATH_NAMES, &path);
	text_allocations_put_estimate(&line, &row->of[ALLOCATION_BYTES], "bytes");
	text_allocations_put_estimate(&line, &row->of[ALLOCATION_CALLS], "count");
	if (is_followed)
		text_allocations_put_estimate(&line, &row->of[ALLOCATION_HELD_BYTES], "bytes");
	line_printf(&line, TINT_PLAIN, " ");
	line_name(&line, TINT_PLAIN, path.at ? path.at : "");
	line_end(&line);
}

void text_allocations(const struct text_report *report, size_t limit)
{
	allocation_rows rows = { 0 };
	bool is_followed;

	if (!allocations_are_in(report->profile, &is_followed)) {
		text_printf(report->to,
			    "no allocations were recorded; record them with: cpprof trace --alloc\n");
		return;
	}
	allocation_rows_find(report->tree, report->threads, &rows);
	struct line line = line_start(report->to, &report->options->style);
	line_printf(&line, TINT_DIM, "%9s %-9s %9s %-9s ", "bytes", "", "calls", "");
	if (is_followed)
		line_printf(&line, TINT_DIM, "%9s %-9s ", "held", "");
	line_printf(&line, TINT_DIM, " path");
	line_end(&line);
	for (size_t i = 0; i < rows.n && (!limit || i < limit); i++)
		text_allocations_put(report, &rows.at[i], is_followed);
	if (limit && rows.n > limit)
		text_printf(report->to, "%zu more call paths; to show all: --view allocations --limit 0\n",
			    rows.n - limit);
	vec_done(&rows);
}
