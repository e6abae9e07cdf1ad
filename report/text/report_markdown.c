/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report as markdown, for a comment on a pull request: sentences, a table, trees as text.
 */
#include <string.h>

#include "base/cleanup.h"
#include "report/quality.h"
#include "report/quote.h"
#include "report/shorten.h"
#include "report/text/columns_text.h"
#include "report/text/rows.h"
#include "report/text/text_rows.h"

#define MAX_LINE 160    /* columns of a line of a tree */
#define DEFAULT_ROWS 20 /* of a table, by default */

struct row_writer {
	const struct text_report *report;
	const struct columns *columns;
};

static void markdown_put_row(void *context, const struct row_facts *facts)
{
	const struct text_report *report = ((const struct row_writer *)context)->report;
	struct text *to = report->to;
	CLEANUP(text_done) struct text name = { 0 };

	if (facts->name.len)
		names_shorten(report->names, facts->name.at, SHORTEN_COLUMNS, &name);
	text_printf(to, "| %.1f%% | %.1f%% | ", facts->self_percent, facts->total_percent);
	quote_markdown(to, name.len ? name.at : "[unknown]");
	text_printf(to, " | ");
	if (*facts->module)
		quote_markdown(to, facts->module);
	if (report->options->group == GROUP_LOOP) {
		text_printf(to, " | ");
		if (facts->told.len)
			quote_markdown(to, facts->told.at);
	}
	text_printf(to, " |\n");
}

static void put_chosen_row(void *context, const struct row_facts *facts)
{
	const struct row_writer *writer = context;

	for (size_t i = 0; i < writer->columns->of.n; i++) {
		struct cell cell = column_cell(writer->report, &writer->columns->of.at[i], facts);
		char number[NUMBER_MAX];
		text_printf(writer->report->to, "| ");
		if (cell.type != CELL_TEXT)
			text_printf(writer->report->to, "%s", column_number(&cell, number));
		else if (*cell.text)
			quote_markdown(writer->report->to, cell.text);
		text_printf(writer->report->to, " ");
	}
	text_printf(writer->report->to, "|\n");
}

static void put_chosen_table(const struct text_report *report, const struct columns *columns)
{
	CLEANUP(view_done) struct view view;

	text_build_view(report, &view);
	for (size_t i = 0; i < columns->of.n; i++)
		text_printf(report->to, "| %s ", columns->of.at[i].title);
	text_printf(report->to, "|\n");
	for (size_t i = 0; i < columns->of.n; i++)
		text_printf(report->to, "|---");
	text_printf(report->to, "|\n");
	row_facts_each(report, &view, put_chosen_row, &(struct row_writer){ report, columns });
}

static void put_table(const struct text_report *report)
{
	if (report->options->columns) {
		put_chosen_table(report, report->options->columns);
		return;
	}

	CLEANUP(view_done) struct view view;
	bool has_modules = report->options->group != GROUP_MODULE && report->options->group != GROUP_FILE;

	text_build_view(report, &view);
	bool has_facts = report->options->group == GROUP_LOOP;
	text_printf(report->to, "| self | total | %s | %s |%s\n|---:|---:|---|---|%s\n",
		    group_name(report->options->group), has_modules ? "module" : "",
		    has_facts ? " facts |" : "", has_facts ? "---|" : "");
	row_facts_each(report, &view, markdown_put_row, &(struct row_writer){ report, NULL });
}

/* Every line starts with numbers, so that a name cannot end the fence. */
static void put_tree(const struct text_report *report)
{
	CLEANUP(view_done) struct view view;

	text_build_view(report, &view);
	text_printf(report->to, "~~~~text\n");
	text_tree(report, &view,
		  report->options->view == TEXT_CALLERS ? "function and its callers"
		  : report->options->view == TEXT_LOOPS ? "loop"
							: "calling context");
	text_printf(report->to, "~~~~\n");
}

static void markdown_put_summary(const struct text_report *report)
{
	struct text_options options = *report->options;
	struct text_report part = *report;

	part.options = &options;
	options.view = TEXT_FLAT;
	options.group = GROUP_FUNCTION;
	options.sort = VIEW_BY_SELF;
	options.limit = report->options->limit ? report->options->limit : TEXT_SUMMARY_ROWS;
	put_table(&part);
	text_printf(report->to, "\n<details><summary>hot path</summary>\n\n");
	options.view = TEXT_HOT;
	options.limit = report->options->limit;
	options.sort = VIEW_BY_INCLUSIVE;
	put_tree(&part);
	text_printf(report->to, "\n</details>\n");
}

static void markdown_put_view(const struct text_report *report)
{
	switch (report->options->view) {
	case TEXT_SUMMARY:
		markdown_put_summary(report);
		return;
	case TEXT_QUALITY:
		text_printf(report->to, "~~~~text\n");
		quality_table(report->profile, report->tree, report->costs, &report->options->style,
			      report->to);
		text_printf(report->to, "~~~~\n");
		return;
	case TEXT_WAITS:
		text_printf(report->to, "~~~~text\n");
		text_waits(report);
		text_printf(report->to, "~~~~\n");
		return;
	case TEXT_CALLS:
		text_printf(report->to, "~~~~text\n");
		text_calls(report, report->options->limit);
		text_printf(report->to, "~~~~\n");
		return;
	case TEXT_ALLOCATIONS:
		text_printf(report->to, "~~~~text\n");
		text_allocations(report, report->options->limit);
		text_printf(report->to, "~~~~\n");
		return;
	case TEXT_FLAT:
		if (!report->options->tasks) {
			put_table(report);
			return;
		}
		text_printf(report->to, "~~~~text\n");
		text_tasks(report, report->options->tasks, report->options->limit);
		text_printf(report->to, "~~~~\n");
		return;
	default:
		put_tree(report);
	}
}

/* Sentences contain names; markdown syntax is escaped. */
static void put_sentences(const struct text_report *report, const char *filter)
{
	CLEANUP(text_done) struct text text = { 0 };

	text_sentences(report, filter, &text);
	for (const char *at = text.at; *at; at++) {
		if (strchr("\\`*_[]<>|~#", *at))
			text_add(report->to, "\\", 1);
		text_add(report->to, at, 1);
	}
	text_printf(report->to, "\n\n");
}

void report_markdown(const struct text_input *input, const struct text_options *options, struct text *ret)
{
	struct text_options plain = *options;
	struct text_report report = text_report_of(input, &plain, ret);

	report.names = names_new(input->profile);
	plain.style = (struct style){ .utf8 = true, .width = MAX_LINE };
	if (!plain.limit && plain.view == TEXT_FLAT)
		plain.limit = DEFAULT_ROWS;
	if (report.samples > 0) {
		put_sentences(&report, input->filter);
		markdown_put_view(&report);
		text_printf(ret, "\n");
	}
	text_printf(ret, "<sub>");
	quality_line(input->profile, ret);
	text_printf(ret, "</sub>\n");
	names_free(report.names);
}
