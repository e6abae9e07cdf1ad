/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report as comma-separated values, RFC 4180: a header line, then one line per row.
 */
#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/quality.h"
#include "report/quote.h"
#include "report/style.h"
#include "report/text/columns.h"
#include "report/text/rows.h"
#include "report/text/text_rows.h"

static void csv_put_cell(struct text *to, const struct cell *cell)
{
	switch (cell->type) {
	case CELL_INDEX:
		if (cell->number != UINT32_MAX)
			text_printf(to, "%llu", (unsigned long long)cell->number);
		return;
	case CELL_COUNT:
	case CELL_CALLS:
	case CELL_EACH:
	case CELL_AMOUNT:
		text_printf(to, "%llu", (unsigned long long)cell->number);
		return;
	case CELL_PERCENT:
		text_printf(to, "%.4f", cell->percent);
		return;
	case CELL_INTERVAL:
		text_printf(to, "%.2f-%.2f", cell->interval.low, cell->interval.high);
		return;
	case CELL_REAL:
		if (isfinite(cell->real))
			text_printf(to, "%.15g", cell->real);
		return;
	case CELL_TEXT:
		quote_csv(to, cell->text);
		return;
	}
}

struct row_writer {
	const struct text_report *report;
	const struct columns *columns;
};

static void csv_put_row(void *context, const struct row_facts *facts)
{
	const struct row_writer *writer = context;
	struct text *to = writer->report->to;

	for (size_t i = 0; i < writer->columns->of.n; i++) {
		struct cell cell = column_cell(writer->report, &writer->columns->of.at[i], facts);
		text_printf(to, "%s", i ? "," : "");
		csv_put_cell(to, &cell);
	}
	text_printf(to, "\r\n");
}

static void csv_put_rows(const struct text_report *report, const struct columns *columns)
{
	CLEANUP(view_done) struct view view = { 0 };

	for (size_t i = 0; i < columns->of.n; i++) {
		text_printf(report->to, "%s", i ? "," : "");
		quote_csv(report->to, columns->of.at[i].title);
	}
	text_printf(report->to, "\r\n");
	text_build_view(report, &view);
	row_facts_each(report, &view, csv_put_row, &(struct row_writer){ report, columns });
}

static void put_fact(void *context, const char *name, double value)
{
	struct text *to = context;

	quote_csv(to, name);
	text_printf(to, ",%.15g\r\n", value);
}

static void put_tasks(const struct text_report *report)
{
	const struct profile *profile = report->profile;
	bool is_thread = report->options->tasks == TASKS_BY_THREAD;
	size_t n;
	CLEANUP(freep) struct task_cost *costs = text_task_costs(report, report->options->tasks, &n);

	text_printf(report->to, "pid,tid,name,total,total_percent,total_samples\r\n");
	for (size_t i = 0; i < n && (!report->options->limit || i < report->options->limit); i++) {
		uint32_t process = is_thread ? profile->threads.at[costs[i].task].process : costs[i].task;
		uint32_t comm = is_thread ? profile->threads.at[costs[i].task].comm
					  : profile->processes.at[process].comm;
		text_printf(report->to, "%d,", profile->processes.at[process].pid);
		if (is_thread)
			text_printf(report->to, "%d", profile->threads.at[costs[i].task].tid);
		text_add(report->to, ",", 1);
		quote_csv(report->to, intern_text(&profile->strings, comm));
		text_printf(report->to, ",%llu,%.4f,%llu\r\n", (unsigned long long)costs[i].cost,
			    number_share(costs[i].cost, report->total), (unsigned long long)costs[i].samples);
	}
}

void report_csv(const struct text_input *input, const struct text_options *options, struct text *ret)
{
	struct text_report report = text_report_of(input, options, ret);
	CLEANUP(columns_done) struct columns usual = { 0 };

	if (options->view == TEXT_QUALITY) {
		text_printf(ret, "item,value\r\n");
		quality_each(input->profile, put_fact, ret);
	} else if (options->view == TEXT_FLAT && options->tasks) {
		put_tasks(&report);
	} else {
		columns_add_default(&usual, false, options->ranks);
		columns_derive_usual(&usual, input->profile);
		csv_put_rows(&report, options->columns ? options->columns : &usual);
	}
}
