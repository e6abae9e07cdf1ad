/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report as comma-separated values, RFC 4180: a header line, then a line for every row.
 */
#include <string.h>

#include "base/cleanup.h"
#include "report/number.h"
#include "report/row_facts.h"
#include "report/rows.h"

static void put_field(struct text *to, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		text_printf(to, "%s", text);
		return;
	}
	text_add(to, "\"", 1);
	for (; *text; text++)
		text_add(to, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
	text_add(to, "\"", 1);
}

static void put_row(void *context, const struct row_facts *facts)
{
	struct text *to = context;

	text_printf(to, "%u,", facts->row);
	if (facts->parent != UINT32_MAX)
		text_printf(to, "%u", facts->parent);
	text_printf(to, ",%u,%s,", facts->depth, facts->kind);
	put_field(to, facts->name.at ? facts->name.at : "");
	text_add(to, ",", 1);
	put_field(to, facts->module);
	text_add(to, ",", 1);
	put_field(to, facts->file);
	text_printf(to, ",%u,%llu,%.4f,%llu,%llu,%.4f,%llu\r\n", facts->line, (unsigned long long)facts->self,
		    facts->self_percent, (unsigned long long)facts->self_samples, (unsigned long long)facts->total,
		    facts->total_percent, (unsigned long long)facts->total_samples);
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
		uint32_t comm = is_thread ? profile->threads.at[costs[i].task].comm : profile->processes.at[process].comm;
		text_printf(report->to, "%d,", profile->processes.at[process].pid);
		if (is_thread)
			text_printf(report->to, "%d", profile->threads.at[costs[i].task].tid);
		text_add(report->to, ",", 1);
		put_field(report->to, intern_text(&profile->strings, comm));
		text_printf(report->to, ",%llu,%.4f,%llu\r\n", (unsigned long long)costs[i].cost,
			    number_share(costs[i].cost, report->total), (unsigned long long)costs[i].samples);
	}
}

void report_csv(const struct text_input *input, const struct text_options *options, struct text *ret)
{
	struct text_report report = text_report_of(input, options, ret);
	CLEANUP(view_done) struct view view = { 0 };

	if (options->view == TEXT_FLAT && options->tasks) {
		put_tasks(&report);
		return;
	}
	text_printf(ret, "row,parent,depth,kind,name,module,file,line,self,self_percent,self_samples,total,total_percent,"
			 "total_samples\r\n");
	text_build_view(&report, &view);
	row_facts_each(&report, &view, put_row, ret);
}
