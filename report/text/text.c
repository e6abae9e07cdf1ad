/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/text.h"

#include <string.h>

#include "base/cleanup.h"
#include "report/allocations.h"
#include "report/number.h"
#include "report/quality.h"
#include "report/text/text_rows.h"

#define SUMMARY_THREADS 8
#define SUMMARY_WAITS 5

static void say_left_out(const struct text_report *report, size_t n, const char *what)
{
	struct line line = line_start(report->to, &report->options->style);
	char number[NUMBER_MAX];

	if (n == 0)
		return;
	int len = (int)strlen(what) - (n == 1); /* `what` is a plural in -s */
	line_printf(&line, TINT_DIM, "%s more %.*s not shown (--percent-limit, --limit)",
		    number_count(n, number), len, what);
	line_end(&line);
}

static void text_report_put_rows(const struct text_report *report)
{
	static const char *const plurals[] = { [GROUP_FUNCTION] = "functions",
					       [GROUP_MODULE] = "modules",
					       [GROUP_FILE] = "files",
					       [GROUP_LOOP] = "loops",
					       [GROUP_LINE] = "lines" };
	CLEANUP(view_done) struct view view;
	size_t n_left_out = text_build_view(report, &view);

	switch (report->options->view) {
	case TEXT_TREE:
		text_tree(report, &view, "calling context");
		say_left_out(report, n_left_out, "contexts");
		return;
	case TEXT_CALLERS:
		text_tree(report, &view, "function and its callers");
		return;
	case TEXT_HOT:
		text_tree(report, &view, "function");
		return;
	case TEXT_LOOPS:
		text_tree(report, &view, "loop");
		say_left_out(report, n_left_out, "loops");
		return;
	default:
		text_table(report, &view, group_name(report->options->group));
		say_left_out(report, n_left_out, plurals[report->options->group]);
	}
}

/* The same report with other options, for a part of it. */
static struct text_report part_of(const struct text_report *report, struct text_options *options)
{
	struct text_report part = *report;

	part.options = options;
	return part;
}

static void text_report_put_summary(const struct text_report *report)
{
	struct text_options options = *report->options;
	struct text_report part = part_of(report, &options);

	options.view = TEXT_FLAT;
	options.group = GROUP_FUNCTION;
	options.sort = VIEW_BY_SELF;
	options.limit = report->options->limit ? report->options->limit : TEXT_SUMMARY_ROWS;
	bool is_waiting = report->waits.waits && report->metric == report->waits.off_cpu;
	if (!is_waiting) {
		text_heading(report, "hottest functions");
		text_report_put_rows(&part);
	}
	if (report->waits.waits) {
		options.limit = report->options->limit ? report->options->limit : SUMMARY_WAITS;
		text_printf(report->to, is_waiting ? "" : "\n");
		text_heading(report, "heaviest waits");
		text_waits(&part);
	}

	bool is_followed;
	if (report->tree->durations.n && !report->waits.waits) {
		bool allocates = allocations_are_in(report->profile, &is_followed);
		text_printf(report->to, "\n");
		text_heading(report, allocates ? "allocations by path" : "calls by path");
		if (allocates)
			text_allocations(report, options.limit);
		else
			text_calls(report, options.limit);
	}
	options.view = TEXT_HOT;
	options.limit = report->options->limit;
	options.sort = VIEW_BY_INCLUSIVE;
	text_printf(report->to, "\n");
	text_heading(report, "hot path");
	text_report_put_rows(&part);
	if (report->profile->threads.n < 2 || report->threads)
		return;
	text_printf(report->to, "\n");
	text_heading(report, "threads");
	text_tasks(report, TASKS_BY_THREAD,
		   report->options->limit ? report->options->limit : SUMMARY_THREADS);
}

static void text_report_put_view(const struct text_report *report)
{
	if (report->options->view == TEXT_SUMMARY)
		text_report_put_summary(report);
	else if (report->options->view == TEXT_QUALITY)
		quality_table(report->profile, report->tree, report->costs, &report->options->style,
			      report->to);
	else if (report->options->view == TEXT_WAITS)
		text_waits(report);
	else if (report->options->view == TEXT_CALLS)
		text_calls(report, report->options->limit);
	else if (report->options->view == TEXT_ALLOCATIONS)
		text_allocations(report, report->options->limit);
	else if (report->options->view == TEXT_FLAT && report->options->tasks)
		text_tasks(report, report->options->tasks, report->options->limit);
	else
		text_report_put_rows(report);
}

static void put_note(const struct text_report *report, const char *note)
{
	struct line line = line_start(report->to, &report->options->style);

	line_printf(&line, TINT_WARM, "note: ");
	line_name(&line, TINT_PLAIN, note);
	line_end(&line);
}

static void put_notes(const struct text_report *report)
{
	if (!report->profile->run.is_resolved && report->samples > 0)
		put_note(report,
			 "code is shown by address; to add symbols, lines and loops: cpprof resolve FILE");
	for (size_t i = 0; i < report->profile->notes.n; i++)
		put_note(report, intern_text(&report->profile->strings, report->profile->notes.at[i]));
}

static void put_remedy(const struct text_report *report, const char *remedy)
{
	CLEANUP(text_done) struct text note = { 0 };

	text_printf(&note, "note: ");
	style_safe(&note, &report->options->style, remedy);
	style_paragraph(report->to, &report->options->style, note.at);
}

void report_text(const struct text_input *input, const struct text_options *options, struct text *ret)
{
	struct text_report report = text_report_of(input, options, ret);
	CLEANUP(text_done) struct text quality = { 0 };

	report.names = names_new(input->profile);
	if (report.samples > 0) {
		if (options->view != TEXT_QUALITY) {
			text_paragraph(&report, input->filter);
			text_printf(ret, "\n");
		}
		text_report_put_view(&report);
		text_printf(ret, "\n");
	}
	if (options->view != TEXT_QUALITY)
		put_notes(&report);
	if (input->remedy)
		put_remedy(&report, input->remedy);
	quality_line(input->profile, &quality);
	style_paragraph(ret, &options->style, quality.at);
	names_free(report.names);
}
